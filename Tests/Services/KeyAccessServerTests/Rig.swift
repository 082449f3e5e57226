import Cryptography
import Foundation
import KeyAccess
import Logging
import NanoTDFCryptography
import Synchronization
import Testing
import Wire

@testable import KeyAccessServer
@testable import NanoTDF

/// A service on a state directory of its own, with a clock that the test sets.
final class Rig: Sendable {
    final class Time: Sendable {
        private let state = Mutex<(seconds: Int64, nanoseconds: UInt64)>((1_800_000_000, 1))

        var seconds: Int64 {
            get {
                isReal.load(ordering: .relaxed) ? Int64(Date().timeIntervalSince1970) : state.withLock { $0.seconds }
            }
            set { state.withLock { $0.seconds = newValue } }
        }

        /// From now on it is the machine's clock, for clients that have no other.
        func followSystem() { isReal.store(true, ordering: .relaxed) }

        private let isReal = Atomic(false)

        var nanoseconds: UInt64 {
            get { state.withLock { $0.nanoseconds } }
            set { state.withLock { $0.nanoseconds = newValue } }
        }
    }

    let path: String
    let time = Time()
    let store: KeyStore
    let configuration: KeyAccessServerConfiguration
    let endpoints: KeyAccessEndpoints

    var clock: KeyAccessClock {
        KeyAccessClock(unixSeconds: { [time] in time.seconds }, monotonicNanoseconds: { [time] in time.nanoseconds })
    }

    /// Keys that all rigs start with: an RSA key takes a while to make.
    private static let template: [(name: String, bytes: [UInt8])] = {
        let path = temporaryPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let state = path + "/state"
        _ = try! KeyStore(directory: state, now: 0)
        return try! FileManager.default.contentsOfDirectory(atPath: state).map { name in
            (name, Array(try! Data(contentsOf: URL(filePath: state + "/" + name))))
        }
    }()

