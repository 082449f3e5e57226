/// How the 3-byte IV of an item becomes a GCM nonce. The spec doesn't say, and three rules are in use
/// (docs/ref/wire-format.md, "Nonces"): a reader tries them in this order and keeps the first that authenticates.
public enum NonceRule: CaseIterable, Sendable {
    /// A: nine zero bytes, then the IV. What ntdf-1 writes; Go, JS, Java, C++, Python, Arkavo's apps.
    case zerosFirst
    /// B: the IV, then nine zero bytes. OpenTDFKit since 2026-06.
    case ivFirst
    /// C: the three bytes as they are. The spec's examples and old C++ and JS writers.
    case bare

    /// The nonce for `counter`, 12 or 3 bytes.
    public func nonce(_ counter: UInt32) -> [UInt8] {
        let iv = [16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> UInt32($0)) }
        let zeros = [UInt8](repeating: 0, count: 9)
        return switch self {
        case .zerosFirst: zeros + iv
        case .ivFirst: iv + zeros
        case .bare: iv
        }
    }
}
