import CameraModel
import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration

/// Keys of cameras whose source is `v4l2:`.
struct DeviceKeyTests {
    static let full = """
        kas.url = "https://kas.example.net/kas"
        relay.main.url = "rtmp://relay.example.net/live"

        [camera.yard]
        name = "Back yard"
        source = "v4l2:/dev/v4l/by-id/usb-046d_C920_1A2B-video-index0"
        size = "720x1280"
        rate = 25
        bitrate = 1500000
        gop = 2
        pixel_format = "mjpeg"
        encoder = "libx264"
        rotate = 270
        flip = "vertical"
        masks = ["0,0,0.25,0.1", " 0.5, .5, 0.5, 5e-1"]
        overlay = ["name", "time"]
        controls = ["brightness=-12", "power_line_frequency=1"]
        microphone = "hw:CARD=C920"
        mono = true

        """

    private static func camera(_ lines: String) -> String {
        Samples.small + "[camera.yard]\nsource = \"v4l2:/dev/video0\"\n" + lines
    }

    private func issues(_ lines: String) -> [ConfigurationIssue] { Samples.read(Self.camera(lines)).issues }

    @Test func `each key reaches the camera's document`() throws {
        let settings = Samples.settings(Self.full)
        #expect(settings.runningCameras == ["yard"])
        let document = try settings.cameraConfiguration("yard", stateDirectory: "/var/lib/watchbox/camera/yard")
        #expect(
            document.source
                == .device(
                    .init(
                        path: "/dev/v4l/by-id/usb-046d_C920_1A2B-video-index0", width: 720, height: 1280, frameRate: 25,
                        bitrate: 1_500_000, gopSeconds: 2, pixelFormat: .mjpeg, encoder: .libx264, rotation: 270,
                        flip: .vertical,
                        masks: [
                            .init(x: 0, y: 0, width: 0.25, height: 0.1), .init(x: 0.5, y: 0.5, width: 0.5, height: 0.5),
                        ], overlay: .init(time: true, name: "Back yard"),
                        controls: ["brightness": -12, "power_line_frequency": 1], microphone: "hw:CARD=C920",
                        isMono: true,
                        encoderMemoryFile: "/run/watchbox-camera/yard/encoder.json")))
    }

    @Test func `what is left out has the defaults of the keys`() throws {
        let document = try Samples.settings(Self.camera("overlay = ['name']")).cameraConfiguration(
            "yard", stateDirectory: "/s")
        var expected = CameraConfiguration.Device(
            path: "/dev/video0", encoderMemoryFile: "/run/watchbox-camera/yard/encoder.json")
        expected.gopSeconds = CameraConfiguration.TestPattern().gopSeconds
        expected.overlay.name = "yard"
        #expect(document.source == .device(expected))
    }

    @Test func `what is written is read again as the same`() {
        let settings = Samples.settings(Self.full)
        let text = settings.toml()
        #expect(text.contains("masks = [\"0,0,0.25,0.1\", \"0.5,0.5,0.5,0.5\"]"))
        #expect(text.contains("overlay = [\"time\", \"name\"]") && text.contains("rotate = 270"))
        #expect(Samples.settings(text) == settings)
        #expect(!Samples.settings(Self.camera("")).toml().contains("masks"))
    }

    @Test(arguments: [
        "v4l2:", "v4l2:video0", "v4l2:/etc/passwd", "v4l2:/dev/", "v4l2:/dev/../etc/passwd", "v4l2://dev/video0",
        "v4l2:/dev/video0/", "v4l2:/dev/./video0", "v4l2:csi:",
        "csi:\(String(repeating: "x", count: 248))",
    ])
    func `a source that names no device says what to write`(source: String) {
        let (settings, issues) = Samples.read("camera.yard.source = '\(source)'")
        #expect(settings == nil)
        #expect(issues.first?.reason == "names no camera of this machine")
        #expect(issues.first?.hint.contains("watchboxctl discover") == true)
    }

    /// With one camera, whose source it is.
    private static func sourced(_ source: String) -> String {
        camera("").replacing("v4l2:/dev/video0", with: source)
    }

    @Test(arguments: ["csi:", "csi:/base/soc/i2c0mux/i2c@1/imx708@1a", "csi:platform/vimc.0 Sensor B"])
    func `a camera at the ribbon cable is a device by its source`(source: String) throws {
        let settings = Samples.settings(Self.sourced(source))
        guard case .device(let device) = try settings.cameraConfiguration("yard", stateDirectory: "/s").source else {
            Issue.record("no device")
            return
        }
        #expect(device.path == source)
        #expect(Samples.settings(settings.toml()) == settings)
    }

    @Test func `of two cameras at ribbon cables neither is the only one`() {
        func found(_ other: String, _ more: String = "") -> [ConfigurationIssue] {
            Samples.read(Self.sourced("csi:/base/a") + "\n[camera.zoo]\nsource = '\(other)'\n\(more)").issues
        }
        #expect(found("csi:/base/b").isEmpty)
        #expect(found("csi:", "active = false").isEmpty)
        for other in ["csi:", "csi:/base/a"] {
            #expect(found(other).first?.reason == "is the device of camera.yard, too")
        }
    }

    @Test(arguments: [
        ("pixel_format = 'YUYV'", "pixel_format", "is not one of its values, did you mean \"yuyv\"?"),
        ("encoder = 'h264_v4l2m2n'", "encoder", "is not one of its values, did you mean \"h264_v4l2m2m\"?"),
        ("rotate = 45", "rotate", "is not one of its values"),
        ("rotate = '90'", "rotate", "is a string, but must be an integer"),
        ("flip = 'up'", "flip", "is not one of its values"),
        ("masks = '0,0,1,1'", "masks", "is a string, but must be a list of strings"),
        ("masks = ['0,0,1,1', '0,0,1']", "masks", "has an entry that is not a rectangle inside the image, entry 2"),
        ("masks = [0.5]", "masks", "has an entry that is a number with a fraction, entry 1"),
        ("overlay = ['tim']", "overlay", "has an entry that is not one of its values, entry 1, did you mean \"time\"?"),
        ("overlay = ['time', 'time']", "overlay", "says one thing twice, entry 2"),
        ("overlay = ['time', 'name', 'time']", "overlay", "has more than 2 entries"),
        ("controls = ['brightness']", "controls", "has an entry that is not name=value, entry 1"),
        ("controls = ['gain=1', 'gain=2']", "controls", "says one thing twice, entry 2"),
        ("record = 'event'", "record", "is not one of its values, did you mean \"events\"?"),
        ("record_before = 61", "record_before", "is out of range"),
        ("record_after = 0.5", "record_after", "is out of range"),
        (
            "record_schedule = ['sat', 'mon-fry']", "record_schedule",
            "has an entry that is not a span of the week, entry 2: a day is expected: mon, tue, wed, thu, fri, sat or sun, at character 5"
        ),
        ("record_schedule = ['sat', 'sat 00:00-24:00']", "record_schedule", "says one thing twice, entry 2"),
        (
            "record_schedule = [\((10...26).map { "'\($0 - 5 < 10 ? "0" : "")\($0 - 5):00-23:\($0)'" }.joined(separator: ", "))]",
            "record_schedule", "has more than 16 entries"
        ),
        ("microphone = 'file:x,raw'", "microphone", "is not the name of an audio device"),
    ])
    func `a value that is not allowed is reported with its key`(line: String, key: String, reason: String) {
        let found = issues(line)
        #expect(found.map(\.key) == ["camera.yard.\(key)"])
        #expect(found.first?.reason == reason)
        #expect(found.first?.hint.isEmpty == false && found.first?.line == 6)
    }

    @Test(arguments: [
        "", "0", "0,0,0,0", "0,0,1,1,1", "0,0,1,nan", "inf,0,1,1", "0x0,0,1,1", "1e999,0,1,1", "-0.1,0,0.5,0.5",
        "0,0,1,1.1",
        "0;0;1;1", "a,b,c,d", "0,0,1 ,1", "0,0,,1", "0,0,1,.", "0,0,1,--1", "０,0,1,1", "0,0,\u{0},1",
        "0.\(String(repeating: "0", count: 200)),0,1,1",
    ])
    func `not a mask`(text: String) {
        #expect(CameraConfiguration.Device.Mask(text: text) == nil)
    }

    @Test(arguments: [
        "", "=", "a=", "=1", "a=b", "A=1", "a=1.5", "a=+1", "a = 1", "a==1", "a=1 ", "a=9223372036854775808", "a-b=1",
    ])
    func `not a control's setting`(text: String) {
        #expect(ControlSetting(text: text) == nil)
    }

    @Test func `the ends of a control's value are taken`() {
        for value in [Int.min, -1, 0, Int.max] {
            let setting = ControlSetting(name: "gain", value: value)
            #expect(ControlSetting(text: setting.text) == setting)
        }
    }

    @Test func `lists have an end`() {
        let masks = { (count: Int) in "masks = [" + String(repeating: "'0,0,1,1',", count: count) + "]" }
        #expect(issues(masks(32)).isEmpty)
        #expect(issues(masks(33)).map(\.reason) == ["has more than 32 entries"])
        let controls = { (count: Int) in "controls = [" + (0..<count).map { "'c\($0)=1'," }.joined() + "]" }
        #expect(issues(controls(64)).isEmpty)
        #expect(issues(controls(65)).map(\.reason) == ["has more than 64 entries"])
    }

    @Test(arguments: [
        "encoder = 'libx264'", "rotate = 90", "flip = 'both'", "masks = ['0,0,1,1']", "overlay = ['time']",
    ])
    func `what the camera encodes cannot be changed, and that is reported with the key`(line: String) throws {
        #expect(issues(line).isEmpty)
        let issue = try #require(issues("pixel_format = 'h264'\n" + line).first)
        #expect(issue.key == "camera.yard.\(line.prefix { $0 != " " })")
        #expect(issue.code == .invalidValue && !issue.isWarning && issue.line == 7)
        #expect(issue.reason.contains("is refused by the camera: it needs frames that can be changed"))
        // Where nothing is passed through, nothing is in the way.
        guard !line.hasPrefix("masks") else { return }
        let pattern = Samples.small + "camera.yard = { source = 'test:', pixel_format = 'h264', \(line) }"
        #expect(Samples.read(pattern).issues.isEmpty)
    }

    @Test func `masks that would hide nothing are refused`() {
        for source in ["test:", "file:/srv/a.mp4"] {
            let text = Samples.small + "[camera.yard]\nsource = '\(source)'\nmasks = "
            let found = Samples.read(text + "['0,0,1,0.5']").issues
            #expect(found.map(\.key) == ["camera.yard.masks"] && found.first?.isWarning == false)
            #expect(found.first?.reason == "can only be applied to cameras of this machine")
            #expect(Samples.read(text + "[]").issues.isEmpty)
        }
    }

    @Test func `two active cameras cannot have one device`() {
        let other = "[camera.zoo]\nsource = 'v4l2:/dev/video0'\n"
        let found = issues(other)
        #expect(found.map(\.key) == ["camera.zoo.source"])
        #expect(found.first?.reason == "is the device of camera.yard, too")
        #expect(issues(other + "active = false").isEmpty)
        #expect(issues("[camera.zoo]\nsource = 'v4l2:/dev/video2'\n").isEmpty)
    }

    @Test func `a camera that was set up in the program is checked, too`() throws {
        var settings = Samples.settings(Self.camera(""))
        settings.cameras["yard"]?.device.masks = [.init(x: 0.5, y: 0, width: 0.6, height: 1)]
        let error = #expect(throws: CodedError.self) { try settings.cameraConfiguration("yard", stateDirectory: "/s") }
        #expect(error?.code == .invalidValue && error?.what.contains("`camera.yard.masks`") == true)
        #expect(error?.why == "it is not a rectangle inside the image")
    }
}
