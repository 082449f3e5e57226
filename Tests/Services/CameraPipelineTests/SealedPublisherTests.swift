import Foundation
import Testing

@Suite struct SealedPublisherTests {
    /// What makes SECURITY.md true: whoever holds the transport's connection could write anything to it.
    @Test func `one file alone names the connection that takes any bytes`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "Sources/Services/CameraPipeline")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 15)
        let naming = try files.filter {
            try String(contentsOf: $0, encoding: .utf8).contains("RTMPPublisherConnection")
        }
        #expect(naming.map(\.lastPathComponent) == ["SealedPublisher.swift"])
    }
}
