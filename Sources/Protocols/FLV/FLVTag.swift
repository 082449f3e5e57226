/// One tag of an FLV file: the same as one RTMP message of that type.
public struct FLVTag: Equatable, Sendable {
    public static let audio: UInt8 = 8
    public static let video: UInt8 = 9
    public static let script: UInt8 = 18

    /// 8 audio, 9 video, 18 script data.
    public var type: UInt8
    /// Milliseconds, all 32 bits, modulo 2^32.
    public var timestamp: UInt32
    public var body: [UInt8]

    public init(type: UInt8, timestamp: UInt32, body: [UInt8]) {
        self.type = type
        self.timestamp = timestamp
        self.body = body
    }
}
