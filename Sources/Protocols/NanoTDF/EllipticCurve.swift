/// The curves of NanoTDF's ECC mode field (spec §3.3.1.3.2).
public enum EllipticCurve: UInt8, CaseIterable, Sendable {
    case secp256r1 = 0
    case secp384r1 = 1
    case secp521r1 = 2
    /// Named by the spec, served by no KAS; headers that use it are refused as unsupported.
    case secp256k1 = 3

    /// Bytes of one coordinate, or of a scalar.
    public var coordinateByteCount: Int {
        switch self {
        case .secp256r1, .secp256k1: 32
        case .secp384r1: 48
        case .secp521r1: 66
        }
    }

    /// Bytes of a compressed SEC1 point.
    public var compressedPointByteCount: Int { coordinateByteCount + 1 }

    /// Bytes of an ECDSA signature as r‖s.
    public var signatureByteCount: Int { coordinateByteCount * 2 }
}
