internal import Wire

/// Protocol control messages and user control events (RTMP 1.0 §5.4, §6.2, §7.1.7).
public enum ControlMessage: Equatable, Sendable {
    /// Bytes per chunk from the next chunk on.
    case setChunkSize(UInt32)
    /// Chunk stream id whose unfinished message is void.
    case abort(UInt32)
    /// Bytes received so far, modulo 2^32; some peers send increments (huiping192/HPRTMP#28). Informative only.
    case acknowledgement(UInt32)
    case userControl(UserControlEvent)
    /// Bytes after which the receiver of this message acknowledges.
    case windowAcknowledgementSize(UInt32)
    /// Bytes in flight that the peer requests, and the limit type: 0 hard, 1 soft, 2 dynamic.
    case setPeerBandwidth(UInt32, limit: UInt8)

    public var type: MessageType {
        switch self {
        case .setChunkSize: .setChunkSize
        case .abort: .abort
        case .acknowledgement: .acknowledgement
        case .userControl: .userControl
        case .windowAcknowledgementSize: .windowAcknowledgementSize
        case .setPeerBandwidth: .setPeerBandwidth
        }
    }

    public var body: [UInt8] {
        var body: [UInt8] = []
        switch self {
        case .setChunkSize(let value), .abort(let value), .acknowledgement(let value),
            .windowAcknowledgementSize(let value):
            body.appendUInt32(value)
        case .setPeerBandwidth(let value, let limit):
            body.appendUInt32(value)
            body.append(limit)
        case .userControl(let event):
            event.append(to: &body)
        }
        return body
    }

    /// Nil when the message is of another type. Bytes after the fields are ignored.
    /// - Parameter offset: where the message ended, for the error.
    public static func parse(_ message: RTMPMessage, offset: Int = 0) throws(RTMPError) -> ControlMessage? {
        do throws(WireError) {
            var reader = ByteReader(message.payload)
            switch message.type {
            case .setChunkSize: return .setChunkSize(try reader.readUInt32())
            case .abort: return .abort(try reader.readUInt32())
            case .acknowledgement: return .acknowledgement(try reader.readUInt32())
            case .windowAcknowledgementSize: return .windowAcknowledgementSize(try reader.readUInt32())
            case .setPeerBandwidth:
                let size = try reader.readUInt32()
                // The limit type is left out by some encoders; dynamic is what they mean.
                return .setPeerBandwidth(size, limit: reader.isAtEnd ? 2 : try reader.readUInt8())
            case .userControl: return .userControl(try UserControlEvent(&reader))
            default: return nil
            }
        } catch {
            throw .malformedControl(message.type, length: message.payload.count, offset: offset)
        }
    }
}

/// Body of a user control message: u16 event type and its data (RTMP 1.0 §7.1.7).
public enum UserControlEvent: Equatable, Sendable {
    case streamBegin(UInt32)
    case streamEOF(UInt32)
    case streamDry(UInt32)
    /// Stream id and milliseconds.
    case setBufferLength(UInt32, milliseconds: UInt32)
    case streamIsRecorded(UInt32)
    /// The answer carries the same value.
    case pingRequest(UInt32)
    case pingResponse(UInt32)
    /// An event that we do not know, with its data.
    case other(UInt16, [UInt8])

    init(_ reader: inout ByteReader) throws(WireError) {
        switch try reader.readUInt16() {
        case 0: self = .streamBegin(try reader.readUInt32())
        case 1: self = .streamEOF(try reader.readUInt32())
        case 2: self = .streamDry(try reader.readUInt32())
        case 3:
            let stream = try reader.readUInt32()
            self = .setBufferLength(stream, milliseconds: try reader.readUInt32())
        case 4: self = .streamIsRecorded(try reader.readUInt32())
        case 6: self = .pingRequest(try reader.readUInt32())
        case 7: self = .pingResponse(try reader.readUInt32())
        case let event: self = .other(event, Array(reader.readRemaining()))
        }
    }

    func append(to body: inout [UInt8]) {
        switch self {
        case .streamBegin(let stream): body.append(event: 0, stream)
        case .streamEOF(let stream): body.append(event: 1, stream)
        case .streamDry(let stream): body.append(event: 2, stream)
        case .setBufferLength(let stream, let milliseconds):
            body.append(event: 3, stream)
            body.appendUInt32(milliseconds)
        case .streamIsRecorded(let stream): body.append(event: 4, stream)
        case .pingRequest(let value): body.append(event: 6, value)
        case .pingResponse(let value): body.append(event: 7, value)
        case .other(let event, let data):
            body.appendUInt16(event)
            body += data
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(event: UInt16, _ value: UInt32) {
        appendUInt16(event)
        appendUInt32(value)
    }
}
