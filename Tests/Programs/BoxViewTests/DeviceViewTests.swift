import CameraModel
import ControlAPI
import Testing

@testable import BoxView

/// Letter by letter, as `GoldenTests`.
struct DeviceViewTests {
    private static let camera = VideoNodeDocument(
        device: "/dev/video0", name: "HD Pro Webcam C920", kind: .camera, bus: "usb", index: 0,
        stableID: "/dev/v4l/by-id/usb-046d-video-index0",
        formats: [
            .init(pixelFormat: "YUYV", size: "640x480", rates: [30, 7.5], isUsable: true),
            .init(pixelFormat: "YUYV", size: "1280x720", rates: [10], isUsable: true),
            .init(pixelFormat: "HEVC", size: "1920x1080", rates: [], isUsable: false),
        ])

    private static let controls = [
        VideoControlDocument(
            name: "brightness", kind: "integer", minimum: 0, maximum: 255, step: 1, defaultValue: 128, value: 140),
        VideoControlDocument(
            name: "auto_exposure", kind: "menu", minimum: 0, maximum: 3, step: 1, defaultValue: 3, value: 3,
            menu: ["1": "Manual Mode", "3": "Aperture Priority Mode"]),
        VideoControlDocument(
            name: "focus_absolute", kind: "integer", minimum: 0, maximum: 250, step: 5, defaultValue: 0, value: nil,
            isReadOnly: true, isInactive: true),
    ]

    private func golden(_ lines: [String], _ expected: String, at location: SourceLocation = #_sourceLocation) {
        #expect(text(lines) == expected, sourceLocation: location)
    }

