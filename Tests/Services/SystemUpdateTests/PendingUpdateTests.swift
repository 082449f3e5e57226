import Foundation
import Platform
import SystemUpdate
import Testing

final class PendingUpdateTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-\(UUID().uuidString)").path

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test func `what one system writes the other reads`() throws {
        let path = "\(directory)/update.json"
        #expect(PendingUpdate.read(path) == nil)
        let pending = PendingUpdate(version: "2", system: "B", from: "1", cameras: ["front"], installed: 12)
        try pending.write(path)
        #expect(PendingUpdate.read(path) == pending)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        try PendingUpdate.remove(path)
        try PendingUpdate.remove(path)
        #expect(PendingUpdate.read(path) == nil)
    }

    @Test(arguments: ["", "{", "[]", #"{"version":"2"}"#, String(repeating: " ", count: 70_000)])
    func `a file that is not one counts as none`(text: String) throws {
        let path = "\(directory)/update.json"
        try DurableFile.replace(path, with: Array(text.utf8))
        #expect(PendingUpdate.read(path) == nil)
    }

    @Test func `the running system's version is the image's`() throws {
        let path = "\(directory)/os-release"
        #expect(SystemVersion.running(osRelease: path) == nil)
        try DurableFile.replace(path, with: Array("ID=debian\nIMAGE_VERSION=\"0.2.0-1\"\n".utf8))
        #expect(SystemVersion.running(osRelease: path) == "0.2.0-1")
        try DurableFile.replace(path, with: Array("ID=debian\n".utf8))
        #expect(SystemVersion.running(osRelease: path) == nil)
    }

    @Test func `the running system is the one that the boot loader names`() throws {
        let path = "\(directory)/cmdline"
        #expect(SystemVersion.runningSystem(commandLine: path) == nil)
        try DurableFile.replace(path, with: Array("boot=watchbox watchbox.slot=b rauc.slot=B quiet\n".utf8))
        #expect(SystemVersion.runningSystem(commandLine: path) == "B")
        try DurableFile.replace(path, with: Array("quiet\n".utf8))
        #expect(SystemVersion.runningSystem(commandLine: path) == nil)
    }

    @Test(arguments: [
        ("0.9.0", "0.10.0"), ("0.2.0-1~deb12u1", "0.2.0-2~deb12u1"), ("1", "2"), ("0.2", "0.2.1"), ("1.a", "1.b"),
        ("01.9", "1.10"), ("0.99999999999999999999", "0.100000000000000000000"), ("", "0"),
    ])
    func `numbers in a version count as numbers`(older: String, newer: String) {
        #expect(SystemVersion.isOlder(older, than: newer))
        #expect(!SystemVersion.isOlder(newer, than: older))
        #expect(!SystemVersion.isOlder(newer, than: newer))
    }
}
