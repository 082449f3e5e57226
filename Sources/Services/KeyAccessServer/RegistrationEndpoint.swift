internal import Cryptography
internal import KeyAccess
internal import NanoTDF
internal import NanoTDFCryptography
internal import Wire

/// Takes registrations of headers, each with the proof that its sender made the header, and reports who registered what.
struct RegistrationEndpoint: Sendable {
    /// Base64 of a header is longer than the header; the other members are short.
    static let bodyLimit = 2 * NanoTDFUnwrapper.maximumHeader

    let store: KeyStore
    let clock: KeyAccessClock
    let collections: CollectionStore
    let register: AccessRegister
    let audit: AuditLog

    /// - Parameter body: JSON of a `CollectionRegistration`.
    func register(_ body: [UInt8], _ caller: Caller) throws(ServiceFault) -> ServiceAnswer {
        let now = clock.unixSeconds()
        guard body.count <= Self.bodyLimit,
            let registration = try? JSONCoding.decode(CollectionRegistration.self, from: body, depth: 4)
        else {
            throw .invalidRequest(
                "The body is not a registration: stream, header, lifetime, issuedAt and proof are needed.")
        }
        var entry = AuditEntry(
            time: now, event: .register, address: caller.address, subject: caller.subject.name,
            client: caller.subject.clientID, stream: String(registration.stream.prefix(256)), decision: "deny")
        func refuse(_ reason: String, _ fault: ServiceFault) -> ServiceFault {
            entry.reason = reason
            audit.write(entry)
            return fault
        }
        guard StreamPattern.isValidName(registration.stream) else {
            throw refuse("invalid stream", .invalidRequest("stream is not a stream name."))
        }
        guard caller.subject.may(Scope.publish, stream: registration.stream) else {
            throw refuse("stream not granted", .policyDenied("The access token does not cover this stream."))
        }
        let age = clock.unixMilliseconds().saturatingSubtract(registration.issuedAt)
        guard age.magnitude <= CollectionRegistration.tolerance.magnitude else {
            throw refuse(
                "issued at another time",
                .invalidRequest("issuedAt is not the time; \(CollectionRegistration.timeHeader) of this answer is."))
        }
        guard registration.lifetime > 0 else {
            throw refuse("no lifetime", .invalidRequest("lifetime must be above 0 seconds."))
        }
        let claim: ProvenClaim
        let signature: PublisherSignature?
        do throws(ClaimFault) {
            claim = try ProvenClaim(registration, caller: caller, ring: store.ring)
            signature = try self.signature(of: registration, claim.headerHash, caller)
        } catch {
            throw refuse(error.rawValue, error.fault)
        }
        entry.headerSha256 = claim.headerSha256
        entry.kid = claim.kid
        entry.policy = claim.policy.uuid
        let taken: CollectionRegistry.Entry
        do {
            taken = try collections.register(
                CollectionRegistry.Entry(
                    headerSha256: claim.headerSha256, stream: registration.stream,
                    notAfter: now.saturatingAdd(registration.lifetime), publisher: caller.subject.name, kid: claim.kid,
                    registeredAt: now, signature: signature), now: now)
        } catch let fault as CollectionRegistry.Fault {
            switch fault {
            case .takenByAnother:
                throw refuse("header taken", .policyDenied("This header is registered by somebody else."))
            case .full: throw refuse("registry full", .unavailable)
            case .invalidHash, .invalidStream, .expired: throw refuse("not a registration", .internalError)
            }
        } catch {
            throw refuse("journal failed", .internalError)
        }
        entry.decision = "permit"
        audit.write(entry)
        return try .json(CollectionReceipt(taken))
    }

    /// A publisher that has a device key here registers nothing without its signature. Of one that has none, what it
    /// signed with is not looked at: nobody vouches for it.
    private func signature(
        of registration: CollectionRegistration, _ headerHash: [UInt8], _ caller: Caller
    ) throws(ClaimFault) -> PublisherSignature? {
        let devices = register.devices
        let holder = AccessGrants.Holder(issuer: caller.issuer, subject: caller.subjectClaim)
        guard devices.has(holder) else { return nil }
        guard let signature = registration.signature else { throw .notSigned }
        guard
            let verified = signature.verified(
                headerHash: headerHash, stream: registration.stream, issuedAt: registration.issuedAt,
                verifies: CanonicalES256.verifies(_:of:by:))
        else { throw .signatureInvalid }
        guard devices.keys(of: holder).contains(verified.device) else { throw .otherDevice }
        return PublisherSignature(signedAt: registration.issuedAt, signature: verified.signature)
    }

