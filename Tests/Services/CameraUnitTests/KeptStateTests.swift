import Foundation
import Testing

@testable import CameraUnit

struct KeptStateTests {
    @Test func `what a camera has learned is its own`() throws {
        let directory = NSTemporaryDirectory() + "/wb-kept-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? files.removeItem(atPath: directory) }
        func put(_ name: String) {
            _ = files.createFile(atPath: "\(directory)/\(name)", contents: Data("learned".utf8))
        }
        func has(_ name: String) -> Bool { files.fileExists(atPath: "\(directory)/\(name)") }
        // From before there were marks.
        put("network.json")
        let adopted = try KeptState.claim(directory, for: "one")
        #expect(!adopted && has("network.json"))
        put("kas-public-key.json")
        let again = try KeptState.claim(directory, for: "one")
        #expect(!again && has("kas-public-key.json"))
        // Removed, and another one of its name is added.
        try files.createDirectory(atPath: "\(directory)/more", withIntermediateDirectories: true)
        let other = try KeptState.claim(directory, for: "two")
        #expect(other)
        #expect(try files.contentsOfDirectory(atPath: directory) == ["instance"])
        #expect(throws: (any Error).self) { try KeptState.claim(directory + "/gone", for: "one") }
    }
}
