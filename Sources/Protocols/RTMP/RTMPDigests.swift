/// Hash functions that this layer borrows from above, so that it stays free of C.
public struct RTMPDigests: Sendable {
    /// 16 bytes. Adobe authentication only.
    public let md5: @Sendable (_ message: [UInt8]) -> [UInt8]
    /// 32 bytes. The digest handshake only.
    public let hmacSHA256: @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

    public init(
        md5: @escaping @Sendable (_ message: [UInt8]) -> [UInt8],
        hmacSHA256: @escaping @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    ) {
        self.md5 = md5
        self.hmacSHA256 = hmacSHA256
    }
}