    /// - Parameter ownKeys: whether this one gets keys that no other has.
    init(
        ownKeys: Bool = false, now: Int64 = 1_800_000_000, restoring backup: [UInt8]? = nil, passphrase: String = "",
        _ configure: (inout KeyAccessServerConfiguration, String) throws -> Void = { _, _ in }
    )
        throws
    {
        let path = Rig.temporaryPath()
        self.path = path
        time.seconds = now
        // An initializer that throws ends without `deinit`.
        var isComplete = false
        defer { if !isComplete { try? FileManager.default.removeItem(atPath: path) } }
        if let backup {
            try StateBackup.restore(backup, passphrase: passphrase, directory: path + "/state", now: now)
        } else if !ownKeys {
            let directory = try StateDirectory(path: path + "/state")
            for file in Rig.template { try directory.write(file.name, file.bytes) }
        }
        store = try KeyStore(directory: path + "/state", now: now)
        var configuration = KeyAccessServerConfiguration(stateDirectory: path + "/state")
        configuration.auditFile = path + "/audit.jsonl"
        try configure(&configuration, path)
        self.configuration = configuration
        endpoints = try KeyAccessEndpoints(
            configuration: configuration, store: store,
            clock: KeyAccessClock(
                unixSeconds: { [time] in time.seconds }, monotonicNanoseconds: { [time] in time.nanoseconds }),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        isComplete = true
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func temporaryPath() -> String {
        let path = NSTemporaryDirectory() + "watchbox-kas-" + UUID().uuidString
        try! FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }

    /// The KAS key of the vectors, as the only one that this KAS ever had: third-party headers name no key.
    func importTestKey() throws {
        try store.importKey(
            pem: Fixtures.headerKeys.kas_private_key_pem, purpose: .p256, kid: "e7", now: time.seconds)
        let index = path + "/state/keys.json"
        var content = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: index))) as? [String: Any])
        let keys = try #require(content["keys"] as? [[String: Any]])
        content["keys"] = keys.filter { $0["purpose"] as? String != "ec:secp256r1" || $0["kid"] as? String == "e7" }
        try writeFile(index, Array(try JSONSerialization.data(withJSONObject: content)))
        try store.refresh(now: time.seconds, uptime: 0)
    }

    func accessToken(
        _ scopes: [String] = [Scope.rewrap], subject: String = "viewer", streams: [String] = ["*"],
        attributes: [String] = [], lifetime: Int64 = 3600, client: String? = nil
    ) throws -> String {
        try TokenIssuer(store: store, audience: configuration.audience).mint(
            .init(
                subject: subject, scopes: scopes, streams: streams, attributes: attributes, lifetime: lifetime,
                clientID: client), now: time.seconds)
    }

    func post(
        _ path: String, _ body: [UInt8], token: String?, contentType: String = "application/json",
        encoding: String? = nil, wantsFacts: Bool = false
    ) -> ServiceAnswer {
        var request = ServiceRequest(method: .post, path: path, address: "192.0.2.1", body: body)
        request.authorization = token.map { "Bearer \($0)" }
        request.contentType = contentType
        request.contentEncoding = encoding
        request.wantsFacts = wantsFacts
        request.authority = "127.0.0.1:8443"
        return endpoints.answer(request)
    }

    func get(_ path: String, query: [String: String] = [:], token: String? = nil, ifNoneMatch: String? = nil)
        -> ServiceAnswer
    {
        var request = ServiceRequest(method: .get, path: path, query: query, address: "192.0.2.1")
        request.authorization = token.map { "Bearer \($0)" }
        request.ifNoneMatch = ifNoneMatch
        request.authority = "127.0.0.1:8443"
        return endpoints.answer(request)
    }

    var auditLines: [String] {
        let text = (try? String(contentsOfFile: path + "/audit.jsonl", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// A registration as the maker of the header sends it; the proof is derived with the KAS's own key, which leads to
    /// the same DEK.
    /// - Parameter kid: of the KAS key that the header is for; nil: the current one.
    func registration(
        header: [UInt8], stream: String, publisher: String = "box", lifetime: Int64 = 600, kid: String? = nil,
        issuedAt: Int64? = nil, issuer: String = KeyAccessServerConfiguration.localIssuer
    ) throws -> CollectionRegistration {
        let key = try #require(store.ring.p256.first { kid == nil || $0.kid == kid })
        let point = try ECPublicKey(sec1: try NanoTDFHeader.parse(header).ephemeralPublicKey, curve: .p256)
        let proof = try PossessionKey(dek: try key.key.deriveKey(with: point, salt: KeyDerivationSalt.l1l))
        return Self.registration(
            CollectionClaim(headerBytes: header, headerHash: Digest.sha256(header), proof: proof), stream: stream,
            publisher: publisher, lifetime: lifetime, issuedAt: issuedAt ?? time.seconds * 1000, issuer: issuer)
    }

    static func registration(
        _ claim: CollectionClaim, stream: String, publisher: String, lifetime: Int64, issuedAt: Int64,
        issuer: String = KeyAccessServerConfiguration.localIssuer
    ) -> CollectionRegistration {
        let input = CollectionRegistration.proofInput(
            headerHash: claim.headerHash, stream: stream, lifetime: lifetime, issuedAt: issuedAt, issuer: issuer,
            subject: publisher)
        return CollectionRegistration(
            stream: stream, header: Base64.encode(claim.headerBytes), lifetime: lifetime, issuedAt: issuedAt,
            proof: Base64.encode(claim.proof.mac(of: input)))
    }

    @discardableResult
    func register(
        header: [UInt8], stream: String, publisher: String = "box", lifetime: Int64 = 600, kid: String? = nil
    ) throws -> ServiceAnswer {
        try post(
            Route.collections,
            JSONCoding.encode(
                registration(header: header, stream: stream, publisher: publisher, lifetime: lifetime, kid: kid)),
            token: accessToken([Scope.publish], subject: publisher, streams: [stream]))
    }

    /// A header as our own publisher makes it, and nothing that opens it: the test asks the KAS.
    func sealedHeader(
        stream: String? = "front", dataAttributes: [String] = [], dissemination: [String] = [], withKid: Bool = true
    ) throws -> [UInt8] {
        try sealer(
            stream: stream, dataAttributes: dataAttributes, dissemination: dissemination, withKid: withKid
        ).headerBytes
    }

    func sealer(
        stream: String? = "front", dataAttributes: [String] = [], dissemination: [String] = [], withKid: Bool = true
    ) throws -> CollectionSealer {
        let key = try #require(store.ring.p256.first)
        let recipient = KASRecipient(
            locator: try ResourceLocator(
                url: "https://kas.example.net/kas", keyIdentifier: withKid ? Array(key.kid.utf8) : []),
            publicKey: key.key.publicKey.compressed())
        let policy = PlaintextPolicy(stream: stream, dataAttributes: dataAttributes, dissemination: dissemination)
        return try CollectionSealer(recipient: recipient, policy: policy.encoded(), crypto: OpenSSLCrypto())
    }

    /// What the KAS should hand out, derived beside it.
    func expectedKey(_ header: [UInt8]) throws -> [UInt8] {
        let parsed = try NanoTDFHeader.parse(header)
        let key = try #require(store.ring.p256.first)
        return try key.key.deriveKey(
            with: try ECPublicKey(sec1: parsed.ephemeralPublicKey, curve: .p256),
            salt: Digest.sha256(Array("L1L".utf8)))
    }
}

/// A client of the KAS: makes request tokens and unwraps answers.
struct TestClient {
    var key = try! ECPrivateKey.generate(.p256)
    var signer = try! ECPrivateKey.generate(.p256)

    func body(_ headers: [[UInt8]], clientKey: String? = nil) throws -> RewrapRequestBody {
        RewrapRequestBody(
            clientPublicKey: try clientKey ?? key.publicKey.spkiPEM(),
            requests: headers.enumerated().map { index, header in
                RewrapPolicyRequest(
                    algorithm: "ec:secp256r1", policy: RewrapPolicy(id: "policy-\(index)", body: nil),
                    keyAccessObjects: [
                        IdentifiedKeyAccessObject(
                            keyAccessObjectId: "kao-\(index)",
                            keyAccessObject: KeyAccessObject(type: "remote", header: Base64.encode(header)))
                    ])
            })
    }

    func token(
        _ body: RewrapRequestBody, now: Int64, lifetime: Int64 = 60, id: String? = nil, algorithm: String = "ES256",
        critical: [String]? = nil
    ) throws -> String {
        let claims = RewrapRequestClaims(
            requestBody: String(decoding: try JSONCoding.encode(body), as: UTF8.self),
            issuedAt: NumericDate(seconds: now), expiresAt: NumericDate(seconds: now + lifetime), tokenID: id)
        var header = TokenHeader(algorithm: algorithm)
        header.critical = critical
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(header), claims: try JSONCoding.encode(claims))
        return JSONWebToken.compact(signingInput: input, signature: try signer.signES256(input))
    }

    func request(_ body: RewrapRequestBody, now: Int64) throws -> [UInt8] {
        try JSONCoding.encode(RewrapRequest(signedRequestToken: try token(body, now: now, id: UUID().uuidString)))
    }

    func unwrap(_ wrapped: String, session: String, salt: [UInt8] = Digest.sha256(Array("L1L".utf8))) throws -> [UInt8]
    {
        let bytes = try Base64.decode(wrapped)
        let wrapping = try key.deriveKey(with: try ECPublicKey(pem: session), salt: salt)
        return try AESGCM.open(
            key: wrapping, nonce: Array(bytes[..<12]), ciphertextAndTag: Array(bytes[12...]), tagLength: 16)
    }
}

extension ServiceAnswer {
    func json<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(type, from: Data(body))
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// Not for failures: those decode too, as an answer without results.
    var rewrap: RewrapResponse {
        get throws {
            try #require(status == 200, "\(text)")
            return try json()
        }
    }
}

func writeFile(_ path: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
    try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

enum Fixtures {
    struct HeaderKeys: Decodable, Sendable {
        struct Entry: Decodable, Sendable {
            var writer: String
            var header_b64: String
            var dek_hex: String
        }
        var kas_private_key_pem: String
        var headers: [String: Entry]
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func load<T: Decodable>(_ type: T.Type, _ name: String) -> T {
        try! JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: name)))
    }

    static let headerKeys = load(HeaderKeys.self, "captured_header_keys.json")

    static func header(of writer: String) -> [UInt8] {
        let entry = headerKeys.headers.values.first { $0.writer.hasPrefix(writer) }!
        return try! Base64.decode(entry.header_b64)
    }
}
