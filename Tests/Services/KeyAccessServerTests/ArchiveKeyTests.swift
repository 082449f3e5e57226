import Archive
import Foundation
import KeyAccess
import KeyAccessClient
import NanoTDF
import Settings
import TDF
import Testing
import Wire

@testable import KeyAccessServer

/// The key of an archive, from the KAS that it was wrapped for, over its socket.
@Suite(.timeLimit(.minutes(15))) struct ArchiveKeyTests {
    private static let plaintext = [UInt8](repeating: 3, count: 3000)

    /// An archive for the KAS at that port, which was asked for its key.
    private func archive(
        _ rig: Rig, port: Int, stream: String? = "door", attributes: [String] = [], dissemination: [String] = []
    ) async throws -> ArchiveReader {
        let key = try await KASArchiveKey.fetch(KASConfiguration(url: "http://127.0.0.1:\(port)"))
        #expect(key.url == "http://127.0.0.1:\(port)/kas")
        #expect(key.kid == rig.store.ring.rsa.first?.kid)
        let path = Rig.temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = try ArchiveWriter(
            path + "/film.tdf",
            recipient: TDFRecipient(url: key.url, kid: key.kid, publicKeyPEM: key.publicKeyPEM),
            policy: PlaintextPolicy(
                stream: stream, dataAttributes: attributes, dissemination: dissemination), segmentSize: 1000)
        try writer.write(Self.plaintext[...])
        try writer.finish(at: rig.time.seconds)
        return try ArchiveReader(path + "/film.tdf")
    }

    private func plaintext(_ archive: ArchiveReader, port: Int, token: String?) async throws -> [UInt8] {
        let client = KASRewrapClient(
            configuration: KASConfiguration(
                url: "http://127.0.0.1:\(port)", token: token.map { .value($0) } ?? .none))
        let encryption = archive.manifest.encryptionInformation
        let key = try await client.rewrap(archive: encryption.keyAccess[0], policy: encryption.policy)
        var plaintext: [UInt8] = []
        try archive.opened(key).read { (bytes) throws(ArchiveError) in plaintext += bytes }
        return plaintext
    }

    private func refusal(_ archive: ArchiveReader, port: Int, token: String?) async throws -> KeyAccessError? {
        do {
            _ = try await plaintext(archive, port: port, token: token)
            return nil
        } catch let error as KeyAccessError {
            return error
        }
    }

    private func running(_ body: (Rig, Int) async throws -> Void) async throws {
        let rig = try Rig(now: Int64(Date().timeIntervalSince1970))
        rig.time.followSystem()
        _ = try await rig.running { port in try await body(rig, port) }
    }

    @Test func `the key of one of profile F has 16 bytes, and comes to who may see the stream`() async throws {
        try await running { rig, port in
            let fetched = try await KASArchiveKey.fetch(KASConfiguration(url: "http://127.0.0.1:\(port)"))
            let path = Rig.temporaryPath()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let writer = try CBCArchiveWriter(
                path + "/film.tdf",
                recipient: TDFRecipient(url: fetched.url, kid: fetched.kid, publicKeyPEM: fetched.publicKeyPEM),
                policy: PlaintextPolicy(stream: "door"))
            try writer.write(Self.plaintext[...])
            try writer.finish(at: rig.time.seconds)
            let archive = try CBCArchiveReader(path + "/film.tdf")
            let encryption = archive.manifest.encryptionInformation
            func key(_ token: String?) async throws -> ContentKey {
                let client = KASRewrapClient(
                    configuration: KASConfiguration(
                        url: "http://127.0.0.1:\(port)", token: token.map { .value($0) } ?? .none))
                return try await client.rewrapContentKey(archive: encryption.keyAccess[0], policy: encryption.policy)
            }
            var plaintext: [UInt8] = []
            try archive.opened(try await key(try rig.accessToken(streams: ["door"]))).read {
                (bytes) throws(ArchiveError) in plaintext += bytes
            }
            #expect(plaintext == Self.plaintext)
            let other = try rig.accessToken(streams: ["yard"])
            await #expect(throws: KeyAccessError.self) { _ = try await key(other) }
            await #expect(throws: KeyAccessError.self) { _ = try await key(nil) }
        }
    }

    @Test func `a film of a stream is for those who may see the stream, and one of none for every viewer`() async throws
    {
        try await running { rig, port in
            let archive = try await archive(rig, port: port)
            for streams in [["door"], ["d*"], ["*"]] {
                let token = try rig.accessToken(streams: streams)
                #expect(try await plaintext(archive, port: port, token: token) == Self.plaintext, "\(streams)")
            }
            for streams in [["yard"], []] {
                let token = try rig.accessToken(streams: streams)
                guard case .denied = try await refusal(archive, port: port, token: token) else {
                    Issue.record("it was given for \(streams)")
                    continue
                }
            }
            let free = try await self.archive(rig, port: port, stream: nil)
            let token = try rig.accessToken(streams: ["yard"])
            #expect(try await plaintext(free, port: port, token: token) == Self.plaintext)
        }
    }

    @Test func `every attribute has to be granted, and the subject named`() async throws {
        try await running { rig, port in
            let archive = try await archive(
                rig, port: port, attributes: ["https://example.net/attr/role/value/family"],
                dissemination: ["alice"])
            let attributes = ["https://example.net/attr/role/value/family", "https://example.net/attr/x/value/y"]
            let permitted = try rig.accessToken(subject: "alice", attributes: attributes)
            #expect(try await plaintext(archive, port: port, token: permitted) == Self.plaintext)
            for token in [
                try rig.accessToken(subject: "alice"), try rig.accessToken(subject: "bob", attributes: attributes),
            ] {
                guard case .denied = try await refusal(archive, port: port, token: token) else {
                    Issue.record("it was given")
                    continue
                }
            }
        }
    }

    @Test func `without a token, or with one for publishers, there is no key`() async throws {
        try await running { rig, port in
            let archive = try await archive(rig, port: port)
            guard case .status(401, _) = try await refusal(archive, port: port, token: nil) else {
                Issue.record("no token")
                return
            }
            guard
                case .status(403, _) = try await refusal(
                    archive, port: port, token: try rig.accessToken([Scope.publish]))
            else {
                Issue.record("kas.publish")
                return
            }
        }
    }

    @Test func `with another policy, another binding or another key there is none`() async throws {
        try await running { rig, port in
            let archive = try await archive(rig, port: port)
            let encryption = archive.manifest.encryptionInformation
            let client = KASRewrapClient(
                configuration: KASConfiguration(
                    url: "http://127.0.0.1:\(port)", token: .value(try rig.accessToken())))
            let policy = Base64.encode(Array(#"{"uuid":"0","body":{"dataAttributes":[],"dissem":[]}}"#.utf8))
            var unbound = encryption.keyAccess[0]
            unbound.policyBinding = nil
            var other = encryption.keyAccess[0]
            other.wrappedKey = Base64.encode([UInt8](repeating: 7, count: 256))
            for (object, policy) in [
                (encryption.keyAccess[0], policy), (unbound, encryption.policy), (other, encryption.policy),
            ] {
                do throws(KeyAccessError) {
                    _ = try await client.rewrap(archive: object, policy: policy)
                    Issue.record("it was given")
                } catch {
                    guard case .denied = error else {
                        Issue.record("\(error)")
                        continue
                    }
                }
            }
        }
    }
}
