internal import KeyAccess
internal import Logging
internal import Synchronization

/// The service's behaviour without its sockets: a request in, an answer out.
final class KeyAccessEndpoints: Sendable {
    /// Without a token there is only the public key to ask for.
    private static let openBodyLimit = 16_384

    private let configuration: KeyAccessServerConfiguration
    private let store: KeyStore
    private let clock: KeyAccessClock
    private let collections: CollectionStore
    private let audit: AuditLog
    private let verifier: AccessTokenVerifier
    private let proofs = DPoPVerifier()
    private let processor: RewrapProcessor
    private let publicKeys: PublicKeyEndpoint
    private let logger: Logger
    private let addresses: Mutex<RateLimiter>
    private let subjects: Mutex<RateLimiter>

    init(
        configuration: KeyAccessServerConfiguration, store: KeyStore, clock: KeyAccessClock, logger: Logger
    ) throws {
        try configuration.check()
        self.configuration = configuration
        self.store = store
        self.clock = clock
        self.logger = logger
        collections = try CollectionStore(directory: store.directory, now: clock.unixSeconds())
        audit = try AuditLog(path: configuration.auditFile, logger: logger)
        verifier = try AccessTokenVerifier(configuration: configuration, store: store)
        processor = RewrapProcessor(
            configuration: configuration, store: store, collections: collections, audit: audit)
        publicKeys = PublicKeyEndpoint(store: store)
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
            guard addresses.withLock({ $0.allows(request.address, at: now) }) else { throw .rateLimited }
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
        do throws(ServiceFault) {
            return try route(request, admission.caller)
        } catch {
            note(error, request)
            return ServiceAnswer(error)
        }
    }

    /// Both steps, for a request that is complete.
    func answer(_ request: ServiceRequest) -> ServiceAnswer {
        switch admit(request) {
        case .success(let admission): answer(request, admission)
        case .failure(let fault): ServiceAnswer(fault)
        }
    }

    private func note(_ fault: ServiceFault, _ request: ServiceRequest) {
        if fault == .internalError { logger.error("A request to \(Self.printable(request.path)) failed.") }
        guard let reason = Self.auditReason(fault) else { return }
        audit.write(
            AuditEntry(
                time: clock.unixSeconds(), event: .refused, address: request.address, decision: "deny",
                reason: reason))
    }

    /// Reads keys again that were changed from outside and forgets what has expired; to be called every few seconds.
    func maintain() {
        let now = clock.unixSeconds()
        do {
            try store.refresh(now: now)
            try collections.compactIfNeeded(now: now)
        } catch {
            logger.error("The state directory can't be used: \(error)")
        }
        for path in verifier.refresh() {
            logger.error("The JWKS file \(path) can't be read; the keys read before stay in use.")
        }
    }

    /// The scope that a route needs, nil for none; throws where there is no route.
    private func scope(of request: ServiceRequest) throws(ServiceFault) -> String? {
        switch (request.method, request.path) {
        case (.post, Route.rewrap), (.post, Route.legacyRewrap), (.post, Route.connectRewrap): return Scope.rewrap
        case (.post, Route.collections): return Scope.publish
        case (.get, let path) where path.hasPrefix(Route.collections + "/"): return Scope.rewrap
        case (.get, Route.publicKey), (.get, Route.legacyPublicKey), (_, Route.connectPublicKey),
            (_, Route.connectLegacyPublicKey), (.get, Route.configuration), (.get, Route.health):
            return nil
        case (.get, Route.rewrap), (.get, Route.legacyRewrap), (.get, Route.connectRewrap),
            (.get, Route.collections), (.post, Route.publicKey), (.post, Route.legacyPublicKey),
            (.post, Route.configuration), (.post, Route.health):
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
        case (Route.rewrap, let caller?), (Route.legacyRewrap, let caller?), (Route.connectRewrap, let caller?):
            return try rewrap(request, caller)
        case (Route.collections, let caller?): return try register(request, caller)
        case (let path, let caller?) where path.hasPrefix(Route.collections + "/"):
            return try registration(String(path.dropFirst(Route.collections.utf8.count + 1)), caller)
        case (_, _): throw .internalError
        }
    }

