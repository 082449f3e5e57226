import ControlAPI
import CredentialStore
import Cryptography
import Foundation
import KeyAccess
import KeyAccessClient
import Testing

@testable import ControlPlane

/// The box's device key: who gets what of it.
@Suite(.timeLimit(.minutes(15)))
struct DeviceTests {
    private func box() async throws -> (stage: ControlStage, control: ControlService) {
        let stage = try ControlStage()
        try stage.write(
            """
            relay.main = { url = "rtmp://127.0.0.1:1935/live" }
            relay.bad = { secret = "device-key" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            camera.a = { source = "test:" }
            camera.b = { source = "test:", stream = "yard" }
            camera.c = { source = "test:", relay = "bad" }

            """)
        return (stage, try await stage.start())
    }

    private func device(_ control: ControlService) async throws -> DeviceKeyDocument {
        try await control.send(.get, "device").document(DeviceKeyDocument.self)
    }

    /// What the camera's unit would read, and be given, if it were started now.
    private func given(
        _ stage: ControlStage, _ camera: String
    ) throws -> (name: String?, secrets: [String: [UInt8]]) {
        let file = stage.paths.cameraFile(camera)
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
        let name = (document?["kas"] as? [String: Any])?["signingKeyFile"] as? String
        var secrets: [String: [UInt8]] = [:]
        for share in ["camera-\(camera)", "box-camera-\(camera)", "sealed-box-camera-\(camera)"] {
            let directory = "\(stage.paths.runtimeDirectory)/secret/\(share)"
            for secret in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
                secrets[secret] = Array(try Data(contentsOf: URL(filePath: "\(directory)/\(secret)")))
            }
        }
        return (name.map { String($0.dropFirst("credential:".count)) }, secrets)
    }

    private func fingerprint(_ key: [UInt8], stream: String) throws -> String? {
        let header: [UInt8] = [1, 2, 3]
        let signature = try DeviceSigner(key).sign(headerHash: Digest.sha256(header), stream: stream, issuedAt: 5)
        let facts = CollectionFacts(
            stream: stream, registeredAt: 0, newerRegistrations: 0, time: 0,
            publisher: .init(signedAt: 5, signature: signature))
        guard case .device(let fingerprint, _) = PublisherProof(facts, header: header) else { return nil }
        return fingerprint
    }

    @Test func `each camera is given a key for its own stream, and none that vouches for others`() async throws {
        let (stage, control) = try await box()
        #expect(try await device(control).fingerprint == nil)
        #expect(try given(stage, "a").name == nil)
        #expect(await control.send(.post, "device").status == 200)
        await control.core.unitJobs.settled()
        let document = try await device(control)
        let fingerprint = try #require(document.fingerprint)
        #expect(SigningIdentity.fingerprint(publicKeyPEM: document.publicKey ?? "") == fingerprint)
        #expect(document.camerasThatSign == 3)
        for (camera, stream, other) in [("a", "a", "yard"), ("b", "yard", "a")] {
            let (name, secrets) = try given(stage, camera)
            let secret = try #require(name)
            let key = try #require(secrets[secret])
            #expect(try self.fingerprint(key, stream: stream) == fingerprint)
            #expect(try self.fingerprint(key, stream: other) == nil)
            #expect(secrets.count == 1)
        }
        // A file that names the device key as something else gets it no further.
        #expect(try given(stage, "c").secrets["device-key"] == nil)
        // Nothing that is shown or stored in clear holds a private key.
        #expect(!(document.publicKey ?? "").contains("PRIVATE"))
        let state = try String(contentsOfFile: stage.paths.device, encoding: .utf8)
        #expect(!state.contains("PRIVATE"))
        #expect(await control.send(.post, "device").status == 409)
    }

    @Test func `a stream that is named again, and a camera that comes later, get keys of their own`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "device").status == 200)
        let known = try given(stage, "b").name
        let before = try #require(known)
        try stage.write(
            """
            relay.main = { url = "rtmp://127.0.0.1:1935/live" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            camera.b = { source = "test:", stream = "garden" }
            camera.d = { source = "test:" }

            """)
        // A new process, which has seen nothing of what was before.
        let again = try await stage.start()
        await again.core.tick()
        for _ in 0..<200 where try given(stage, "d").name == nil { try await Task.sleep(for: .milliseconds(20)) }
        await again.core.unitJobs.settled()
        let expected = try await device(again).fingerprint
        for (camera, stream) in [("b", "garden"), ("d", "d")] {
            let (name, _) = try given(stage, camera)
            #expect(name != nil && name != before)
            let key = try #require(
                try stage.makeCredentials().reveal(name: name ?? "", scope: "camera-\(camera)"))
            #expect(try fingerprint(key, stream: stream) == expected)
        }
        let names = try stage.makeCredentials().names(scope: "camera-b")
        #expect(!names.contains(before), "the key for the stream of before is gone")
    }

    @Test func `a camera that is renamed signs from its first frame on, and starts once`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "cameras", #"{"id":"e","source":"test:"}"#).status == 201)
        #expect(await control.send(.post, "device").status == 200)
        await control.core.unitJobs.settled()
        let expected = try await device(control).fingerprint
        let known = try given(stage, "e").name
        #expect(known != nil)
        for (from, to, stream) in [("e", "f", "e"), ("f", "g", "g")] {
            let body = #"{"id":"\#(to)","stream":"\#(stream)"}"#
            #expect(await control.send(.post, "cameras/\(from)/rename", body).status == 200)
            let (given, secrets) = try given(stage, to)
            let name = try #require(given)
            let key = try #require(secrets[name])
            #expect(try fingerprint(key, stream: stream) == expected)
            // There is none for the stream of before.
            #expect(try stage.makeCredentials().names(scope: "camera-\(to)") == [name])
            #expect((name == known) == (stream == "e"))
            for _ in 0..<3 { await control.core.tick() }
            await control.core.unitJobs.settled()
            #expect(stage.units.calls(of: to) == ["start"])
        }
    }

    @Test func `the next key takes over on request, and the one before is gone`() async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, "device/next").status == 404)
        #expect(await control.send(.post, "device").status == 200)
        #expect(await control.send(.post, "device/switch").status == 404)
        let first = try await device(control)
        #expect(await control.send(.post, "device/next").status == 200)
        let waiting = try await device(control)
        #expect(waiting.fingerprint == first.fingerprint && waiting.nextFingerprint != nil)
        // Asked twice, it stays the same: it may be at the KAS already.
        #expect(await control.send(.post, "device/next").status == 200)
        #expect(try await device(control).nextFingerprint == waiting.nextFingerprint)
        let again = try await stage.start()
        #expect(await again.send(.post, "device/switch").status == 200)
        await again.core.unitJobs.settled()
        let after = try await device(again)
        #expect(after.fingerprint == waiting.nextFingerprint && after.nextFingerprint == nil)
        let (name, _) = try given(stage, "a")
        let key = try #require(try stage.makeCredentials().reveal(name: name ?? "", scope: "camera-a"))
        #expect(try fingerprint(key, stream: "a") == after.fingerprint)
        #expect(try stage.makeCredentials().names(scope: "box") == ["device-key"])

        #expect(await again.send(.delete, "device").status == 204)
        #expect(try await device(again).fingerprint == nil && given(stage, "a").name == nil)
        #expect(try stage.makeCredentials().names(scope: "box").isEmpty)
        #expect(try stage.makeCredentials().names(scope: "camera-a").isEmpty)
    }
}
