internal import Cryptography
internal import Glibc
public import KeyAccess
internal import NanoTDF
internal import Wire

/// Signs registrations with the key of a device, or with one that the device's vouches for (`DeviceSignature`).
///
/// Its file is a P-256 private key in PEM; for a key of one stream one more line follows, `WatchBox-Delegation:` and the
/// base64 of the device's public key (33 bytes) and signature (64).
public final class DeviceSigner: Sendable {
    /// Bytes of the file; a real one has 400.
    public static let limit = 4096
    private static let delegationMark = Array("WatchBox-Delegation: ".utf8)

    private let key: ECPrivateKey
    private let delegation: DeviceSignature.Delegation?

    /// - Parameter bytes: of the file; stay the caller's to wipe.
    public init(_ bytes: [UInt8]) throws(KeyAccessError) {
        guard bytes.count <= Self.limit, let key = try? ECPrivateKey(pem: bytes), key.curve == .p256 else {
            throw .signingKey("it is no private key on P-256 in PEM")
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
        func failed(_ code: CInt) -> KeyAccessError { .signingKey("\(path): \(String(cString: strerror(code)))") }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failed(errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.limit + 1)
        var buffer = [UInt8](repeating: 0, count: Self.limit + 1)
        defer { Wiping.wipe(&buffer) }
        while bytes.count <= Self.limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count - bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failed(errno) }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
