import Foundation
import Platform
import SystemUpdate
import Testing

final class StateRoomTests {
    private let slot = FileManager.default.temporaryDirectory.appending(path: "watchbox-\(UUID().uuidString)").path

    init() throws {
        for part in ["etc/watchbox", "var/lib/watchbox", "var/tmp", "var/cache/apt", "var/log/journal"] {
            try FileManager.default.createDirectory(atPath: "\(slot)/\(part)", withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: slot) }

    private func write(_ path: String, megabytes: Int) throws {
        let bytes = [UInt8](repeating: 7, count: megabytes << 20)
        try DurableFile.replace("\(slot)/\(path)", with: bytes)
    }

    @Test func `what is copied counts, and what is only on its way does not`() throws {
        let empty = try StateRoom.look(at: slot).needed
        try write("var/tmp/update.raucb", megabytes: 3)
        try write("var/cache/apt/list", megabytes: 1)
        try write("var/log/journal/system", megabytes: 1)
        #expect(try StateRoom.look(at: slot).needed == empty)
        try write("var/lib/watchbox/state", megabytes: 2)
        try write("etc/watchbox/watchbox.toml", megabytes: 1)
        #expect((3 << 20..<4 << 20).contains(try StateRoom.look(at: slot).needed - empty))
        // Of that name elsewhere, it is as any other.
        try FileManager.default.createDirectory(atPath: "\(slot)/etc/tmp", withIntermediateDirectories: true)
        try write("etc/tmp/state", megabytes: 1)
        #expect(try StateRoom.look(at: slot).needed - empty >= 4 << 20)
    }

    @Test func `a link is not followed, and a hole takes no room`() throws {
        let empty = try StateRoom.look(at: slot).needed
        try FileManager.default.createSymbolicLink(atPath: "\(slot)/etc/all", withDestinationPath: "/usr")
        try FileManager.default.createSymbolicLink(atPath: "\(slot)/var/lib/self", withDestinationPath: slot)
        let sparse = open("\(slot)/var/lib/sparse", O_WRONLY | O_CREAT, 0o600)
        #expect(ftruncate(sparse, 1 << 32) == 0)
        close(sparse)
        #expect(try StateRoom.look(at: slot).needed - empty < 1 << 20)
    }

    @Test func `a system without settings of its own needs nothing, and a place that is none is said`() throws {
        try FileManager.default.removeItem(atPath: "\(slot)/etc")
        try FileManager.default.removeItem(atPath: "\(slot)/var")
        #expect(try StateRoom.look(at: slot).needed == 0)
        #expect(try StateRoom.look(at: slot).free > 0)
        #expect(throws: FileFailure.self) { try StateRoom.look(at: "\(self.slot)/none") }
    }

    /// It ends with a reason, not with a stack that overflows.
    @Test func `a directory that never ends is refused`() throws {
        try FileManager.default.createDirectory(
            atPath: "\(slot)/etc/" + Array(repeating: "d", count: 70).joined(separator: "/"),
            withIntermediateDirectories: true)
        #expect(throws: FileFailure.self) { try StateRoom.look(at: self.slot) }
    }

    @Test func `enough is the copy and a reserve`() {
        #expect(StateRoom(needed: 1_000, free: 64 << 20).isEnough == false)
        #expect(StateRoom(needed: 1_000, free: 64 << 20).missingMegabytes == 1)
        #expect(StateRoom(needed: 1_000, free: 64 << 20 + 1_000).isEnough)
        #expect(StateRoom(needed: 1_000, free: 64 << 20 + 1_000).missingMegabytes == 0)
        #expect(StateRoom(needed: 100_000_000, free: 0).missingMegabytes == 168)
    }
}
