internal import HTTPClient
internal import KeyAccess
internal import Logging
internal import Synchronization
internal import Wire

/// The service's behaviour without its sockets: a request in, an answer out.
final class KeyAccessEndpoints: Sendable {
    /// Without a token there is only the public key to ask for.
    private static let openBodyLimit = 16_384

    private let configuration: KeyAccessServerConfiguration
    private let store: KeyStore
    private let clock: KeyAccessClock
    private let collections: CollectionStore
    private let audit: AuditLog
    private let register: AccessRegister
    private let verifier: AccessTokenVerifier
    private let tokens: TokenEndpoints
    private let proofs = DPoPVerifier()
    private let processor: RewrapProcessor
    private let publicKeys: PublicKeyEndpoint
    private let registrations: RegistrationEndpoint
    private let logger: Logger
    private let addresses: Mutex<RateLimiter>
    private let subjects: Mutex<RateLimiter>

    init(
        configuration: KeyAccessServerConfiguration, store: KeyStore, clock: KeyAccessClock, logger: Logger,
        fetch: RemoteKeySet.Fetch? = nil
    ) throws {
        try configuration.check()
        self.configuration = configuration
        self.store = store
        self.clock = clock
        self.logger = logger
        collections = try CollectionStore(directory: store.directory, now: clock.unixSeconds())
        audit = try AuditLog(path: configuration.auditFile, logger: logger)
        register = try AccessRegister(store: store)
        verifier = try AccessTokenVerifier(
            configuration: configuration, store: store, register: register,
            fetch: fetch ?? { [client = HTTPClient()] in try await client.send($0) })
        tokens = TokenEndpoints(
            configuration: configuration, store: store, verifier: verifier, register: register, audit: audit)
        processor = RewrapProcessor(
            configuration: configuration, store: store, clock: clock, collections: collections, audit: audit)
        publicKeys = PublicKeyEndpoint(store: store)
        registrations = RegistrationEndpoint(
            store: store, clock: clock, collections: collections, register: register, audit: audit)
        let (address, subject) = (configuration.addressRateLimit, configuration.subjectRateLimit)
        addresses = Mutex(RateLimiter(rate: address.perSecond, burst: address.burst))
        subjects = Mutex(RateLimiter(rate: subject.perSecond, burst: subject.burst))
    }

    /// What a request was admitted to, before its body is read.
    struct Admission: Sendable {
        /// Nil on the routes that need no token.
        var caller: Caller?
        /// Longest body that will be looked at, in bytes.
        var bodyLimit: Int
    }

    /// Rate limit, route and bearer token: decided on the head alone, so that nobody without a token can make the
    /// service hold a large body.
    func admit(_ request: ServiceRequest) -> Result<Admission, ServiceFault> {
        do throws(ServiceFault) {
            let now = clock.monotonicNanoseconds()
            let network = NetworkAddress.share(ofClient: request.address)
            guard addresses.withLock({ $0.allows(network, at: now) }) else { throw .rateLimited }
            guard let scope = try scope(of: request) else {
                return .success(Admission(caller: nil, bodyLimit: Self.openBodyLimit))
            }
            return .success(
                Admission(caller: try caller(of: request, scope: scope), bodyLimit: MessageContent.limit))
        } catch {
            note(error, request)
            return .failure(error)
        }
    }

    /// - Parameter request: with its body, as it was admitted.
    func answer(_ request: ServiceRequest, _ admission: Admission) -> ServiceAnswer {
        var answer: ServiceAnswer
        do throws(ServiceFault) {
            answer = try route(request, admission.caller)
        } catch {
            note(error, request)
            answer = ServiceAnswer(error)
        }
        if request.path == Route.collections {
            answer.headers[CollectionRegistration.timeHeader] = String(clock.unixMilliseconds())
        }
        return answer
    }

    /// Both steps, for a request that is complete.
    func answer(_ request: ServiceRequest) -> ServiceAnswer {
        switch admit(request) {
        case .success(let admission): answer(request, admission)
        case .failure(let fault): ServiceAnswer(fault)
        }
    }

    private func note(_ fault: ServiceFault, _ request: ServiceRequest) {
        if fault == .internalError {
            logger.error("A request to \(ShownText.ascii(request.path, limit: 128, replacing: nil)) failed.")
        }
        guard let reason = Self.auditReason(fault) else { return }
        audit.write(
            AuditEntry(
                time: clock.unixSeconds(), event: .refused, address: request.address, decision: "deny",
                reason: reason))
    }

