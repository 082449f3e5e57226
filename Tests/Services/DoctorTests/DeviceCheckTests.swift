import ControlAPI
import ErrorCatalog
import Testing

@testable import Doctor
@testable import VideoCapture

struct DeviceCheckTests {
    private static let link = "/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index0"

    private func tree(_ source: String) throws -> FixtureTree {
        let tree = try FixtureTree()
        func node(_ number: Int, _ name: String, index: Int, bus: String) throws {
            try tree.write("sys/class/video4linux/video\(number)/name", name + "\n")
            try tree.write("sys/class/video4linux/video\(number)/index", "\(index)\n")
            try tree.link("sys/class/video4linux/video\(number)/device/subsystem", to: "../../../bus/\(bus)")
            try tree.write("dev/video\(number)", "")
        }
        try node(0, "HD Pro Webcam C920", index: 0, bus: "usb")
        try node(1, "HD Pro Webcam C920", index: 1, bus: "usb")
        try node(10, "bcm2835-codec-decode", index: 0, bus: "platform")
        try tree.link(String(Self.link.dropFirst()), to: "../../video0")
        try tree.link("dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_ABC-video-index1", to: "../../video1")
        try tree.write("dev/null2", "")
        try tree.write(
            "etc/watchbox/watchbox.toml",
            """
            relay.main = { url = "rtmp://127.0.0.1/live" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            camera.front = { source = "\(source)" }
            """)
        return tree
    }

    @Test func `a camera that is there under its stable name is well`() async throws {
        let finding = try await tree("v4l2:\(Self.link)").finding("devices")
        #expect(finding == .ok("front: HD Pro Webcam C920 at /dev/video0"))
    }

    @Test func `a number instead of a name that stays is a warning with the command that fixes it`() async throws {
        let finding = try await tree("v4l2:/dev/video0").finding("devices")
        #expect(finding.state == .warn)
        #expect(finding.hint?.hasSuffix("watchboxctl camera edit front --source v4l2:\(Self.link)") == true)
    }

    @Test(arguments: [
        ("/dev/v4l/by-id/usb-gone-index0", ErrorCode.deviceMissing, "nothing is at"),
        ("/dev/video1", .deviceUnusable, "describes the frames of another node"),
        ("/dev/video10", .deviceUnusable, "codec"), ("/dev/null2", .deviceUnusable, "is not a video device"),
    ])
    func `what is missing or no camera fails, and says why`(path: String, code: ErrorCode, words: String) async throws {
        let finding = try await tree("v4l2:\(path)").finding("devices")
        #expect(finding.state == .fail)
        #expect(finding.code == code)
        #expect(finding.evidence.contains(words), "\(finding.evidence)")
        #expect(finding.hint?.isEmpty == false)
    }

    @Test func `a camera at the ribbon cable needs the program that speaks to libcamera`() async throws {
        let tree = try tree("csi:")
        let finding = try await tree.finding("devices")
        #expect(finding.state == .fail && finding.code == .csiUnavailable)
        #expect(finding.hint?.contains("watchbox-libcamera") == true)
        try tree.write("usr/libexec/watchbox/watchbox-libcamera", "")
        #expect(try await tree.finding("devices") == .ok("front: csi:, through libcamera"))
    }

    @Test func `a device that units may not open has its reason`() {
        func obstacle(_ mode: UInt32, _ group: UInt32) -> String? {
            DoctorCheck.obstacle(mode: mode, group: group, video: 44)
        }
        #expect(obstacle(0o20660, 44) == nil)
        #expect(obstacle(0o20666, 0) == nil)
        #expect(obstacle(0o20660, 1000) == "belongs to group 1000, and cameras' units are in group video")
        for (mode, octal) in [(0o20600 as UInt32, "600"), (0o20640, "640"), (0o20606, "606")] {
            #expect(
                obstacle(mode, 44)
                    == "belongs to group video, but its mode (\(octal)) does not let the group read and write")
        }
    }

    @Test func `without such a camera there is nothing to examine`() async throws {
        #expect(
            try await tree("test:").finding("devices")
                == .ok("no camera is set to a device of this machine; 1 camera found"))
    }

    @Test func `each verdict has its kind, and each that is not a camera its reason`() {
        func document(_ verdict: CaptureNode.Verdict) -> VideoNodeDocument {
            VideoNodeDocument(
                CaptureNode(
                    device: "/dev/video3", card: "Card", driver: "uvcvideo", bus: "usb-0000:01:00.0-1.4",
                    subsystem: "usb", stableID: Self.link, serial: "ABC", usbPort: "1-1.4", verdict: verdict))
        }
        let camera = document(.camera)
        #expect(camera.kind == .camera && camera.reason == nil)
        #expect(camera.bus == "usb" && camera.usbPort == "1-1.4" && camera.serial == "ABC")
        #expect(camera.stableID == Self.link && camera.driver == "uvcvideo")
        #expect(document(.unknown("held by another program")).reason == "held by another program")
        #expect(document(.unknown("")).kind == .unknown)
        let kinds: [CaptureNode.Rejection: VideoNodeDocument.Kind] = [
            .codec: .processor, .imageProcessor: .processor, .metadata: .metadata,
        ]
        for rejection in CaptureNode.Rejection.allCases {
            let node = document(.rejected(rejection))
            #expect(node.kind == kinds[rejection] ?? .unusable, "\(rejection)")
            #expect(node.reason == rejection.reason)
        }
    }

    @Test func `formats are shown size by size, and controls with their menus`() {
        let modes = [
            CaptureMode(
                pixelFormat: .yuyv, name: "YUYV 4:2:2", isCompressed: false,
                extents: [
                    .init(
                        sizes: .discrete(.init(width: 640, height: 480)),
                        rates: .discrete([Fraction(30), Fraction(15, 2)])),
                    .init(
                        sizes: .range(
                            minimum: .init(width: 48, height: 48), maximum: .init(width: 1920, height: 1080),
                            widthStep: 2, heightStep: 2),
                        rates: .range(minimum: Fraction(1), maximum: Fraction(60))),
                ])
        ]
        let formats = VideoNodeDocument.Format.list(modes)
        #expect(
            formats == [
                .init(pixelFormat: "YUYV", size: "640x480", rates: [30, 7.5], isUsable: true),
                .init(pixelFormat: "YUYV", size: "48x48 to 1920x1080", rates: [60, 1], isUsable: true),
            ])
        let extent = CaptureMode.Extent(sizes: .unknown, rates: .discrete([Fraction(1, 0)]))
        let endless = CaptureMode(
            pixelFormat: .mjpeg, name: "", isCompressed: true, extents: Array(repeating: extent, count: 5000))
        let bounded = VideoNodeDocument.Format.list([endless, endless])
        #expect(bounded.count == 1000 && bounded[0].rates == [])

        let control = VideoControlDocument(
            CaptureControl(
                name: "auto_exposure", id: 1, kind: .menu, minimum: 0, maximum: 3, step: 1, default: 3, value: 1,
                menu: [1: "Manual Mode", 3: "Aperture Priority Mode"], isInactive: true))
        #expect(control.menu == ["1": "Manual Mode", "3": "Aperture Priority Mode"])
        #expect(control.value == 1 && control.defaultValue == 3 && control.isInactive)
    }

    @Test func `a camera that does not open says why instead of its formats`() {
        let node = CaptureNode(device: "/dev/video-that-is-not-there", card: "Gone")
        let document = VideoNodeDocument(asking: node, controls: true)
        #expect(document.formats == [] && document.controls == nil)
        #expect(document.reason?.contains("/dev/video-that-is-not-there") == true)
    }
}
