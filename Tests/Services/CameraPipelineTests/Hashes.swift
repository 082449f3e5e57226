import Cryptography
import Wire

/// Hashes as logs and registrations name them.
enum Hashes {
    static func sha256(_ bytes: [UInt8]) -> [UInt8] { Digest.sha256(bytes) }
    static func hexadecimal(_ bytes: [UInt8]) -> String { Hexadecimal.encode(Digest.sha256(bytes)) }
    static func name(_ header: [UInt8]) -> String { String(hexadecimal(header).prefix(8)) }
}
