import Foundation
import Glibc
import Testing

@testable import Platform

final class SmallFileTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-\(UUID().uuidString)").path

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = "\(directory)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func `what is longer than the limit is cut`() throws {
        let path = try write("long", String(repeating: "x", count: 100_000))
        #expect(try SmallFile.read(path, atMost: 40_000).count == 40_000)
        #expect(try SmallFile.read(path).count == 100_000)
    }

    @Test func `a missing file and one that is refused are told apart`() throws {
        #expect(throws: SmallFile.Failure.missing) { _ = try SmallFile.read("\(directory)/none") }
        let file = try write("file", "x")
        #expect(throws: SmallFile.Failure.missing) { _ = try SmallFile.read("\(file)/below") }
        #expect(throws: SmallFile.Failure.refused(errno: EISDIR)) { _ = try SmallFile.read(directory) }
        #expect(SmallFile.text("\(directory)/none") == nil)
    }

    @Test func `a pipe in place of a file is not waited for`() throws {
        let path = "\(directory)/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try SmallFile.read(path) == [])
    }

    @Test func `lines and numbers are read without what surrounds them`() throws {
        #expect(SmallFile.line(try write("model", " Raspberry Pi\0\n")) == "Raspberry Pi")
        #expect(SmallFile.number(try write("number", "-42\n")) == -42)
        #expect(SmallFile.number(try write("word", "4 2\n")) == nil)
        #expect(SmallFile.names(in: directory) == ["model", "number", "word"])
        #expect(SmallFile.names(in: "\(directory)/none") == [])
    }

    @Test func `a thread of its own gives its value, also when many are requested`() async {
        let sum = await withTaskGroup { group in
            for number in 1...32 { group.addTask { await OwnThread.value { number } ?? 0 } }
            return await group.reduce(0, +)
        }
        #expect(sum == 32 * 33 / 2)
    }
}
