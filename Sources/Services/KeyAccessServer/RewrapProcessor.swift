internal import Cryptography
internal import KeyAccess
internal import NanoTDF
internal import Synchronization
internal import Wire

/// Who makes a request, after the bearer token was checked.
struct Caller: Sendable {
    var subject: Subject
    /// `iss` and `sub` as the token has them: a registration's proof covers both.
    var issuer: String
    var subjectClaim: String
    var address: String
    /// The key of the DPoP proof, when the access token is bound to one: it must have signed the request token.
    var proofKey: VerificationKey?
    /// The client asks for `CollectionFacts` along with a key.
    var wantsFacts = false
}

/// Answers rewrap requests of callers whose access token was checked before (docs/ref/wire-format.md, "A rewrap").
final class RewrapProcessor: Sendable {
    static let maximumRequests = 16
    static let maximumObjects = 16
    /// One text for every refusal of a key, so that an answer reveals nothing about why; the audit log does.
    static let refusal = "This key is not given to you; the audit log of the KAS holds the reason."

    /// Stands in for a policy that could not be read.
    private static let nobodysPolicy = AccessPolicy(uuid: "", body: .init(dataAttributes: [], dissem: ["\0"]))

    private let configuration: KeyAccessServerConfiguration
    private let store: KeyStore
    private let clock: KeyAccessClock
    private let collections: CollectionStore
    private let audit: AuditLog
    private let seen = Mutex(ReplayMemory())

    init(
        configuration: KeyAccessServerConfiguration, store: KeyStore, clock: KeyAccessClock,
        collections: CollectionStore, audit: AuditLog
    ) {
        self.configuration = configuration
        self.store = store
        self.clock = clock
        self.collections = collections
        self.audit = audit
    }

    /// - Parameters:
    ///   - request: its token has not been looked at yet.
    ///   - now: Unix seconds.
    func answer(_ request: RewrapRequest, caller: Caller, now: Int64) throws(ServiceFault) -> RewrapResponse {
        let body = try admitted(request.signedRequestToken, caller: caller, now: now)
        let requests = body.unified
        guard !requests.isEmpty else { throw .invalidRequest("The request names no key access object.") }
        guard requests.count <= Self.maximumRequests,
            requests.reduce(0, { $0 + $1.keyAccessObjects.count }) <= Self.maximumObjects
        else {
            throw .invalidRequest(
                "At most \(Self.maximumRequests) policies and \(Self.maximumObjects) key access objects are allowed.")
        }
        for request in requests { try Self.checkAlgorithm(request.algorithm) }
        let session = try SessionWrap(clientPublicKey: body.clientPublicKey)
        var response = RewrapResponse(responses: [], sessionPublicKey: session.sessionPublicKey)
        let ring = store.ring
        do {
            for request in requests {
                var results: [KeyAccessRewrapResult] = []
                for object in request.keyAccessObjects {
                    results.append(try result(object, in: request, ring, session, caller, now: now))
                }
                response.responses.append(PolicyRewrapResult(policyId: request.policy.id, results: results))
            }
        } catch let fault as ServiceFault {
            throw fault
        } catch {
            throw .internalError
        }
        if caller.wantsFacts { response.watchbox = facts(for: response, requests, now: now) }
        if body.isLegacyForm { response.entityWrappedKey = response.responses.first?.results.first?.kasWrappedKey }
        return response
    }

    /// What is known of the one collection whose key was asked for and given.
    private func facts(
        for response: RewrapResponse, _ requests: [RewrapPolicyRequest], now: Int64
    ) -> CollectionFacts? {
        guard response.responses.count == 1, response.responses[0].results.count == 1,
            response.responses[0].results[0].isPermitted,
            let text = requests[0].keyAccessObjects[0].keyAccessObject.header, let header = try? Base64.decode(text),
            let (entry, newer) = collections.entryAndNewer(
                forHeader: Hexadecimal.encode(Digest.sha256(header)), now: now)
        else { return nil }
        return CollectionFacts(
            stream: entry.stream, registeredAt: entry.registeredAt, newerRegistrations: newer,
            time: clock.unixMilliseconds(), publisher: entry.signature)
    }

