/// What the payload of a message is (RTMP 1.0 §5.4, §7.1). Unknown values are legal on the wire and are skipped.
public struct MessageType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let setChunkSize = MessageType(rawValue: 1)
    public static let abort = MessageType(rawValue: 2)
    public static let acknowledgement = MessageType(rawValue: 3)
    public static let userControl = MessageType(rawValue: 4)
    public static let windowAcknowledgementSize = MessageType(rawValue: 5)
    public static let setPeerBandwidth = MessageType(rawValue: 6)
    /// The body is an FLV audio tag body.
    public static let audio = MessageType(rawValue: 8)
    /// The body is an FLV video tag body.
    public static let video = MessageType(rawValue: 9)
    /// One zero byte, then AMF0 in practice.
    public static let dataAMF3 = MessageType(rawValue: 15)
    /// One zero byte, then AMF0 in practice.
    public static let commandAMF3 = MessageType(rawValue: 17)
    public static let dataAMF0 = MessageType(rawValue: 18)
    public static let commandAMF0 = MessageType(rawValue: 20)
    /// FLV tags with back pointers: `AggregateMessage`.
    public static let aggregate = MessageType(rawValue: 22)
}

extension MessageType: CustomStringConvertible {
    public var description: String { "message type \(rawValue)" }
}
