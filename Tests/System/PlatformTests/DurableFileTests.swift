import Foundation
import Glibc
import Testing

@testable import Platform

final class DurableFileTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-\(UUID().uuidString)").path
    private var path: String { "\(directory)/file" }
    private let old = Array("what was there".utf8)
    private let new = [UInt8](repeating: 7, count: 100_000)

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try DurableFile.replace(path, with: old)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private static func failing<R>(_ step: FileSteps.Step, _ body: () throws -> R) rethrows -> R {
        try FileSteps.$witness.withValue({ found, _ in found == step ? EIO : nil }, operation: body)
    }

    @Test(arguments: FileSteps.Step.allCases.filter { $0 != .truncate && $0 != .unlink })
    func `a step that fails is reported, leaves the file whole, and nothing beside it`(step: FileSteps.Step) throws {
        let failure = #expect(throws: FileFailure.self) {
            try Self.failing(step) {
                guard step == .fchown else { return try DurableFile.replace(path, with: new) }
                let parent = open(directory, O_RDONLY | O_DIRECTORY)
                defer { close(parent) }
                try DurableFile.replace(
                    "file", in: parent, path: directory, with: new, through: ".file.new", owner: (geteuid(), getegid()))
            }
        }
        #expect(failure?.number == EIO && failure?.call == step.call)
        #expect(failure?.path.hasPrefix(directory) == true)
        #expect(SmallFile.names(in: directory) == ["file"])
        // When all is done but to flush the directory, the new one has its name, and nothing can take it back.
        #expect(try SmallFile.read(path) == (step == .fsyncDirectory ? new : old))
    }

    @Test func `what an attempt before left is in no one's way, whatever it is`() throws {
        try FileManager.default.createSymbolicLink(atPath: "\(path).new", withDestinationPath: "\(directory)/target")
        try DurableFile.replace(path, with: new)
        #expect(SmallFile.names(in: directory) == ["file"])
        #expect(try SmallFile.read(path) == new)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    @Test func `a file that is not flushed is replaced as a whole as well`() throws {
        try DurableFile.replace(path, with: new, through: "file.1", isFlushed: false)
        #expect(SmallFile.names(in: directory) == ["file"])
        #expect(try SmallFile.read(path) == new)
        #expect(throws: FileFailure(call: "open", path: "\(directory)/none/file.1", number: ENOENT)) {
            try DurableFile.replace("\(directory)/none/file", with: new, through: "file.1", isFlushed: false)
        }
    }

    @Test func `a new file overwrites nothing`() throws {
        #expect(throws: FileFailure(call: "open", path: path, number: EEXIST)) { try NewFile.write(new, to: path) }
        #expect(try SmallFile.read(path) == old)
        for step in [FileSteps.Step.open, .fchmod, .write, .fsync] {
            #expect(throws: FileFailure(call: step.call, path: "\(directory)/other", number: EIO)) {
                try Self.failing(step) { try NewFile.write(new, to: "\(directory)/other") }
            }
            #expect(SmallFile.names(in: directory) == ["file"])
        }
    }

    @Test func `what is removed may not be there, and a failure to remove it is said`() throws {
        try DurableFile.remove("\(directory)/none")
        #expect(throws: FileFailure(call: "unlink", path: path, number: EIO)) {
            try Self.failing(.unlink) { try DurableFile.remove(path) }
        }
        #expect(SmallFile.names(in: directory) == ["file"])
        try DurableFile.remove(path)
        #expect(SmallFile.names(in: directory) == [])
    }
}
