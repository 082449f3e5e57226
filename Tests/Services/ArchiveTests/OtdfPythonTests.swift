import Cryptography
import Foundation
import TDF
import Testing
import Wire

@testable import Archive

/// PyPI's otdf-python opens what we write, and we open what it makes.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct OtdfPythonArchiveTests {
    @Test(arguments: [0, 1, 1000, 70_000])
    func `otdf-python opens what we seal, and zipfile finds the form that the page describes`(count: Int) throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let path = try stage.make(plaintext, segmentSize: 4096)
        let form: OtdfPython.Form = try OtdfPython.run("inspect", OtdfPython.Request(file: path))
        #expect(form.complaints == [])
        let opened: OtdfPython.Opened = try OtdfPython.run(
            "open", OtdfPython.Request(file: path, privateKey: try ArchiveStage.key.privateKeyPEM()))
        #expect(opened.plaintext == Hexadecimal.encode(plaintext))
        let damaged = try stage.repacked(path) { payload, _ in payload[14] ^= 1 }
        let refused: OtdfPython.Opened = try OtdfPython.run(
            "open", OtdfPython.Request(file: damaged, privateKey: try ArchiveStage.key.privateKeyPEM()))
        #expect(refused.plaintext == nil)
    }

    @Test(arguments: [0, 1, 1000, 70_000])
    func `we open what otdf-python makes`(count: Int) throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        let made: OtdfPython.Made = try OtdfPython.run(
            "make",
            OtdfPython.Request(
                file: stage.path(), publicKey: try ArchiveStage.key.publicKey.spkiPEM(),
                url: "https://kas.example.net", plaintext: Hexadecimal.encode(plaintext), segmentSize: 4096))
        #expect(made.size > count)
        #expect(try ArchiveStage.plaintext(stage.path()) == plaintext)
    }
}

private enum OtdfPython {
    struct Request: Encodable {
        var file: String
        var privateKey: String?
        var publicKey: String?
        var url: String?
        var plaintext: String?
        var segmentSize: Int?
    }
    struct Opened: Decodable {
        let plaintext: String?
    }
    struct Made: Decodable {
        let size: Int
    }
    struct Form: Decodable {
        let complaints: [String]
    }
    struct Failure: Error {
        let status: Int32
        let message: String
    }

    static var interpreter: String? {
        let path = ProcessInfo.processInfo.environment["WATCHBOX_OTDF_PYTHON"] ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func run<Reply: Decodable>(_ command: String, _ request: Request) throws -> Reply {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // Files, not pipes: neither side can block on the other.
        let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-otdf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["request", "reply", "errors"].map { directory.appending(path: $0) }
        try JSONEncoder().encode(request).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [tests.appending(path: "Rigs/tdf/otdf_archive_peer.py").path(), command]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                status: process.terminationStatus,
                message: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
        return try JSONDecoder().decode(Reply.self, from: Data(contentsOf: files[1]))
    }
}