    /// Reads keys again that were changed from outside and forgets what has expired; to be called every few seconds.
    func maintain() {
        let now = clock.unixSeconds()
        audit.settle(now: now)
        do {
            for change in try store.refresh(now: now, uptime: clock.monotonicNanoseconds()) {
                logger.notice("\(change)")
            }
            try collections.compactIfNeeded(now: now)
        } catch {
            logger.error("The state directory can't be used: \(error)")
        }
        do {
            try register.refresh(now: now)
        } catch {
            logger.error("Grants, revocations and device keys can't be read; those read before stay in use: \(error)")
        }
        for path in verifier.refresh() {
            logger.error("The JWKS file \(path) can't be read; the keys read before stay in use.")
        }
    }

    /// Asks issuers for their keys where it is time to. Apart from `maintain`: an issuer may take its time.
    func refreshIssuers() async {
        for problem in await verifier.refreshRemotes(now: clock.monotonicNanoseconds()) { logger.error("\(problem)") }
    }

    /// The scope that a route needs, nil for none; throws where there is no route.
    private func scope(of request: ServiceRequest) throws(ServiceFault) -> String? {
        switch (request.method, request.path) {
        case (.post, Route.rewrap), (.post, Route.legacyRewrap), (.post, Route.connectRewrap): return Scope.rewrap
        case (.post, Route.collections): return Scope.publish
        case (.get, let path) where path.hasPrefix(Route.collections + "/"): return Scope.rewrap
        case (.get, Route.publicKey), (.get, Route.legacyPublicKey), (_, Route.connectPublicKey),
            (_, Route.connectLegacyPublicKey), (.get, Route.configuration), (.get, Route.health),
            // These look at the token themselves: any scope will do, and an expired one may be renewed.
            (.post, Route.renewToken), (.post, Route.narrowToken):
            return nil
        case (.get, Route.rewrap), (.get, Route.legacyRewrap), (.get, Route.connectRewrap),
            (.get, Route.collections), (.post, Route.publicKey), (.post, Route.legacyPublicKey),
            (.post, Route.configuration), (.post, Route.health), (.get, Route.renewToken), (.get, Route.narrowToken):
            throw .methodNotAllowed
        default: throw .notFound("There is nothing at this path.")
        }
    }

    private func route(_ request: ServiceRequest, _ caller: Caller?) throws(ServiceFault) -> ServiceAnswer {
        switch (request.path, caller) {
        case (Route.publicKey, _): return try publicKey(request)
        case (Route.legacyPublicKey, _):
            let response = try publicKeys.answer(Self.publicKeyQuery(request), fallback: .rsa2048)
            return try PublicKeyEndpoint.cached(response.publicKey, ifNoneMatch: request.ifNoneMatch)
        case (Route.connectPublicKey, _), (Route.connectLegacyPublicKey, _): return try connectPublicKey(request)
        case (Route.configuration, _): return try discovery(request)
        case (Route.health, _): return try .json(["status": "ok"])
        case (Route.renewToken, _):
            return try tokens.renew(request, now: clock.unixSeconds(), monotonic: clock.monotonicNanoseconds())
        case (Route.narrowToken, _):
            return try tokens.narrow(request, now: clock.unixSeconds(), monotonic: clock.monotonicNanoseconds())
        case (Route.rewrap, let caller?), (Route.legacyRewrap, let caller?), (Route.connectRewrap, let caller?):
            return try rewrap(request, caller)
        case (Route.collections, let caller?): return try register(request, caller)
        case (let path, let caller?) where path.hasPrefix(Route.collections + "/"):
            return try registrations.receipt(String(path.dropFirst(Route.collections.utf8.count + 1)), caller)
        case (_, _): throw .internalError
        }
    }

    // MARK: public keys and discovery

    private func publicKey(_ request: ServiceRequest) throws(ServiceFault) -> ServiceAnswer {
        let response = try publicKeys.answer(Self.publicKeyQuery(request), fallback: .p256)
        var answer = try PublicKeyEndpoint.cached(response, ifNoneMatch: request.ifNoneMatch)
        answer.headers[PublicKeyResponse.identifierHeader.name] = PublicKeyResponse.identifierHeader.value
        return answer
    }

    private func connectPublicKey(_ request: ServiceRequest) throws(ServiceFault) -> ServiceAnswer {
        let (encoding, content) = try MessageContent.content(of: request)
        let isLegacy = request.path == Route.connectLegacyPublicKey
        let query: PublicKeyRequest
        do {
            switch encoding {
            case .json:
                query =
                    content.isEmpty ? PublicKeyRequest() : try JSONCoding.decode(PublicKeyRequest.self, from: content)
            case .protobuf: query = try PublicKeyRequest(protobuf: content)
            }
        } catch {
            throw .invalidRequest("The body is not a PublicKeyRequest.")
        }
        let response = try publicKeys.answer(query, fallback: .rsa2048)
        switch encoding {
        case .json:
            return isLegacy ? try .json(response.publicKey) : try .json(response)
        case .protobuf:
            let body = isLegacy ? StringValue.protobuf(response.publicKey) : response.protobuf()
            return ServiceAnswer(contentType: .protobuf, body: body)
        }
    }

