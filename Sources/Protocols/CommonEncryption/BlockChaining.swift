/// AES-128 in CBC mode under one key, supplied from above: this module computes nothing itself.
///
/// `AES128CBC` of module Cryptography is the implementation. It holds the key, and wipes it when it ends.
public protocol BlockChaining: AnyObject, Sendable {
    /// Replaces whole blocks of 16 bytes, chained from `iv` on, without padding.
    func encrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CommonEncryptionError)

    /// The inverse of ``encrypt(_:iv:)``.
    func decrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CommonEncryptionError)
}