    /// Checks the request token's times, signature and novelty.
    private func admitted(
        _ text: String, caller: Caller, now: Int64
    ) throws(ServiceFault) -> RewrapRequestBody {
        let token: JSONWebToken
        let header: TokenHeader
        let claims: RewrapRequestClaims
        do {
            token = try JSONWebToken(compact: text, limit: 1 << 20)
            header = try JSONCoding.decode(TokenHeader.self, from: token.header, depth: 8)
            claims = try JSONCoding.decode(RewrapRequestClaims.self, from: token.claims, depth: 8)
        } catch {
            throw .invalidRequest("signed_request_token is not a JWT with a requestBody.")
        }
        guard ["ES256", "RS256"].contains(header.algorithm), header.critical == nil, !token.signature.isEmpty else {
            throw .invalidRequest("The request token must be signed with ES256 or RS256.")
        }
        let expiry: Int64
        do {
            var rules = RequestTokenRules()
            rules.maximumLifetime = configuration.maximumRequestLifetime
            rules.maximumAge = configuration.maximumRequestAge
            expiry = try rules.check(claims, now: now)
        } catch {
            throw .authenticationFailed(error.rawValue)
        }
        if let key = caller.proofKey, !key.verifies(token, algorithm: header.algorithm) {
            throw .authenticationFailed("The request token is not signed with the key of the DPoP proof.")
        }
        // Without a known key the signature is mere decoration, and a changed one must not make a token new.
        let identity = claims.tokenID.map { Array((caller.subject.name + "\0" + $0).utf8) } ?? token.signingInput
        let mayRepeat = header.algorithm == "RS256" && claims.tokenID == nil
        let outcome = seen.withLock {
            $0.presented(
                ReplayMemory.Fingerprint(digest: Digest.sha256(identity)), by: caller.subject.name, expiry: expiry,
                mayRepeatSince: mayRepeat ? claims.issuedAt?.seconds : nil, now: now)
        }
        switch outcome {
        case .fresh: break
        case .replayed: throw .authenticationFailed("The request token was used before.")
        case .shareUsed: throw .rateLimited
        case .full: throw .unavailable
        }
        do {
            return try JSONCoding.decode(RewrapRequestBody.self, from: Array(claims.requestBody.utf8))
        } catch {
            throw .invalidRequest("requestBody is not a rewrap request.")
        }
    }

    private static func checkAlgorithm(_ name: String?) throws(ServiceFault) {
        guard let name, !name.isEmpty else { return }
        guard KeyAlgorithm(name: name) != nil else {
            throw .invalidRequest("The algorithm is not one of ec:secp256r1 and rsa:2048.")
        }
    }

    /// One object, with its audit line. Every outcome has unwrapped, decided and wrapped; a refusal drops the result.
    private func result(
        _ identified: IdentifiedKeyAccessObject, in request: RewrapPolicyRequest, _ ring: KeyRing,
        _ session: SessionWrap, _ caller: Caller, now: Int64
    ) throws -> KeyAccessRewrapResult {
        let object = identified.keyAccessObject
        let isNanoTDF = request.algorithm?.hasPrefix("ec") == true && object.header?.isEmpty == false
        var unwrapped: UnwrappedKey
        if isNanoTDF {
            let unwrapper = NanoTDFUnwrapper(
                ring: ring, allowsUnverifiableBindings: configuration.allowsUnverifiableBindings
            ) { [collections] hash in collections.entry(forHeader: hash, now: now) }
            unwrapped = try unwrapper.unwrap(header: object.header ?? "")
            if request.keyAccessObjects.count > 1 { unwrapped.fault = .severalObjects }
        } else {
            unwrapped = try TDF3Unwrapper(ring: ring, allowsUnbound: configuration.allowsUnboundTDF3)
                .unwrap(object, policyText: request.policy.body)
        }
        defer { unwrapped.wipe() }
        if unwrapped.policy == nil, unwrapped.fault == nil { unwrapped.fault = .policyUnreadable }
        let decision = AccessDecision.decide(
            policy: unwrapped.policy ?? Self.nobodysPolicy, origin: unwrapped.origin, subject: caller.subject,
            requiresRegistration: configuration.requiresRegisteredHeaders)
        let client = caller.subject.clientID
        let salt = isNanoTDF ? configuration.sessionSalt(client: client) : configuration.sessionSaltTDF3(client: client)
        let wrapped = try session.wrap(unwrapped.key, salt: salt)
        let reason = Self.reason(unwrapped.fault, decision)
        var entry = AuditEntry(
            time: now, event: .rewrap, address: caller.address, subject: caller.subject.name, client: client,
            kid: unwrapped.kid, policy: unwrapped.policy?.uuid, headerSha256: unwrapped.headerSha256,
            decision: reason == nil ? "permit" : "deny", reason: reason)
        switch unwrapped.origin {
        case .registered(let stream): entry.stream = stream
        case .archive: entry.stream = unwrapped.policy?.stream
        case .unregistered: break
        }
        let isNoted = audit.write(entry)
        guard reason == nil else { return .fail(id: identified.keyAccessObjectId, error: Self.refusal) }
        // A key whose release cannot be recorded is not released.
        guard isNoted else { throw ServiceFault.unavailable }
        return .permit(id: identified.keyAccessObjectId, wrappedKey: Base64.encode(wrapped))
    }

    private static func reason(_ fault: UnwrappedKey.Fault?, _ decision: AccessDecision) -> String? {
        if let fault { return fault.rawValue }
        switch decision {
        case .permit: return nil
        case .deny(let reason): return reason.rawValue
        }
    }
}
