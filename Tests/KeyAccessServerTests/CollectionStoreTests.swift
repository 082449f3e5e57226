import Foundation
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
        // 80 MiB of what is no registration any more, and lines that are none at all.
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
}
