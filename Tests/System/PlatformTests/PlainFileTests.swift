import Foundation
import Glibc
import Testing

@testable import Platform

final class PlainFileTests {
    private let directory = NSTemporaryDirectory() + "watchbox-plain-" + UUID().uuidString
    private var path: String { "\(directory)/file" }

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test func `what is written anywhere is read again, as far as the file goes`() throws {
        let file = try PlainFile(creating: path)
        #expect(try file.size() == 0)
        try file.write([1, 2, 3, 4, 5], at: 0)
        try file.write([9], at: 2)
        try file.write([7], at: 6)
        try file.write([], at: 100)
        try file.flush()
        #expect(try file.size() == 7)
        #expect(try file.read(0..<7) == [1, 2, 9, 4, 5, 0, 7])
        #expect(try file.read(5..<90) == [0, 7])
        #expect(try file.read(7..<8) == [] && file.read(90..<91) == [])
        try file.truncate(to: 3)
        let again = try PlainFile(opening: path)
        #expect(try again.read(0..<10) == [1, 2, 9])
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    @Test func `it is its user's own while nobody else can write to it, and it has one name`() throws {
        let file = try PlainFile(creating: path)
        #expect(try file.isOwn())
        for mode: mode_t in [0o620, 0o602] {
            #expect(chmod(path, mode) == 0)
            #expect(try !file.isOwn())
        }
        #expect(chmod(path, 0o644) == 0)
        #expect(try file.isOwn())
        #expect(link(path, path + ".other") == 0)
        #expect(try !file.isOwn())
    }

    @Test func `one has it, until that one lets go of it`() throws {
        var first: PlainFile? = try PlainFile(creating: path)
        let second = try PlainFile(opening: path)
        #expect(try first?.lock() == true)
        #expect(try !second.lock())
        first = nil
        #expect(try second.lock())
        // Whoever has a file that has no name any more has nothing that another finds.
        let third = try PlainFile(opening: path)
        #expect(unlink(path) == 0)
        #expect(try !second.lock() && !third.lock())
        _ = try PlainFile(creating: path)
        #expect(try !second.lock())
    }

    @Test func `nothing that has the name is overwritten, or taken for a file`() throws {
        #expect(throws: FileFailure(call: "open", path: path, number: ENOENT)) { try PlainFile(opening: path) }
        _ = try PlainFile(creating: path)
        #expect(throws: FileFailure(call: "open", path: path, number: EEXIST)) { try PlainFile(creating: path) }
        let link = "\(directory)/link"
        #expect(symlink(path, link) == 0)
        #expect(throws: FileFailure(call: "open", path: link, number: ELOOP)) { try PlainFile(opening: link) }
        #expect(throws: FileFailure(call: "open", path: link, number: EEXIST)) { try PlainFile(creating: link) }
        let pipe = "\(directory)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: FileFailure(call: "open", path: pipe, number: EINVAL)) { try PlainFile(opening: pipe) }
        #expect(throws: FileFailure(call: "open", path: directory, number: EISDIR)) {
            try PlainFile(opening: directory)
        }
    }

    @Test(arguments: [FileSteps.Step.write, .truncate, .fsync])
    func `a step that fails is said`(step: FileSteps.Step) throws {
        let file = try PlainFile(creating: path)
        #expect(throws: FileFailure(call: step.call, path: path, number: ENOSPC)) {
            try FileSteps.$witness.withValue({ found, _ in found == step ? ENOSPC : nil }) {
                try file.write([1], at: 0)
                try file.truncate(to: 0)
                try file.flush()
            }
        }
    }
}
