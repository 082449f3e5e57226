public import Cryptography
public import NanoTDF

extension ECCurve {
    /// The curve that a NanoTDF header names.
    /// - Throws: `.invalidKey(.unsupportedCurve)` for secp256k1.
    public init(_ curve: EllipticCurve) throws(CryptoError) {
        switch curve {
        case .secp256r1: self = .p256
        case .secp384r1: self = .p384
        case .secp521r1: self = .p521
        case .secp256k1: throw .invalidKey(.unsupportedCurve)
        }
    }
}
