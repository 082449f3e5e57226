internal import Cryptography
public import KeyAccess
internal import NanoTDF
internal import Platform
internal import Wire

/// Signs registrations with the key of a device, or with one that the device's vouches for (`DeviceSignature`).
///
/// Its file is a P-256 private key in PEM; for a key of one stream one more line follows, `WatchBox-Delegation:` and
/// the base64 of the device's public key (33 bytes) and signature (64).
public final class DeviceSigner: Sendable {
    /// Bytes of the file; a real one has 400.
    public static let limit = 4096
    private static let delegationMark = Array("WatchBox-Delegation: ".utf8)

    private let key: ECPrivateKey
    private let delegation: DeviceSignature.Delegation?

    /// - Parameter bytes: of the file; stay the caller's to wipe.
    public init(_ bytes: [UInt8]) throws(KeyAccessError) {
        guard bytes.count <= Self.limit, let key = try? ECPrivateKey(pem: bytes), key.curve == .p256 else {
            throw .signingKey("it is not a private key on P-256 in PEM")
        }
        self.key = key
        let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: Self.delegationMark) }
        guard let line = lines.first else {
            delegation = nil
            return
        }
        guard lines.count == 1,
            let word = try? Base64.decode(utf8: Array(line.dropFirst(Self.delegationMark.count))),
            word.count == DeviceSignature.keyByteCount + DeviceSignature.signatureByteCount
        else { throw .signingKey("its delegation is not that of a device") }
        delegation = DeviceSignature.Delegation(
            device: Array(word.prefix(DeviceSignature.keyByteCount)),
            signature: Array(word.dropFirst(DeviceSignature.keyByteCount)))
    }

    /// - Parameter path: of a file that its owner alone reads.
    public convenience init(file path: String) throws(KeyAccessError) {
        var bytes = try Self.read(path)
        defer { Wiping.wipe(&bytes) }
        try self.init(bytes)
    }

    /// - Parameter issuedAt: of the registration, Unix milliseconds.
    public func sign(headerHash: [UInt8], stream: String, issuedAt: Int64) throws(KeyAccessError) -> DeviceSignature {
        let statement = DeviceSignature.statement(headerHash: headerHash, stream: stream, issuedAt: issuedAt)
        do {
            return DeviceSignature(
                key: key.publicKey.compressed(), signature: try CanonicalES256.sign(statement, with: key),
                delegation: delegation)
        } catch {
            throw .crypto("\(error)")
        }
    }

    private static func read(_ path: String) throws(KeyAccessError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            return try SmallFile.whole(path, limit: limit)
        } catch {
            throw .signingKey("\(path): \(error)")
        }
    }
}
