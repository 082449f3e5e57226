import Cryptography
import Foundation
import KeyAccess
import KeyAccessClient
import NanoTDF
import Testing
import Wire

@testable import KeyAccessServer

/// A publisher whose device key is registered. The attacker has its token, and whatever went over the wire.
@Suite struct DeviceTests {
    private let client = TestClient()
    private let device = try! ECPrivateKey.generate(.p256)

    private func rig() throws -> Rig {
        let rig = try Rig()
        try rig.add(device)
        return rig
    }

    private func send(
        _ rig: Rig, _ registration: CollectionRegistration, streams: [String] = ["*"]
    ) throws -> ServiceAnswer {
        try rig.post(
            Route.collections, JSONCoding.encode(registration),
            token: rig.accessToken([Scope.publish], subject: "box", streams: streams))
    }

    private func facts(_ rig: Rig, _ header: [UInt8]) throws -> CollectionFacts? {
        try rig.post(
            Route.rewrap, client.request(client.body([header]), now: rig.time.seconds), token: rig.accessToken(),
            wantsFacts: true
        ).rewrap.watchbox
    }

    private func signature(
        _ rig: Rig, _ header: [UInt8], by key: ECPrivateKey? = nil, stream: String = "front", at issuedAt: Int64? = nil
    ) throws -> DeviceSignature {
        let key = key ?? device
        let statement = DeviceSignature.statement(
            headerHash: Digest.sha256(header), stream: stream, issuedAt: issuedAt ?? rig.time.seconds * 1000)
        return DeviceSignature(
            key: key.publicKey.compressed(), signature: try CanonicalES256.sign(statement, with: key))
    }

