import Cryptography
import Foundation
import Glibc
import KeyAccess
import Testing

@testable import KeyAccessServer

@Suite struct CollectionStoreTests {
    private static func hash(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private static func entry(
        _ number: Int, stream: String = "front", publisher: String = "box"
    ) -> CollectionRegistry.Entry {
        CollectionRegistry.Entry(
            headerSha256: hash(number), stream: stream, notAfter: 1000, publisher: publisher, kid: "e1", registeredAt: 0
        )
    }

    private func directory() throws -> (String, StateDirectory) {
        let path = Rig.temporaryPath()
        return (path, try StateDirectory(path: path + "/state"))
    }

    @Test func `registrations outlive a restart, however their lines lie in the file`() throws {
        let (path, directory) = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try CollectionStore(directory: directory, now: 0)
        for number in 0..<3000 {
            _ = try store.register(
                Self.entry(number, stream: "stream-\(number % 7)"), now: 0)
        }
        let again = try CollectionStore(directory: directory, now: 0)
        #expect(again.count == 3000)
        #expect((0..<3000).allSatisfy { again.entry(forHeader: Self.hash($0), now: 0)?.stream == "stream-\($0 % 7)" })
    }

    /// L11: a journal longer than any limit stopped the start.
    @Test func `a journal of any length is read, and made short`() throws {
        let (path, directory) = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = path + "/state/" + CollectionStore.journalName
        let store = try CollectionStore(directory: directory, now: 0)
        _ = try store.register(Self.entry(1), now: 0)
        let line = try Data(contentsOf: URL(filePath: file))
        // 80 MiB of what is not a registration any more, and invalid lines.
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.seekToEnd()
        let stale = Data(repeating: UInt8(ascii: "x"), count: 4000) + Data("\n".utf8)
        let block = (0..<256).reduce(into: Data()) { data, _ in data += stale }
        for _ in 0..<80 { try handle.write(contentsOf: block) }
        try handle.write(contentsOf: Data(repeating: UInt8(ascii: "y"), count: 1 << 20))
        try handle.write(contentsOf: Data("\n".utf8) + line + line.prefix(20))
        try handle.close()
        let again = try CollectionStore(directory: directory, now: 0)
        #expect(again.count == 1)
        #expect(again.entry(forHeader: Self.hash(1), now: 0)?.stream == "front")
        #expect(try Data(contentsOf: URL(filePath: file)).count == line.count)
    }

    @Test func `the longest names do not make a journal that grows`() throws {
        let (path, directory) = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try CollectionStore(directory: directory, now: 0)
        let name = String(repeating: "n", count: 255)
        let count = 5000
        for round in 0..<3 {
            for number in 0..<count {
                _ = try store.register(
                    Self.entry(round * count + number, stream: name, publisher: name), now: 0)
            }
            try store.compactIfNeeded(now: 0)
        }
        let size = try Data(contentsOf: URL(filePath: path + "/state/" + CollectionStore.journalName)).count
        #expect(size < 3 * 4096 * 700 + 1024 * 700)
    }

    /// As many live registrations as there may be, each signed by a device, and more that push out the oldest. The
    /// journal is left out: writing it takes minutes in a debug build, and its bounds have tests of their own. In a
    /// process of its own, whose memory and processor time are those of this alone.
    @Test func `memory and look-ups stay bounded when the registry is full`() async {
        await #expect(processExitsWith: .success) {
            let (streams, most, more) = (32, 65_536, 4096)
            var registry = CollectionRegistry()
            func register(_ numbers: Range<Int>) throws {
                for number in numbers {
                    var entry = CollectionStoreTests.entry(number, stream: "stream-\(number % streams)")
                    entry.signature = CollectionStoreTests.delegated
                    try registry.register(entry, now: 0)
                }
            }
            /// Seconds of the processor for 2,000 look-ups.
            func lookUp(among count: Int) -> Double {
                let begin = CollectionStoreTests.processorSeconds()
                for number in 0..<2000 {
                    _ = registry.entry(forHeader: CollectionStoreTests.hash(number * 7919 % count), now: 0)
                }
                return CollectionStoreTests.processorSeconds() - begin
            }
            try register(0..<1024)
            let small = (0..<3).map { _ in lookUp(among: 1024) }.min() ?? 0
            let before = try CollectionStoreTests.residentBytes()
            try register(1024..<most)
            guard registry.count == most else { exit(2) }
            let full = (0..<3).map { _ in lookUp(among: most) }.min() ?? 0
            try register(most..<(most + more))
            guard registry.count == most else { exit(3) }
            // The oldest went.
            guard registry.entry(forHeader: CollectionStoreTests.hash(more - 1), now: 0) == nil else { exit(4) }
            guard
                registry.entry(forHeader: CollectionStoreTests.hash(more), now: 0)?.signature
                    == CollectionStoreTests.delegated
            else { exit(5) }
            let grown = try CollectionStoreTests.residentBytes() - before
            // A look through all would take 64 times as long; caches cost a few.
            guard full < 20 * small else { exit(6) }
            guard grown < 192 << 20 else { exit(7) }
            exit(0)
        }
    }

    /// Of a device that vouches for another key: the longest one.
    private static let delegated = PublisherSignature(
        signedAt: 1_800_000_000_000,
        signature: DeviceSignature(
            key: [UInt8](repeating: 2, count: 33), signature: [UInt8](repeating: 3, count: 64),
            delegation: .init(device: [UInt8](repeating: 4, count: 33), signature: [UInt8](repeating: 5, count: 64))))

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: - In a backup

    /// The journal has up to a quarter more lines than registrations live before it is made short, and what comes until
    /// then.
    @Test func `a full store's journal has room in a backup`() throws {
        let name = String(repeating: "n", count: StreamPattern.maximumLength)
        var entry = Self.entry(1, stream: name, publisher: "https://\(name)/ \(name)")
        entry.signature = Self.delegated
        entry.sequence = .max
        let line = try JSONCoding.encode(entry).count + 1
        let longest = line * (CollectionRegistry().capacity * 5 / 4 + 1024)
        #expect(longest > 64 << 20)
        #expect(longest < StateBackup.fileLimit - (1 << 20))
    }

    @Test func `a journal of more than 64 MiB is backed up and restored`() throws {
        let rig = try Rig()
        let state = rig.path + "/state"
        let journal = [UInt8](repeating: UInt8(ascii: "x"), count: 65 << 20)
        try StateDirectory(existing: state).write(CollectionStore.journalName, journal)
        let passphrase = "correct horse battery"
        let backup = try StateBackup.make(directory: state, passphrase: passphrase, cost: .init(logN: 10))
        let path = Rig.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try StateBackup.restore(backup, passphrase: passphrase, directory: path, now: 1)
        #expect(try StateDirectory(existing: path).read(CollectionStore.journalName, limit: 66 << 20) == journal)
    }
}