    // MARK: public keys and discovery

    private func publicKey(_ request: ServiceRequest) throws(ServiceFault) -> ServiceAnswer {
        let response = try publicKeys.answer(Self.publicKeyQuery(request), fallback: .p256)
        return try PublicKeyEndpoint.cached(response, ifNoneMatch: request.ifNoneMatch)
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
        let now = clock.unixSeconds()
        guard encoding == .json,
            let registration = try? JSONCoding.decode(CollectionRegistration.self, from: content, depth: 4)
        else {
            throw .invalidRequest("The body is not a registration: stream, headerSha256 and notAfter are needed.")
        }
        var entry = AuditEntry(
            time: now, event: .register, address: caller.address, subject: caller.subject.name,
            client: caller.subject.clientID, headerSha256: registration.headerSha256, stream: registration.stream,
            decision: "deny")
        func refuse(_ reason: String, _ fault: ServiceFault) -> ServiceFault {
            entry.reason = reason
            entry.stream = String(registration.stream.prefix(256))
            entry.headerSha256 = String(registration.headerSha256.prefix(64))
            audit.write(entry)
            return fault
        }
        guard caller.subject.mayUse(stream: registration.stream) else {
            throw refuse("stream not granted", .policyDenied("The access token does not cover this stream."))
        }
        let taken: CollectionRegistry.Entry
        do {
            taken = try collections.register(registration, publisher: caller.subject.name, now: now)
        } catch let fault as CollectionRegistry.Fault {
            switch fault {
            case .invalidHash:
                throw refuse("invalid hash", .invalidRequest("headerSha256 must be 64 lower-case hexadecimal digits."))
            case .invalidStream: throw refuse("invalid stream", .invalidRequest("stream is not a stream name."))
            case .expired: throw refuse("notAfter has passed", .invalidRequest("notAfter has passed."))
            case .takenByAnother:
                throw refuse("header taken", .policyDenied("This header is registered by somebody else."))
            case .full: throw refuse("registry full", .unavailable)
            }
        } catch {
            throw refuse("journal failed", .internalError)
        }
        entry.decision = "permit"
        audit.write(entry)
        return try .json(
            CollectionRegistration(stream: taken.stream, headerSha256: taken.headerSha256, notAfter: taken.notAfter))
    }

    /// For a viewer that wants to know whether a header is its stream's own (requirement S9).
    private func registration(_ hash: String, _ caller: Caller) throws(ServiceFault) -> ServiceAnswer {
        guard let entry = collections.entry(forHeader: hash, now: clock.unixSeconds()),
            caller.subject.mayUse(stream: entry.stream)
        else {
            throw .notFound("This header is not registered for a stream of yours.")
        }
        return try .json(
            CollectionRegistration(stream: entry.stream, headerSha256: entry.headerSha256, notAfter: entry.notAfter))
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
            subject: Subject(claims: claims, rules: configuration.access), address: request.address, proofKey: nil)
        if let thumbprint = claims.boundKeyThumbprint {
            let scheme = configuration.tls == nil ? "http://" : "https://"
            let urls = [origin(request) + request.path, scheme + (request.authority ?? "") + request.path]
            caller.proofKey = try proofs.verify(
                proof: request.dpop, accessToken: parts[1], thumbprint: thumbprint, method: request.method.rawValue,
                urls: urls, now: now)
        }
        let monotonic = clock.monotonicNanoseconds()
        guard subjects.withLock({ $0.allows(caller.subject.name, at: monotonic) }) else { throw .rateLimited }
        guard caller.subject.scopes.contains(scope) else {
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

    private static func printable(_ path: String) -> String {
        String(path.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F }.prefix(128).map(Character.init))
    }
}
