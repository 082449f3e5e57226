import Foundation
import Glibc
import Synchronization
import Testing

@testable import DeviceSource

/// No node of a device can be made here: the test says what it looks like.
final class DeviceRefusalTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "refused-\(UUID().uuidString)").path
    private let seen = Seen()

    private final class Seen: Sendable {
        private let state = Mutex<DeviceRefusal.Appearance?>(
            .init(device: 81 << 8, inode: 7, changedSeconds: 100, changedNanoseconds: 5))

        var appearance: DeviceRefusal.Appearance? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    deinit { unlink(file) }

    private func refusal(markFile: String?) -> DeviceRefusal {
        DeviceRefusal(markFile: markFile) { [seen] _ in seen.appearance }
    }

    /// Refused five times in each of so many seconds.
    private func ends(_ refusal: DeviceRefusal, seconds: Double = 10) -> Bool {
        var refusal = refusal
        return (0..<Int(seconds * 5)).contains { refusal.refused("/dev/video0", at: UInt64($0) * 200_000_000) }
    }

    @Test func `a device that mode and group give and the unit's rules refuse ends the process, once`() {
        #expect(!ends(refusal(markFile: file), seconds: 1.8), "not at once: it has just come")
        #expect(ends(refusal(markFile: file)))
        #expect(!ends(refusal(markFile: file), seconds: 600), "the next process knows that a start did not help")
        // It is plugged in again: the rules may have been made since.
        seen.appearance?.inode = 8
        #expect(ends(refusal(markFile: file)))
    }

    @Test func `what mode or group forbid, or what is not there, never ends it`() {
        seen.appearance = nil
        #expect(!ends(refusal(markFile: file), seconds: 60))
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `without a place for the mark it does not end: nobody would stop the row`() {
        #expect(!ends(refusal(markFile: nil), seconds: 60))
        #expect(!ends(refusal(markFile: "/nonexistent/refused"), seconds: 60))
    }

    @Test func `refusals in a row count, not those between which it was open`() {
        var refusal = refusal(markFile: file)
        for second in 0..<60 {
            let ends = refusal.refused("/dev/video0", at: UInt64(second) * 1_000_000_000)
            #expect(!ends)
            if second % 4 == 3 { refusal.opened() }
        }
    }

    @Test(
        arguments: [
            (mode_t(0o660), 1000, [44], true), (0o660, 1000, [5], false), (0o600, 1000, [44], false),
            (0o666, 1000, [5], true),
            // The owner's class decides for the owner, even where others may more.
            (0o066, 0, [44], false), (0o600, 0, [5], true), (0o640, 1000, [44], false), (0o606, 1000, [44], false),
        ] as [(mode_t, uid_t, [gid_t], Bool)])
    func `mode, owner and group decide as the kernel does`(mode: mode_t, user: uid_t, groups: [gid_t], isGranted: Bool)
    {
        #expect(
            DeviceRefusal.isGranted(mode: S_IFCHR | mode, owner: 0, group: 44, user: user, groups: groups) == isGranted)
    }

    @Test func `a device of this machine is seen as it is`() throws {
        let null = try #require(DeviceRefusal.granted("/dev/null"))
        #expect(null == DeviceRefusal.granted("/dev/null"))
        #expect(DeviceRefusal.granted("/etc/passwd") == nil)
        #expect(DeviceRefusal.granted("/dev/nothing-of-this-name") == nil)
    }
}