    private func discovery(_ request: ServiceRequest) throws(ServiceFault) -> ServiceAnswer {
        let provider = configuration.issuers.first.map {
            ServiceConfigurationDocument.IdentityProvider(issuer: $0.issuer, tokenEndpoint: $0.tokenEndpoint)
        }
        let own = ServiceConfigurationDocument.IdentityProvider(issuer: KeyAccessServerConfiguration.localIssuer)
        let document = ServiceConfigurationDocument(origin: origin(request), identityProvider: provider ?? own)
        return try PublicKeyEndpoint.cached(document, ifNoneMatch: request.ifNoneMatch)
    }

    private static func publicKeyQuery(_ request: ServiceRequest) -> PublicKeyRequest {
        PublicKeyRequest(
            algorithm: request.query["algorithm"], format: request.query["fmt"], version: request.query["v"])
    }

    /// As the operator wrote it, else as the client did.
    private func origin(_ request: ServiceRequest) -> String {
        if let url = configuration.publicURL { return url.hasSuffix("/") ? String(url.dropLast()) : url }
        return (configuration.tls == nil ? "http://" : "https://")
            + (request.authority ?? "\(configuration.host):\(configuration.port)")
    }

    /// What a DPoP proof must be made for. Never what the request says of itself, where somebody else could be between: a
    /// proof that was made for his service would hold here.
    private func proofOrigin(_ request: ServiceRequest) throws(ServiceFault) -> String {
        guard configuration.publicURL != nil || (configuration.tls == nil && configuration.isLoopback) else {
            throw .authenticationFailed(
                "This service accepts no token that is bound to a key: its operator has not set its publicURL.")
        }
        return origin(request)
    }

    // MARK: rewrap

    private func rewrap(_ request: ServiceRequest, _ caller: Caller) throws(ServiceFault) -> ServiceAnswer {
        let (encoding, content) = try MessageContent.content(of: request)
        let message: RewrapRequest
        do {
            switch encoding {
            case .json: message = try JSONCoding.decode(RewrapRequest.self, from: content)
            case .protobuf: message = try RewrapRequest(protobuf: content)
            }
        } catch {
            throw .invalidRequest("The body is not a rewrap request.")
        }
        let response = try processor.answer(message, caller: caller, now: clock.unixSeconds())
        switch encoding {
        case .json: return try .json(response)
        case .protobuf: return ServiceAnswer(contentType: .protobuf, body: response.protobuf())
        }
    }

    // MARK: registered headers

    private func register(_ request: ServiceRequest, _ caller: Caller) throws(ServiceFault) -> ServiceAnswer {
        let (encoding, content) = try MessageContent.content(of: request)
        guard encoding == .json else { throw .unsupportedContent("A registration is JSON.") }
        return try registrations.register(content, caller)
    }

    // MARK: authentication

    /// Step 2: the bearer token, before anything of the body is looked at.
    private func caller(of request: ServiceRequest, scope: String) throws(ServiceFault) -> Caller {
        let parts = (request.authorization ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, ["bearer", "dpop"].contains(parts[0].lowercased()) else {
            throw .authenticationFailed("A bearer access token is needed.")
        }
        let now = clock.unixSeconds()
        let claims = try verifier.verify(parts[1], now: now)
        var caller = Caller(
            subject: register.grants.applied(
                to: Subject(
                    claims: claims, rules: configuration.access, defaultIssuer: configuration.subjectIssuer),
                claims: claims, now: now),
            issuer: claims.issuer ?? "", subjectClaim: claims.subject ?? "", address: request.address, proofKey: nil,
            wantsFacts: request.wantsFacts)
        if let thumbprint = claims.boundKeyThumbprint {
            caller.proofKey = try proofs.verify(
                proof: request.dpop, accessToken: parts[1], thumbprint: thumbprint, method: request.method.rawValue,
                url: try proofOrigin(request) + request.path, now: now)
        }
        let monotonic = clock.monotonicNanoseconds()
        guard subjects.withLock({ $0.allows(caller.subject.name, at: monotonic) }) else { throw .rateLimited }
        guard caller.subject.may(scope) else {
            throw .policyDenied("The access token lacks the scope \(scope).")
        }
        return caller
    }

    /// Refusals that an operator wants to see; the others are the client's own affair.
    private static func auditReason(_ fault: ServiceFault) -> String? {
        switch fault {
        case .authenticationFailed(let message): message
        case .policyDenied(let message): message
        case .rateLimited: "rate limited"
        case .unavailable: "unavailable"
        case .invalidRequest, .notFound, .methodNotAllowed, .tooLarge, .unsupportedContent, .internalError: nil
        }
    }
}
