internal import KeyAccess
internal import NanoTDF

/// What became of one key access object before the decision.
///
/// There is always a key, so that a failure costs the same work as a success: the caller decides and wraps in every
/// case, and throws the result away when `fault` is set.
struct UnwrappedKey {
    /// Goes into the audit line; the client learns only that it was refused.
    enum Fault: String {
        case malformed = "malformed key access object"
        case noKey = "key access object without a key"
        case severalObjects = "several NanoTDF objects under one policy"
        case malformedHeader = "malformed header"
        case unsupportedCurve = "curve is not P-256"
        case unknownKid = "unknown kid"
        case keyNotProven = "nothing proves which key the header is for"
        case invalidPoint = "ephemeral key is not on the curve"
        case unwrapFailed = "unwrap failed"
        case policyUnreadable = "policy can't be read"
        case policyUnsupported = "policy type not served"
        case bindingMissing = "policy binding missing"
        case bindingWrong = "policy binding does not verify"
    }

    var key: [UInt8]
    var fault: Fault?
    /// The KAS key that was used.
    var kid: String?
    var policy: AccessPolicy?
    var origin: AccessDecision.Origin
    /// Lower-case hexadecimal; NanoTDF only.
    var headerSha256: String?

    mutating func wipe() {
        Wiping.wipe(&key)
    }
}
