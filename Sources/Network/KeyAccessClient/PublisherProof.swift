internal import Cryptography
public import KeyAccess
internal import Wire

/// Which device registered a collection, as far as the viewer could verify it himself.
public enum PublisherProof: Equatable, Sendable {
    /// The KAS reports no signature: it knows no device of the publisher, or nothing of devices.
    case none
    /// Its signature over header, stream and time holds. `fingerprint` is `sha256//…` of its SubjectPublicKeyInfo.
    case device(fingerprint: String, signedAt: Int64)
    /// The KAS reports one, and it does not hold.
    case invalid

    /// - Parameter header: as the relay gave it.
    public init(_ facts: CollectionFacts?, header: [UInt8]) {
        guard let facts, let publisher = facts.publisher else {
            self = .none
            return
        }
        guard
            let verified = publisher.signature.verified(
                headerHash: Digest.sha256(header), stream: facts.stream, issuedAt: publisher.signedAt,
                verifies: CanonicalES256.verifies(_:of:by:)),
            let device = try? ECPublicKey(sec1: verified.device, curve: .p256)
        else {
            self = .invalid
            return
        }
        self = .device(fingerprint: device.fingerprint, signedAt: publisher.signedAt)
    }
}
