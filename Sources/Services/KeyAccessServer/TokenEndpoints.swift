internal import Cryptography
internal import KeyAccess
internal import Synchronization
internal import Wire

/// `POST /watchbox/v1/tokens/renew` and `…/narrow`: new tokens for those that this KAS issued itself.
final class TokenEndpoints: Sendable {
    private let verifier: AccessTokenVerifier
    private let register: AccessRegister
    private let store: KeyStore
    private let configuration: KeyAccessServerConfiguration
    private let audit: AuditLog
    /// Of each subject. A box asks for one token for each of its cameras at once, and seldom.
    private let rate = Mutex(RateLimiter(rate: 2, burst: 160))

    init(
        configuration: KeyAccessServerConfiguration, store: KeyStore, verifier: AccessTokenVerifier,
        register: AccessRegister, audit: AuditLog
    ) {
        self.configuration = configuration
        self.store = store
        self.verifier = verifier
        self.register = register
        self.audit = audit
    }

    /// An expired token is renewed when the owner readmitted its subject, once for each readmission.
    func renew(_ request: ServiceRequest, now: Int64, monotonic: UInt64) throws(ServiceFault) -> ServiceAnswer {
        let claims = try presented(request, now: now, monotonic: monotonic, allowsExpired: true)
        guard claims.isRenewable else {
            throw refused(
                request, claims, .renew, now, "not renewable",
                .policyDenied("This token cannot be renewed; its owner makes a new one: watchboxctl kas token."))
        }
        // With the tolerance that every other request has.
        if (claims.expiresAt?.seconds ?? 0) <= now - AccessTokenRules(audience: "").skew {
            let holder = AccessGrants.Holder(issuer: claims.issuer ?? "", subject: claims.subject ?? "")
            let isReadmitted: Bool
            do { isReadmitted = try register.takeReadmission(holder, now: now) } catch { throw .internalError }
            guard isReadmitted else {
                throw refused(
                    request, claims, .renew, now, "expired and not readmitted",
                    .policyDenied(
                        "This token has ended. The owner of the KAS can let it be renewed once: "
                            + "watchboxctl kas grant --readmit SUBJECT."))
            }
        }
        let renewed = claims.renewed(id: try Self.identifier(), now: now, maxLifetime: TokenIssuer.maxLifetime)
        return try issue(renewed, from: claims, .renew, request, now: now)
    }

    /// A token for one stream, with no more than the presented one has.
    func narrow(_ request: ServiceRequest, now: Int64, monotonic: UInt64) throws(ServiceFault) -> ServiceAnswer {
        let claims = try presented(request, now: now, monotonic: monotonic, allowsExpired: false)
        // Revoking it refuses what was made from it, and looks one step back.
        guard !claims.isNarrowed else {
            throw refused(
                request, claims, .narrow, now, "narrowed already",
                .policyDenied("A token for one stream cannot be narrowed again."))
        }
        let (encoding, content) = try MessageContent.content(of: request)
        guard encoding == .json, let requested = try? JSONCoding.decode(NarrowRequest.self, from: content, depth: 4),
            StreamPattern.isValidName(requested.stream), (1...16).contains(requested.scopes.count),
            (requested.lifetime ?? 1) > 0
        else {
            throw .invalidRequest("The body is not a request for a narrower token: stream and scopes are needed.")
        }
        let own = Subject(
            claims: claims, rules: configuration.access, defaultIssuer: configuration.subjectIssuer)
        let subject = register.grants.applied(to: own, claims: claims, now: now)
        guard requested.scopes.allSatisfy({ subject.may($0, stream: requested.stream) }) else {
            throw refused(
                request, claims, .narrow, now, "more than the token has",
                .policyDenied("The presented token does not cover this stream with these scopes."))
        }
        var end = now.addingReportingOverflow(requested.lifetime ?? TokenIssuer.maxLifetime)
        if end.overflow { end.partialValue = .max }
        // What only a grant allows ends with the grant.
        let holder = AccessGrants.Holder(issuer: claims.issuer ?? "", subject: claims.subject ?? "")
        for scope in requested.scopes where !own.may(scope, stream: requested.stream) {
            let granted = register.grants.end(
                of: requested.stream, scope: scope, hasScope: own.scopes.contains(scope), holder: holder, now: now)
            end.partialValue = min(end.partialValue, granted ?? now + 1)
        }
        let narrowed = claims.narrowed(
            id: try Self.identifier(), stream: requested.stream, scopes: requested.scopes, end: end.partialValue,
            now: now)
        return try issue(narrowed, from: claims, .narrow, request, now: now)
    }

    private func presented(
        _ request: ServiceRequest, now: Int64, monotonic: UInt64, allowsExpired: Bool
    ) throws(ServiceFault) -> AccessClaims {
        let parts = (request.authorization ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw .authenticationFailed("A bearer access token is needed.")
        }
        let claims =
            allowsExpired
            ? try verifier.verify(parts[1], now: now, grace: AccessClaims.renewalGrace)
            : try verifier.verify(parts[1], now: now)
        guard claims.issuer == KeyAccessServerConfiguration.localIssuer, claims.boundKeyThumbprint == nil else {
            throw .policyDenied("Another issuer made this token: ask there for a new one.")
        }
        guard rate.withLock({ $0.allows(claims.subject ?? "", at: monotonic) }) else { throw .rateLimited }
        return claims
    }

    /// - Parameter presented: what the new token is made from.
    private func issue(
        _ claims: AccessClaims, from presented: AccessClaims, _ event: AuditEntry.Event, _ request: ServiceRequest,
        now: Int64
    ) throws(ServiceFault) -> ServiceAnswer {
        do {
            let ring = store.ring
            let token = try TokenIssuer.sign(claims, ring)
            guard try register.note(claims, from: presented, kid: ring.issuer.first?.kid, now: now) else {
                throw ServiceFault.authenticationFailed("The access token is revoked.")
            }
            // A token whose issue cannot be recorded is not issued.
            guard audit.write(entry(request, claims, event, now, nil)) else { throw ServiceFault.unavailable }
            return try .json(IssuedToken(token: token, expiresAt: claims.expiresAt?.seconds ?? 0))
        } catch let fault as ServiceFault {
            throw fault
        } catch {
            throw .internalError
        }
    }

    private func refused(
        _ request: ServiceRequest, _ claims: AccessClaims, _ event: AuditEntry.Event, _ now: Int64, _ reason: String,
        _ fault: ServiceFault
    ) -> ServiceFault {
        audit.write(entry(request, claims, event, now, reason))
        return fault
    }

    private func entry(
        _ request: ServiceRequest, _ claims: AccessClaims, _ event: AuditEntry.Event, _ now: Int64, _ reason: String?
    ) -> AuditEntry {
        AuditEntry(
            time: now, event: event, address: request.address, subject: claims.subject, client: claims.clientID,
            stream: claims.isNarrowed ? claims.streams.first : nil, decision: reason == nil ? "permit" : "deny",
            reason: reason)
    }

    private static func identifier() throws(ServiceFault) -> String {
        do { return Hexadecimal.encode(try SecureRandom.bytes(16)) } catch { throw .internalError }
    }
}