    @Test func `a stolen token without the device registers nothing`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader()
        var registration = try rig.registration(header: header, stream: "front")
        var answer = try send(rig, registration)
        #expect(answer.status == 403 && answer.text.contains("not signed"), "\(answer.text)")
        #expect(rig.auditLines.contains { $0.contains("not signed by the publisher's device") })
        // Nor with a key of the thief's own.
        registration.signature = try signature(rig, header, by: .generate(.p256))
        answer = try send(rig, registration)
        #expect(answer.status == 403 && answer.text.contains("not registered here"), "\(answer.text)")
        #expect(try facts(rig, header) == nil)
        // The box itself.
        registration.signature = try signature(rig, header)
        #expect(try send(rig, registration).status == 200)
        let reported = try #require(try facts(rig, header)?.publisher)
        #expect(reported.signature == registration.signature && reported.signedAt == registration.issuedAt)
    }

    @Test func `a signature of another header, stream or time is worth nothing`() throws {
        let rig = try rig()
        let (header, other) = (try rig.sealedHeader(), try rig.sealedHeader())
        var registration = try rig.registration(header: header, stream: "front")
        let wrong = [
            try signature(rig, other), try signature(rig, header, stream: "fron"),
            try signature(rig, header, at: registration.issuedAt - 1),
        ]
        for signature in wrong {
            registration.signature = signature
            let answer = try send(rig, registration)
            #expect(answer.status == 403 && answer.text.contains("does not hold"), "\(answer.text)")
        }
        // What was overheard, sent again when its time is over.
        registration.signature = try signature(rig, header)
        #expect(try send(rig, registration).status == 200)
        rig.time.seconds += 301
        #expect(try send(rig, registration).status == 400)
        var later = try rig.registration(header: header, stream: "front")
        later.signature = registration.signature
        #expect(try send(rig, later).status == 403)
    }

    @Test func `the other spelling of a signature is refused`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader()
        var registration = try rig.registration(header: header, stream: "front")
        var good = try signature(rig, header)
        let bytes = try Base64.decode(good.signature)
        let twin = CanonicalES256.negated(signature: bytes)
        // It is one: a reader that takes both takes it.
        let statement = DeviceSignature.statement(
            headerHash: Digest.sha256(header), stream: "front", issuedAt: registration.issuedAt)
        #expect(device.publicKey.verifyES256(twin, message: statement) && twin != bytes)
        good.signature = Base64.encode(twin)
        registration.signature = good
        #expect(try send(rig, registration).status == 403)
        for number in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)] {
            registration.signature?.signature = Base64.encode(number + number)
            #expect(try send(rig, registration).status == 403)
        }
    }

    @Test func `keys of other curves and signatures of other sizes are refused`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader()
        var registration = try rig.registration(header: header, stream: "front")
        let good = try signature(rig, header)
        func status(_ change: (inout DeviceSignature) throws -> Void) throws -> Int {
            var signature = good
            try change(&signature)
            registration.signature = signature
            return try send(rig, registration).status
        }
        let long = try ECPrivateKey.generate(.p384)
        let statement = DeviceSignature.statement(
            headerHash: Digest.sha256(header), stream: "front", issuedAt: registration.issuedAt)
        #expect(
            try status {
                $0 = DeviceSignature(key: long.publicKey.compressed(), signature: try long.signES256(statement))
            } == 403)
        #expect(try status { $0.key = Base64.encode(device.publicKey.uncompressed()) } == 403)
        #expect(try status { $0.key = Base64.encode([2] + [UInt8](repeating: 0xFF, count: 32)) } == 403)
        #expect(try status { $0.key = "" } == 403)
        #expect(try status { $0.signature = "" } == 403)
        #expect(try status { $0.signature = "???" } == 403)
        #expect(try status { $0.signature += "AAAA" } == 403)
        #expect(try status { $0.signature = String(repeating: "A", count: 60_000) } == 403)
        #expect(try status { $0.delegation = .init(device: [], signature: []) } == 403)
        #expect(try status { _ in } == 200)
        // Longer than any registration.
        registration.signature?.signature = String(repeating: "A", count: 1 << 18)
        #expect(try send(rig, registration).status == 400)
    }

    @Test func `a camera's key signs for its own stream alone`() throws {
        let rig = try Rig()
        let identity = try SigningIdentity.generate()
        let register = try AccessRegister(store: rig.store)
        let fingerprint = try register.add(
            devicePEM: identity.publicKeyPEM, of: rig.holder(), now: rig.time.seconds)
        #expect(fingerprint == identity.fingerprint)
        rig.endpoints.maintain()
        let signer = try DeviceSigner(identity.keyForStream("front"))
        func answer(_ stream: String, _ signer: DeviceSigner) throws -> ServiceAnswer {
            let header = try rig.sealedHeader(stream: stream)
            var registration = try rig.registration(header: header, stream: stream)
            registration.signature = try signer.sign(
                headerHash: Digest.sha256(header), stream: stream, issuedAt: registration.issuedAt)
            return try send(rig, registration)
        }
        #expect(try answer("front", signer).status == 200)
        // Whoever broke into the camera of the door has a token for all streams, say, and not the device.
        #expect(try answer("door", signer).text.contains("does not hold"))
        // Another box vouches for its own keys.
        let other = try DeviceSigner(SigningIdentity.generate().keyForStream("front"))
        #expect(try answer("front", other).text.contains("not registered here"))
    }

    @Test func `two keys serve at once, a third has no place, and a removed one is over`() throws {
        let rig = try rig()
        let (next, third) = (try ECPrivateKey.generate(.p256), try ECPrivateKey.generate(.p256))
        try rig.add(next)
        try rig.add(next)
        #expect(throws: DeviceKeys.Fault.holderFull(limit: 2)) { try rig.add(third) }
        func status(_ key: ECPrivateKey) throws -> Int {
            let header = try rig.sealedHeader()
            var registration = try rig.registration(header: header, stream: "front")
            registration.signature = try signature(rig, header, by: key)
            return try send(rig, registration).status
        }
        #expect(try status(device) == 200 && status(next) == 200 && status(third) == 403)
        let register = try AccessRegister(store: rig.store)
        #expect(try register.remove(deviceFingerprint: device.publicKey.fingerprint, of: rig.holder()) == 1)
        #expect(throws: DeviceKeys.Fault.unknown) {
            try register.remove(deviceFingerprint: device.publicKey.fingerprint, of: rig.holder())
        }
        rig.endpoints.maintain()
        #expect(try status(device) == 403 && status(next) == 200)
    }

    /// Grants, revocations and devices are changed by different tools at the same time.
    @Test func `a device and what it signed outlive a restart and a change of grants`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader()
        var registration = try rig.registration(header: header, stream: "front")
        registration.signature = try signature(rig, header)
        #expect(try send(rig, registration).status == 200)
        let reported = try facts(rig, header)?.publisher
        #expect(reported != nil)
        try AccessRegister(store: rig.store).grant(
            .init(holder: .init(issuer: "i", subject: "s"), stream: "front"), now: rig.time.seconds)
        rig.endpoints.maintain()
        let again = try Rig(
            restoring: StateBackup.make(
                directory: rig.path + "/state", passphrase: "a long passphrase", cost: .init(logN: 10)),
            passphrase: "a long passphrase")
        #expect(try again.register(header: again.sealedHeader(), stream: "front").status == 403)
        #expect(try facts(again, header)?.publisher == reported)
    }

    @Test func `whoever has no device key here goes on as before, and what he signs is not passed on`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader(stream: "door")
        var registration = try rig.registration(header: header, stream: "door", publisher: "hall")
        registration.signature = try signature(rig, header, stream: "door")
        let answer = try rig.post(
            Route.collections, JSONCoding.encode(registration),
            token: rig.accessToken([Scope.publish], subject: "hall", streams: ["door"]))
        #expect(answer.status == 200)
        #expect(try facts(rig, header) != nil && facts(rig, header)?.publisher == nil)
    }

    @Test func `a damaged list of devices stops the KAS, and does not open it`() throws {
        let rig = try rig()
        let registration = try JSONCoding.encode(rig.registration(header: rig.sealedHeader(), stream: "front"))
        let token = try rig.accessToken([Scope.publish], subject: "box")
        try writeFile(rig.path + "/state/devices.json", Array("{".utf8))
        rig.endpoints.maintain()
        #expect(rig.post(Route.collections, registration, token: token).status == 403)
        #expect(throws: StateDirectoryError.self) { try AccessRegister(store: rig.store) }
    }

    @Test func `the list of devices has an end`() throws {
        var devices = DeviceKeys()
        for number in 0..<DeviceKeys.limit {
            try devices.add(
                [2] + [UInt8](repeating: UInt8(number & 255), count: 32), for: .init(issuer: "", subject: "\(number)"),
                now: 0)
        }
        #expect(throws: DeviceKeys.Fault.full(limit: DeviceKeys.limit)) {
            try devices.add([3] + [UInt8](repeating: 1, count: 32), for: .init(issuer: "", subject: "x"), now: 0)
        }
        #expect(throws: DeviceKeys.Fault.self) {
            var devices = DeviceKeys()
            try devices.add([3], for: .init(issuer: "", subject: "x"), now: 0)
        }
    }

    // MARK: The viewer, who trusts no one

    @Test func `a viewer verifies for himself what the KAS reports`() throws {
        let rig = try rig()
        let header = try rig.sealedHeader()
        var registration = try rig.registration(header: header, stream: "front")
        registration.signature = try signature(rig, header)
        #expect(try send(rig, registration).status == 200)
        let honest = try #require(try facts(rig, header))
        #expect(
            PublisherProof(honest, header: header)
                == .device(fingerprint: device.publicKey.fingerprint, signedAt: registration.issuedAt))
        // A KAS that hands the signature on for what was not signed.
        var lie = honest
        lie.publisher?.signedAt += 1
        #expect(PublisherProof(lie, header: header) == .invalid)
        lie = honest
        lie.stream = "door"
        #expect(PublisherProof(lie, header: header) == .invalid)
        #expect(PublisherProof(honest, header: try rig.sealedHeader()) == .invalid)
        lie = honest
        lie.publisher?.signature.key = Base64.encode(try ECPrivateKey.generate(.p256).publicKey.compressed())
        #expect(PublisherProof(lie, header: header) == .invalid)
        lie.publisher = nil
        #expect(PublisherProof(lie, header: header) == .none && PublisherProof(nil, header: header) == .none)
    }
}

extension Rig {
    func holder(_ subject: String = "box") -> AccessGrants.Holder {
        .init(issuer: KeyAccessServerConfiguration.localIssuer, subject: subject)
    }

    /// As the operator does it, beside the running service.
    func add(_ device: ECPrivateKey) throws {
        try AccessRegister(store: store).add(
            devicePEM: device.publicKey.spkiPEM(), of: holder(), now: time.seconds)
        endpoints.maintain()
    }
}