    @Test func `devices at 80 columns`() {
        let document = DiscoveryDocument(
            nodes: [
                Self.camera,
                VideoNodeDocument(
                    device: "/dev/video1", name: "HD Pro Webcam C920", kind: .metadata, bus: "usb", index: 1,
                    reason: "It describes the frames of another node."),
                VideoNodeDocument(
                    device: "/dev/video10", name: "bcm2835-codec-decode", kind: .processor, bus: "platform", index: 0),
            ],
            audioDevices: [
                AudioDeviceDocument(name: "hw:CARD=C920,DEV=0", description: "HD Pro Webcam C920, USB Audio")
            ],
            limits: ["This version does not search the network (ONVIF, RTSP)."])
        golden(
            DiscoveryView.lines(document, style: Style(width: 80)),
            #"""
            DEVICE        KIND      BUS       NAME      STABLE NAME
            /dev/video0   ● camera  usb       HD Pro …  /dev/v4l/by-id/usb-046d-video-index0
            /dev/video1   ○ metad…  usb       HD Pro …  -
            /dev/video10  ○ codec…  platform  bcm2835…  -
            3 video devices, 1 camera

            /dev/video0  HD Pro Webcam C920
              YUYV  640x480@30/7.5 1280x720@10
              HEVC  1920x1080  (not usable)
              Add it: watchboxctl camera add NAME --source v4l2:/dev/v4l/by-id/usb-046d-video-index0

            /dev/video1  It describes the frames of another node.

            AUDIO               NAME
            hw:CARD=C920,DEV=0  HD Pro Webcam C920, USB Audio

            This version does not search the network (ONVIF, RTSP).
            """#)
        let bare = text(DiscoveryView.lines(document, style: Style(width: 80), header: false))
        for word in ["KIND", "AUDIO", "CONTROL"] { #expect(!bare.contains(word), "\(word)") }
        let none = DiscoveryDocument(nodes: [], limits: [])
        #expect(DiscoveryView.lines(none, style: Style()) == ["No video device is at this machine."])
    }

    @Test func `controls at 100 columns`() {
        golden(
            ControlsView.table(Self.controls).lines(Style(width: 100)),
            #"""
            CONTROL                           VALUE  STANDARD  RANGE                    REMARK
            brightness                          140       128  0 to 255
            auto_exposure   3 Aperture Priority Mo…         3  1 Manual Mode, 3 Apert…
            focus_absolute                        -         0  0 to 250, step 5         read only, without effe…
            3 controls
            """#)
    }

    @Test func `encoders at 100 columns`() {
        let document = CameraEncodersDocument(
            cameras: [
                .init(
                    camera: "front", encoder: "libx264", isHardware: false,
                    reason: "no hardware encoder on this machine", width: 1280, height: 720, rate: 15,
                    limit: "30 frames per second were asked for, 15 are held", hangs: 0),
                .init(
                    camera: "yard", encoder: "h264_v4l2m2m", isHardware: true, reason: nil, width: 640, height: 480,
                    rate: 30, limit: nil, hangs: 1),
            ],
            nodes: [
                .init(
                    device: "/dev/video11", card: "bcm2835-codec-encode", driver: "bcm2835-codec",
                    codecs: ["h264"])
            ],
            libraries: [
                .init(name: "h264_v4l2m2m", isHardware: true, isAvailable: true),
                .init(
                    name: "hevc_v4l2m2m", isHardware: true, isAvailable: false,
                    reason: "no device of this machine encodes hevc"),
                .init(name: "libx264", isHardware: false, isAvailable: true, works: true, reason: "", rate: 93.4),
                .init(
                    name: "libopenh264", isHardware: false, isAvailable: true, works: false,
                    reason: "its frames are not like what went in"),
                .init(name: "libx265", isHardware: false, isAvailable: true),
            ])
        let bare = text(EncodersView.lines(document, style: Style(width: 100), header: false))
        for word in ["CAMERA", "DRIVER", "LIBAVCODEC"] { #expect(!bare.contains(word), "\(word)") }
        golden(
            EncodersView.lines(document, style: Style(width: 100)),
            #"""
            CAMERA  ENCODER                     SIZE      RATE
            front   libx264       software  1280x720  15.0 fps
            yard    h264_v4l2m2m  hardware   640x480  30.0 fps
              front  no hardware encoder on this machine
              front  30 frames per second were asked for, 15 are held
              yard  the hardware encoder hung 1 time

            DEVICE        NAME                  DRIVER         CODECS
            /dev/video11  bcm2835-codec-encode  bcm2835-codec  h264

            LIBAVCODEC              STATE
            h264_v4l2m2m  hardware  ○ not tried; try it: --probe
            hevc_v4l2m2m  hardware  ○ no device of this machine encodes hevc
            libx264       software  ● encodes 93.4 frames/s
            libopenh264   software  ✗ does not code: its frames are not like what went in
            libx265       software  ● opens
            """#)
        let alone = CameraEncodersDocument(cameras: nil, nodes: [], libraries: [])
        #expect(
            EncodersView.lines(alone, style: Style()).prefix(3) == [
                "What the cameras code with is not known: the daemon does not answer.", "",
                "No encoder device is at this machine.",
            ])
    }

    private static var capture: CaptureStatistics {
        var capture = CaptureStatistics(path: "/dev/v4l/by-id/usb-046d-video-index0")
        capture.state = .streaming
        capture.card = "HD Pro Webcam C920"
        capture.device = "/dev/video0"
        capture.pixelFormat = "YUYV"
        (capture.captureWidth, capture.captureHeight, capture.captureRate) = (1280, 720, 30)
        (capture.width, capture.height, capture.rate) = (1280, 720, 15)
        capture.encoder = "h264_v4l2m2m"
        capture.isHardwareEncoder = true
        capture.encoderReason = "it encodes 60 frames/s here"
        capture.limit = "30 frames per second were asked for, 15 are held"
        capture.captured = 1000
        capture.superseded = 7
        capture.latencyNanoseconds = 21_000_000
        capture.ownDurations.took(250_000)
        capture.audioReason = "the audio device is busy"
        return capture
    }

    @Test func `a camera's card shows its device, its encoder and what is not held`() {
        var camera = Samples.camera("front")
        camera.stream.statistics = CameraStatistics(camera: "front", stream: "front")
        camera.stream.statistics?.capture = Self.capture
        golden(
            CameraView.lines(camera, style: Style(width: 100)),
            #"""
            front  ● live
              Sends       25.0 fps, 2.1 Mb/s, acknowledged by the relay 0.4 s ago
              Relay       main

              Camera
              Name        front
              Source      test:
              Active      yes
              Defined in  conf.d/10-cams.toml:4

              Since its start
              Camera      HD Pro Webcam C920 at /dev/video0
              Delivers    YUYV 1280x720, 30.0 fps
              Encoder     h264_v4l2m2m (hardware): it encodes 60 frames/s here
              Publishes   1280x720, 15.0 fps
              Limit       30 frames per second were asked for, 15 are held
              Frames      1000 captured, 7 given up for newer ones
              Latency     21.0 ms, at most 0.3 ms of it ours
              No audio    the audio device is busy
            """#)
        let status = StatusView.lines(Samples.status([camera]), style: Style(width: 100))
        #expect(status.contains("  Encode  front h264_v4l2m2m (hardware)"))
        #expect(status.contains("  ! front  30 frames per second were asked for, 15 are held"))
    }

    @Test func `what a hostile device says is made visible`() {
        let hostile = "\u{1B}[31mred\u{7}\n\u{202E}"
        var node = Self.camera
        (node.device, node.name, node.reason) = (hostile, hostile, hostile)
        node.formats = [.init(pixelFormat: hostile, size: hostile, rates: [.infinity, -1], isUsable: true)]
        node.controls = [
            VideoControlDocument(
                name: hostile, kind: hostile, minimum: 0, maximum: 1, step: 1, defaultValue: 0, value: 1,
                menu: ["1": hostile])
        ]
        var other = node
        other.kind = .unusable
        let discovery = DiscoveryDocument(
            nodes: [node, other], audioDevices: [.init(name: hostile, description: hostile)], limits: [hostile])
        let encoders = CameraEncodersDocument(
            cameras: [
                .init(
                    camera: hostile, encoder: hostile, isHardware: nil, reason: hostile, width: nil, height: nil,
                    rate: .nan, limit: hostile, hangs: .max)
            ], nodes: [.init(device: hostile, card: hostile, driver: hostile, codecs: [hostile])],
            libraries: [.init(name: hostile, isHardware: true, isAvailable: true, works: false, reason: hostile)])
        let lines =
            DiscoveryView.lines(discovery, style: Style(width: 120))
            + EncodersView.lines(encoders, style: Style(width: 120))
        for line in lines {
            #expect(!line.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E }, "\(line.debugDescription)")
        }
        #expect(lines.contains { $0.contains("\\u{1b}[31m") })
    }
}
