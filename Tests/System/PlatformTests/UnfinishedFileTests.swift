import Foundation
import Testing

@testable import Platform

struct UnfinishedFileTests {
    private final class Place {
        let directory = NSTemporaryDirectory() + "watchbox-unfinished-" + UUID().uuidString
        init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }
        var path: String { directory + "/film" }
        var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }
        var content: [UInt8]? { (try? Data(contentsOf: URL(filePath: path))).map { Array($0) } }
    }

    @Test func `it has its name when it is whole, with what was written over`() throws {
        let place = try Place()
        let file = try UnfinishedFile(place.path)
        try file.append([0, 0, 3, 4])
        try file.append([5])
        #expect(place.content == nil)
        try file.overwrite([1, 2], at: 0)
        try file.finish(replaces: false)
        #expect(place.content == [1, 2, 3, 4, 5])
        #expect(place.files == ["film"])
        #expect(file.size == 5)
    }

    @Test func `whoever lets go of it leaves nothing behind`() throws {
        let place = try Place()
        do {
            let file = try UnfinishedFile(place.path)
            try file.append([1])
            #expect(place.files.count == 1)
        }
        #expect(place.files == [])
    }

    @Test func `what is written to its descriptor is in it, whatever has its name meanwhile`() throws {
        let place = try Place()
        let victim = place.directory + "/victim"
        try Data([9]).write(to: URL(filePath: victim))
        let file = try UnfinishedFile(place.path)
        try FileManager.default.removeItem(atPath: file.temporary)
        try FileManager.default.createSymbolicLink(atPath: file.temporary, withDestinationPath: victim)
        #expect(write(file.descriptor, [UInt8]([1, 2]), 2) == 2)
        var bytes: [UInt8] = [0, 0]
        let count = pread(file.descriptor, &bytes, 2, 0)
        #expect(count == 2 && bytes == [1, 2])
        #expect(Array(try Data(contentsOf: URL(filePath: victim))) == [9])
    }

    @Test(arguments: [false, true])
    func `a file of that name is replaced when that is wanted`(replaces: Bool) throws {
        let place = try Place()
        try Data([9]).write(to: URL(filePath: place.path))
        do {
            let file = try UnfinishedFile(place.path)
            try file.append([1])
            if replaces {
                try file.finish(replaces: true)
            } else {
                #expect(throws: FileFailure(call: "link", path: place.path, number: EEXIST)) {
                    try file.finish(replaces: false)
                }
            }
        }
        #expect(place.content == [replaces ? 1 : 9])
        if replaces {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(place.files == ["film"])
    }

    @Test func `a name may be as long as names can be`() throws {
        let place = try Place()
        let path = place.directory + "/" + String(repeating: "n", count: 255)
        let file = try UnfinishedFile(path)
        try file.append([1])
        try file.finish(replaces: false)
        #expect(place.files == [String(repeating: "n", count: 255)])
    }

    @Test func `a directory that is not there is said`() throws {
        #expect(throws: FileFailure(call: "open", path: "/no/such/film", number: ENOENT)) {
            try UnfinishedFile("/no/such/film")
        }
    }
}

struct RandomAccessFileTests {
    @Test func `any part is read, and no more than there was`() throws {
        let path = NSTemporaryDirectory() + "watchbox-random-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(0..<100).write(to: URL(filePath: path))
        let file = try RandomAccessFile(path)
        #expect(file.size == 100)
        #expect(try file.read(10..<13) == [10, 11, 12])
        #expect(try file.read(100..<100) == [])
        try Data(0..<50).write(to: URL(filePath: path))
        #expect(throws: RandomAccessFile.Failure.cut(path: path)) { try file.read(40..<60) }
    }

    @Test func `what is no plain file is not read`() {
        #expect(throws: RandomAccessFile.Failure.notAFile(path: "/dev/null")) { try RandomAccessFile("/dev/null") }
        #expect(throws: RandomAccessFile.Failure.notAFile(path: "/tmp")) { try RandomAccessFile("/tmp") }
        #expect(
            throws: RandomAccessFile.Failure.system(FileFailure(call: "open", path: "/no/such", number: ENOENT))
        ) { try RandomAccessFile("/no/such") }
    }
}
