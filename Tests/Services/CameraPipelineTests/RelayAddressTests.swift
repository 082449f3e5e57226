import CameraModel
import FoundationEssentials
import RTMP
import Settings
import Testing

@testable import CameraPipeline

@Suite struct RelayAddressTests {
    private func withFile<R>(_ content: String, _ body: (String) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "watchbox-url-\(UUID().uuidString)")
        try Data(content.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }

    private func address(file: String) -> RelayAddress {
        RelayAddress(
            CameraConfiguration(
                id: "cam1", source: .testPattern(.init()), relay: .init(urlFile: file),
                kas: KASConfiguration(url: "https://kas.example.net/kas")))
    }

    @Test(arguments: ["", "\n", "\r\n", "  \n"])
    func `a secret URL is read from its file, whatever ends the line`(end: String) throws {
        try withFile("rtmp://u:p@relay.example/live/key?token=t" + end) { file in
            let url = try address(file: file).read()
            #expect(url.host == "relay.example")
            #expect(url.streamName == "key?token=t")
            #expect(url.credentials?.user == "u")
        }
    }

    @Test func `a file that is not there is named`() {
        let error = #expect(throws: ConfigurationError.self) { try address(file: "/nonexistent/url").read() }
        #expect(error?.problems.first?.field == "relay.urlFile")
        #expect(error?.problems.first?.reason.contains("/nonexistent/url") == true)
    }

    @Test(arguments: ["", "   ", "http://u:hunter2@relay.example/live/x", "rtmp://hunter2 x/live/y", "rtmp://"])
    func `a file that holds something else is refused without saying what`(content: String) throws {
        try withFile(content) { file in
            let error = #expect(throws: ConfigurationError.self) { try address(file: file).read() }
            #expect(error?.description.contains("hunter2") == false)
        }
    }
}
