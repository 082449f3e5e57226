import Glibc
import Testing

@testable import Systemd

/// Entries need a journal that systemd wrote: those are read in the systemd rig. Here: what is asked of libsystemd is
/// accepted by it, and what must be refused is.
@Suite(.timeLimit(.minutes(15)))
struct JournalReaderTests {
    private final class Folder: Sendable {
        let path: String
        init() throws {
            var template = Array("/tmp/watchbox-journal-XXXXXX".utf8CString)
            try #require(mkdtemp(&template) != nil)
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        deinit {
            unlink("\(path)/system.journal")
            rmdir(path)
        }
    }

    private func query(_ change: (inout JournalQuery) -> Void = { _ in }) -> JournalQuery {
        var query = JournalQuery()
        change(&query)
        return query
    }

    @Test func `a journal without entries has none`() throws {
        let folder = try Folder()
        let full = query {
            $0.units = ["watchbox-camera@front.service", "watchbox-relay.service"]
            $0.camera = "front"
            $0.code = "WB-1001"
            $0.maximumPriority = 4
            $0.sinceMicroseconds = 1
            $0.last = 10_000
        }
        for query in [query(), full, query { $0.last = 0 }] {
            #expect(try JournalReader.read(query, from: JournalHandle(directory: folder.path)) == [])
        }
    }

    @Test func `a file that is not a journal is skipped`() throws {
        let folder = try Folder()
        let descriptor = open("\(folder.path)/system.journal", O_WRONLY | O_CREAT, 0o600)
        let garbage = [UInt8](repeating: 0xA5, count: 8192)
        try #require(write(descriptor, garbage, garbage.count) == garbage.count)
        close(descriptor)
        #expect(try JournalReader.read(query(), from: JournalHandle(directory: folder.path)) == [])
    }

    @Test func `an invalid cursor is refused`() throws {
        let folder = try Folder()
        #expect(throws: SystemdError.invalid("journal cursor")) {
            try JournalReader.read(query { $0.afterCursor = "here" }, from: JournalHandle(directory: folder.path))
        }
    }

    @Test func `a directory that is not there`() {
        #expect(throws: SystemdError.self) {
            try JournalReader.read(query(), from: JournalHandle(directory: "/tmp/watchbox-no-journal"))
        }
    }

    private static let badQueries: [(SystemdError, JournalQuery)] = {
        func bad(_ error: String, _ change: (inout JournalQuery) -> Void) -> (SystemdError, JournalQuery) {
            var query = JournalQuery()
            change(&query)
            return (.invalid(error), query)
        }
        return [
            bad("unit name \"../x\"") { $0.units = ["../x"] },
            bad("more than 64 units in a journal query") { $0.units = .init(repeating: "a.service", count: 65) },
            bad("journal match longer than 256 bytes") { $0.camera = String(repeating: "a", count: 257) },
            bad("journal match longer than 256 bytes") { $0.code = String(repeating: "a", count: 257) },
            bad("journal priority 8 is not 0 to 7") { $0.maximumPriority = 8 },
            bad("journal priority -1 is not 0 to 7") { $0.maximumPriority = -1 },
            bad("10001 journal entries: 0 to 10000 can be read") { $0.last = 10_001 },
            bad("-1 journal entries: 0 to 10000 can be read") { $0.last = -1 },
            bad("journal cursor of 0 bytes") { $0.afterCursor = "" },
            bad("journal cursor of 513 bytes") { $0.afterCursor = String(repeating: "a", count: 513) },
            bad("journal cursor of 3 bytes") { $0.afterCursor = "a\0b" },
        ]
    }()

    @Test(arguments: badQueries)
    func `a bad query is refused before the journal is opened`(error: SystemdError, query: JournalQuery) async {
        await #expect(throws: error) { try await JournalReader.read(query) }
        await #expect(throws: error) { for try await _ in JournalReader.follow(query) {} }
    }

    @Test func `followers whose consumers went away make room for others`() async throws {
        let folder = try Folder()
        for _ in 0..<2 {
            try await withThrowingTaskGroup { group in
                for _ in 0..<JournalReader.followerLimit {
                    group.addTask {
                        var iterator = JournalReader.follow(JournalQuery(), directory: folder.path).makeAsyncIterator()
                        _ = try? await iterator.next()
                    }
                }
                while JournalReader.followerCount < JournalReader.followerLimit {
                    try await Task.sleep(for: .milliseconds(5))
                }
                await #expect(
                    throws: SystemdError.unavailable("\(JournalReader.followerLimit) follow the journal already")
                ) {
                    for try await _ in JournalReader.follow(JournalQuery(), directory: folder.path) {}
                }
                let (error, query) = Self.badQueries[0]
                await #expect(throws: error) { for try await _ in JournalReader.follow(query) {} }
                group.cancelAll()
            }
            while JournalReader.followerCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }
}