    /// For a viewer that wants to know whether a header is its stream's own.
    func receipt(_ hash: String, _ caller: Caller) throws(ServiceFault) -> ServiceAnswer {
        guard let entry = collections.entry(forHeader: hash, now: clock.unixSeconds()),
            [Scope.rewrap, Scope.publish].contains(where: { caller.subject.may($0, stream: entry.stream) })
        else {
            throw .notFound("This header is not registered for a stream of yours.")
        }
        return try .json(CollectionReceipt(entry))
    }
}

/// Why a registration is refused. The text goes into the audit line.
private enum ClaimFault: String, Error {
    case malformedHeader = "malformed header"
    case unsupportedCurve = "curve is not P-256"
    case notProven = "proof does not hold"
    case policyUnreadable = "policy can't be read"
    case otherStream = "policy names another stream"
    case notSigned = "not signed by the publisher's device"
    case signatureInvalid = "the device's signature does not hold"
    case otherDevice = "signed by a device that is not the publisher's"

    /// The publisher is known by now: it may learn what is wrong.
    var fault: ServiceFault {
        switch self {
        case .malformedHeader: .invalidRequest("header is not base64 of a NanoTDF header.")
        case .unsupportedCurve: .invalidRequest("The header's curve is not secp256r1.")
        case .notProven:
            .policyDenied(
                "The proof does not hold: whoever registers a header must have made it, for a key of this KAS.")
        case .policyUnreadable: .invalidRequest("The header's policy can't be read.")
        case .otherStream: .policyDenied("The header's policy does not name this stream.")
        case .notSigned:
            .policyDenied("This publisher has a device key here, and the registration is not signed with it.")
        case .signatureInvalid:
            .policyDenied("The device's signature does not hold for this header, stream and time.")
        case .otherDevice:
            .policyDenied("The device key that signed is not registered here for this publisher.")
        }
    }
}

/// A header that its sender has proven to have made.
private struct ProvenClaim {
    let headerHash: [UInt8]
    let headerSha256: String
    /// The KAS key that it was made for.
    let kid: String
    let policy: AccessPolicy

    init(_ registration: CollectionRegistration, caller: Caller, ring: KeyRing) throws(ClaimFault) {
        guard registration.header.utf8.count <= (NanoTDFUnwrapper.maximumHeader + 2) / 3 * 4,
            let bytes = try? Base64.decode(registration.header), let header = try? NanoTDFHeader.parse(bytes),
            let proof = try? Base64.decode(registration.proof)
        else { throw .malformedHeader }
        guard header.curve == .secp256r1,
            let peer = try? ECPublicKey(sec1: header.ephemeralPublicKey, curve: .p256)
        else { throw .unsupportedCurve }
        let hash = Digest.sha256(bytes)
        let input = CollectionRegistration.proofInput(
            headerHash: hash, stream: registration.stream, lifetime: registration.lifetime,
            issuedAt: registration.issuedAt, issuer: caller.issuer, subject: caller.subjectClaim)
        var proven: (kid: String, policy: AccessPolicy?)?
        for candidate in ring.candidates(for: header) {
            guard var dek = try? candidate.key.deriveKey(with: peer, salt: KeyDerivationSalt.l1l) else { continue }
            defer { Wiping.wipe(&dek) }
            guard let expected = try? PossessionKey(dek: dek).mac(of: input), constantTimeEqual(expected, proof) else {
                continue
            }
            proven = (candidate.kid, Self.policy(of: header, dek))
            break
        }
        guard let proven else { throw .notProven }
        guard let policy = proven.policy else { throw .policyUnreadable }
        // The name in the policy ties header and stream for good, also after the registration has ended.
        guard let named = policy.stream, named.utf8.elementsEqual(registration.stream.utf8) else { throw .otherStream }
        headerHash = hash
        headerSha256 = Hexadecimal.encode(hash)
        kid = proven.kid
        self.policy = policy
    }

    private static func policy(of header: NanoTDFHeader, _ dek: [UInt8]) -> AccessPolicy? {
        switch header.policy {
        case .plaintext(let body): try? JSONCoding.decode(AccessPolicy.self, from: body)
        case .encrypted(let body): NanoTDFUnwrapper.decrypted(body, of: header, dek)
        case .remote, .encryptedWithKeyAccess: nil
        }
    }
}

extension CollectionReceipt {
    fileprivate init(_ entry: CollectionRegistry.Entry) {
        self.init(
            stream: entry.stream, headerSha256: entry.headerSha256, registeredAt: entry.registeredAt,
            notAfter: entry.notAfter, publisher: entry.signature)
    }
}
