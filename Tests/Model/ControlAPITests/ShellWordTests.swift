import ControlAPI
import Foundation
import Testing

struct ShellWordTests {
    @Test(arguments: [
        "onvif://192.0.2.61:8000", "rtsp://[2001:db8::7]:8554/", "v4l2:/dev/v4l/by-id/usb-046d-video-index0",
        "rtsp://192.0.2.7/cam?channel=1", "a_b~c%20.d",
    ])
    func `what no shell reads anything into stands as it is`(text: String) {
        #expect(ShellWord.quoted(text) == text)
    }

    @Test(arguments: [
        "", "rtsp://h/;touch$IFS/tmp/x", "rtsp://h/$(id)", "rtsp://h/`id`", "rtsp://h/a&b", "rtsp://h/'; id; '",
        "rtsp://h/\"x\"", "a b", "a\nb", "\\", "!!", "#", "ü", "~root/*", "{a,b}", "a>b",
    ])
    func `a shell gets the same string back`(text: String) throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "printf %s \(ShellWord.quoted(text))"]
        let pipe = Pipe()
        shell.standardOutput = pipe
        try shell.run()
        let reported = try pipe.fileHandleForReading.readToEnd() ?? Data()
        shell.waitUntilExit()
        #expect(String(decoding: reported, as: UTF8.self) == text)
        #expect(ShellWord.quoted(text).hasPrefix("'"))
    }
}
