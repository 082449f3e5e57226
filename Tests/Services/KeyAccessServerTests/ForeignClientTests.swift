import Foundation
import KeyAccess
import Testing
import Wire

@testable import KeyAccessServer

/// PyPI's otdf-python as a client: Connect, protobuf, gzip, RSA client key, RS256 without jti.
@Suite(
    .enabled(
        if: OtdfPython.interpreter != nil,
        "WATCHBOX_OTDF_PYTHON names no Python that has otdf-python 0.11.0 (`make test` installs one)"),
    .timeLimit(.minutes(15)))
struct ForeignClientTests {
    @Test func `otdf-python gets the public key, the keys it may have, and no other`() async throws {
        let now = Int64(Date().timeIntervalSince1970)
        let rig = try Rig(now: now)
        let registered = try rig.sealedHeader()
        let denied = try rig.sealedHeader(dissemination: ["somebody else"])
        for header in [registered, denied] { try rig.register(header: header, stream: "front") }
        let unregistered = try rig.sealedHeader()
        let token = try rig.accessToken(streams: ["front"])
        _ = try await rig.running { port in
            let url = "http://127.0.0.1:\(port)/kas"
            let key: OtdfPython.PublicKey = try await OtdfPython.run("public-key", OtdfPython.Request(url: url))
            #expect(key.kid == "e1")
            #expect(key.publicKey == (try rig.store.publicKeyPEM(.p256)))
            rig.time.followSystem()
            let headers = [registered, denied, unregistered, registered].map { Hexadecimal.encode($0) }
            let reply: OtdfPython.Keys = try await OtdfPython.run(
                "rewrap", OtdfPython.Request(url: url, token: token, headers: headers))
            let expected = Hexadecimal.encode(try rig.expectedKey(registered))
            #expect(reply.keys == [expected, nil, nil, expected], "\(rig.auditLines)")
            let refused: OtdfPython.Keys = try await OtdfPython.run(
                "rewrap", OtdfPython.Request(url: url, token: "none", headers: [headers[0]]))
            #expect(refused.keys == [nil])
        }
    }
}

private enum OtdfPython {
    struct Request: Encodable {
        var url: String
        var token: String?
        var headers: [String]?
    }
    struct PublicKey: Decodable {
        let kid: String
        let publicKey: String
    }
    struct Keys: Decodable {
        let keys: [String?]
    }
    struct Failure: Error {
        let status: Int32
        let message: String
    }

    static var interpreter: String? {
        let path = ProcessInfo.processInfo.environment["WATCHBOX_OTDF_PYTHON"] ?? ""
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    /// Waits without holding a thread: the service under test needs it.
    static func run<Reply: Decodable>(_ command: String, _ request: some Encodable) async throws -> Reply {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let directory = URL(filePath: Rig.temporaryPath())
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = ["request", "reply", "errors"].map { directory.appending(path: $0) }
        try JSONEncoder().encode(request).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(interpreter))
        process.arguments = [tests.appending(path: "Rigs/kas/otdf_kas_client.py").path(), command]
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        process.terminationHandler = { continuation.yield($0.terminationStatus) }
        try process.run()
        var iterator = ends.makeAsyncIterator()
        let status = await iterator.next() ?? -1
        guard status == 0 else {
            throw Failure(
                status: status, message: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
        }
        return try JSONDecoder().decode(Reply.self, from: Data(contentsOf: files[1]))
    }
}
