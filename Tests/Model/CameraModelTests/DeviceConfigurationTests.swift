import FoundationEssentials
import Settings
import Testing

@testable import CameraModel

@Suite struct DeviceConfigurationTests {
    private typealias Device = CameraConfiguration.Device

    private func camera(_ change: (inout Device) -> Void = { _ in }) -> CameraConfiguration {
        var device = Device(path: "/dev/video0")
        change(&device)
        return CameraConfiguration(
            id: "front", source: .device(device), relay: .init(url: "rtmp://127.0.0.1/live/front"),
            kas: KASConfiguration(url: "https://kas.example.net/kas"))
    }

    private func problems(_ change: (inout Device) -> Void) -> [ConfigurationProblem] {
        do {
            try camera(change).validate()
            return []
        } catch {
            return error.problems
        }
    }

    private func fields(_ change: (inout Device) -> Void) -> [String] { problems(change).map(\.field) }

    @Test func `a device needs nothing but its path`() throws {
        let json = """
            {"id": "front", "source": {"device": {"path": "/dev/video0"}},
             "relay": {"url": "rtmps://live.example.net/live"}, "kas": {"url": "https://kas.example.net/kas"}}
            """
        let read = try CameraConfiguration.decode(Data(json.utf8))
        #expect(read.source == .device(Device(path: "/dev/video0")))
        guard case .device(let device) = read.source else { return }
        #expect(
            device.width == 1280 && device.height == 720 && device.frameRate == 30 && device.pixelFormat == .automatic)
        #expect(device.masks.isEmpty && device.overlay.isEmpty && device.microphone == nil)
        let error = #expect(throws: ConfigurationError.self) {
            try CameraConfiguration.decode(Data(json.replacing(#""path""#, with: #""Path""#).utf8))
        }
        #expect(error?.problems.map(\.field) == ["source.device.path"])
    }

    @Test func `a device with everything is read again from what it is written as`() throws {
        let all = camera {
            $0 = Device(
                path: "/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920_1A2B3C4D-video-index0", width: 1080, height: 1920,
                frameRate: 25, bitrate: 3_000_000, gopSeconds: 1.5, pixelFormat: .mjpeg, encoder: .h264v4l2m2m,
                rotation: 90, flip: .horizontal, masks: [.init(x: 0, y: 0.5, width: 0.25, height: 0.5)],
                overlay: .init(time: true, name: "Front door"),
                controls: ["brightness": -5, "power_line_frequency": 1],
                microphone: "hw:CARD=C920,DEV=0", encoderMemoryFile: "/var/lib/watchbox/camera/front/encoder.json")
        }
        try all.validate()
        #expect(try CameraConfiguration.decode(JSONEncoder().encode(all)) == all)
    }

    @Test(arguments: [
        "/dev/video0", "/dev/v4l/by-path/platform-fd500000.pcie-pci-0000:01:00.0-usb-0:1.4:1.0-video-index0",
        "/dev/a b",
    ])
    func `a device's path`(path: String) {
        #expect(fields { $0.path = path } == [])
    }

    @Test(arguments: [
        "", "/dev", "/dev/", "video0", "/etc/passwd", "/dev/../etc/passwd", "/dev/./video0", "/dev//video0",
        "/dev/video0/",
        "/dev/video0\n", "/dev/\u{1B}[2J", "/dev/\u{202E}0oediv", "v4l2:/dev/video0",
        "/dev/" + String(repeating: "x", count: 1020),
    ])
    func `not a device's path`(path: String) {
        #expect(fields { $0.path = path } == ["source.device.path"])
    }

    @Test func `what is out of range is reported, all at once`() {
        let found = problems {
            ($0.width, $0.height, $0.frameRate, $0.bitrate, $0.gopSeconds) = (63, 7682, 121, 15_999, 60.5)
            $0.rotation = 45
            $0.masks = [.init(x: 0, y: 0, width: 1, height: 1), .init(x: 0.5, y: 0, width: 0.6, height: 1)]
            $0.overlay.name = ""
            $0.controls = ["Brightness": 1]
            $0.microphone = ""
            $0.encoderMemoryFile = ""
        }
        #expect(
            found.map(\.field) == [
                "source.device.width", "source.device.height", "source.device.frameRate", "source.device.bitrate",
                "source.device.gopSeconds", "source.device.rotation", "source.device.masks[1]",
                "source.device.overlay.name", "source.device.controls", "source.device.microphone",
                "source.device.encoderMemoryFile",
            ])
        for problem in found { #expect(!problem.reason.isEmpty && !problem.hint.isEmpty) }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `an invalid number is refused`(value: Double) {
        #expect(fields { $0.gopSeconds = value } == ["source.device.gopSeconds"])
        for index in 0..<4 {
            var numbers = [0, 0, 0.5, 0.5]
            numbers[index] = value
            let mask = Device.Mask(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            #expect(fields { $0.masks = [mask] } == ["source.device.masks[0]"])
        }
    }

    @Test(arguments: [Int.min, -90, 1, 89, 360, Int.max])
    func `no other angle than a quarter of a turn`(angle: Int) {
        #expect(fields { $0.rotation = angle } == ["source.device.rotation"])
        for rotation in [0, 90, 180, 270] { #expect(fields { $0.rotation = rotation } == []) }
    }

    @Test(
        arguments: [
            [0, 0, 1, 1], [0.7, 0.2, 0.3, 0.8], [1.0 / 3, 0, 2.0 / 3, 0.001], [0.9, 0.9, 0.1, 0.1],
            [0.99999999, 0, 1e-7, 1], [0, 0.99999999, 1, 1e-7], [0, 0, 1.0000001, 1], [-0.0, -0.0, 1e-300, 1e-300],
        ] as [[Double]])
    func `a mask lies in the frame`(numbers: [Double]) {
        let mask = Device.Mask(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        #expect(mask.isInsideImage)
        #expect(fields { $0.masks = [mask] } == [])
    }

    @Test(
        arguments: [
            [0, 0, 0, 1], [0, 0, 1, 0], [-0.01, 0, 0.5, 0.5], [0, -0.01, 0.5, 0.5], [0.5, 0, 0.501, 0.5],
            [0, 0.5, 0.5, 0.501], [0.5, 0, -0.5, 0.5], [2, 2, 0.1, 0.1], [0, 0, 1e300, 1],
            // Nothing of them is in the frame, however little they leave it.
            [1, 0, 1e-7, 1], [0, 1, 1, 1e-7], [1, 1, 1e-300, 1e-300], [1, 0, 0, 1], [0, 0, 1.00001, 1],
        ] as [[Double]])
    func `a mask that leaves the frame is refused`(numbers: [Double]) {
        let mask = Device.Mask(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        #expect(!mask.isInsideImage)
        #expect(fields { $0.masks = [mask] } == ["source.device.masks[0]"])
    }

    @Test func `lists have an end`() {
        let mask = Device.Mask(x: 0, y: 0, width: 0.1, height: 0.1)
        #expect(fields { $0.masks = Array(repeating: mask, count: 32) } == [])
        #expect(fields { $0.masks = Array(repeating: mask, count: 33) } == ["source.device.masks"])
        let controls = Dictionary(uniqueKeysWithValues: (0..<65).map { ("control_\($0)", $0) })
        #expect(fields { $0.controls = controls } == ["source.device.controls"])
        #expect(fields { $0.controls = controls.filter { $0.key != "control_0" } } == [])
    }

    @Test(arguments: ["default", "null", "hw:CARD=C920", "plughw:1,0", "sysdefault:CARD=U0x46d0x825", "my-mic.1+2"])
    func `a microphone`(name: String) {
        #expect(fields { $0.microphone = name } == [])
    }

    /// ALSA's `file` runs programs and writes what it hears; in braces stands a whole configuration.
    @Test(arguments: [
        "", "a b", "file:x,raw", "file:'|cat >x',raw", "file", "tee:default,x,raw", "plug:{SLAVE=\"file:x\"}", "/x",
        "hw:0\n",
        "|sh", "$(x)", "ü", "@args", String(repeating: "a", count: 129),
    ])
    func `no microphone`(name: String) {
        #expect(fields { $0.microphone = name } == ["source.device.microphone"])
    }

    @Test(arguments: ["", "a b", "Brightness", "ä", "a-b", "a=b", String(repeating: "a", count: 65)])
    func `not the name of a control`(name: String) {
        #expect(fields { $0.controls = [name: 1] } == ["source.device.controls"])
    }

    @Test(arguments: [
        "", "a\nb", "\u{1B}[2J", String(repeating: "a", count: 65), "e" + String(repeating: "\u{301}", count: 2000),
    ])
    func `a name that cannot be burnt in`(name: String) {
        #expect(fields { $0.overlay.name = name } == ["source.device.overlay.name"])
        #expect(fields { $0.overlay.name = "Vordertür 前" } == [])
    }

    @Test func `what changes frames cannot be had of what the camera encodes`() {
        let requests: [(String, (inout CameraConfiguration.Device) -> Void)] = [
            ("encoder", { $0.encoder = .libx264 }), ("rotation", { $0.rotation = 180 }), ("flip", { $0.flip = .both }),
            ("masks", { $0.masks = [.init(x: 0, y: 0, width: 1, height: 0.1)] }),
            ("overlay", { $0.overlay.time = true }),
            ("overlay", { $0.overlay.name = "Front" }),
        ]
        for (name, wish) in requests {
            #expect(fields(wish) == [], "\(name)")
            let found = problems {
                $0.pixelFormat = .h264
                wish(&$0)
            }
            #expect(found.map(\.field) == ["source.device.\(name)"])
            #expect(found.first?.reason.contains("passed through") == true)
        }
        #expect(fields { $0.pixelFormat = .h264 } == [])
    }

    @Test func `a description says which device, and nothing that a terminal obeys`() {
        #expect(
            camera().description
                == "camera front: device /dev/video0 as 1280x720 at 30/s to rtmp://127.0.0.1/live/***")
        let hostile = camera { $0.path = "/dev/\u{1B}[2J" + String(repeating: "x", count: 5000) }.description
        #expect(hostile.unicodeScalars.allSatisfy { $0.value >= 32 } && hostile.utf8.count < 500)
    }
}
