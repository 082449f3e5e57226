public import Wire

/// Why a NanoTDF could not be read or written. Offsets count from the first byte of what was given.
public enum NanoTDFError: WireFailure, Equatable, Sendable {
    /// A field that a value of the wire can be wrong in.
    public enum Field: Equatable, Sendable {
        case magic, version, locatorProtocol, locatorLength, keyIdentifierSize, bindingMode, payloadConfiguration
        case policyType, policyLength, policyBinding, ephemeralKey, kasKey, keyIdentifier, policy, itemLength, signature
        case itemCount, headerLength
    }

    /// Something that the format allows and this implementation doesn't do.
    public enum Feature: Equatable, Sendable {
        case curve(EllipticCurve)
        /// Tags of less than 12 bytes, unless allowed.
        case shortTag(Int)
        /// A policy type that can't be opened or written here.
        case policyType(UInt8)
    }

    /// Cut short, or bytes where the format ends.
    case wire(WireError)
    case invalid(Field, offset: Int)
    case tooLarge(Field, count: Int, limit: Int, offset: Int)
    case unsupported(Feature)
    /// The tag does not verify under the key.
    case authenticationFailed
    /// All 2^24 − 1 counter values of the collection are used: a new collection is due.
    case counterExhausted
    /// The plaintext doesn't fit an item.
    case itemTooLarge(count: Int, limit: Int)
    case crypto(NanoTDFCryptoError)
}

extension NanoTDFError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "NanoTDF: \(error)"
        case .invalid(let field, let offset): "NanoTDF: invalid \(field) at byte \(offset)"
        case .tooLarge(let field, let count, let limit, let offset):
            "NanoTDF: \(field) of \(count) at byte \(offset), at most \(limit) allowed"
        case .unsupported(.curve(let curve)): "NanoTDF: curve \(curve) is not supported"
        case .unsupported(.shortTag(let count)): "NanoTDF: tags of \(count) bytes are not accepted"
        case .unsupported(.policyType(let type)): "NanoTDF: policy type \(type) is not supported"
        case .authenticationFailed: "NanoTDF: the authentication tag does not verify"
        case .counterExhausted: "NanoTDF: the collection's counter is used up"
        case .itemTooLarge(let count, let limit): "NanoTDF: \(count) bytes in one item, at most \(limit) allowed"
        case .crypto(let error): "NanoTDF: \(error)"
        }
    }
}
