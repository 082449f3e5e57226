internal import Wire

/// Takes an aggregate message (type 22) apart: FLV tags, each followed by its back pointer (RTMP 1.0 §7.1.6).
public enum AggregateMessage {
    /// Messages in one aggregate; no encoder sends more than a few dozen.
    public static let maxTags = 4096

    /// The messages within. The time of each is that of the aggregate plus its distance from the first tag. Tags that
    /// are neither audio, video nor data are left out.
    public static func split(_ message: RTMPMessage) throws(RTMPError) -> [RTMPMessage] {
        var messages: [RTMPMessage] = []
        var reader = ByteReader(message.payload)
        var first: UInt32?
        var count = 0
        while !reader.isAtEnd {
            let start = reader.offset
            count += 1
            guard count <= maxTags else { throw .malformedAggregate(offset: start) }
            do throws(WireError) {
                let type = MessageType(rawValue: try reader.readUInt8())
                let length = try reader.readUInt24()
                let low = try reader.readUInt24()
                let time = UInt32(try reader.readUInt8()) << 24 | low
                try reader.skip(3)  // the stream id, meaningless here
                let payload = try reader.readBytes(Int(length))
                // The last back pointer is missing in aggregates of some servers; its value says nothing new.
                try reader.skip(min(4, reader.remaining))
                let base = first ?? time
                first = base
                guard type == .audio || type == .video || type == .dataAMF0 else { continue }
                messages.append(
                    RTMPMessage(
                        type: type, timestamp: message.timestamp &+ (time &- base), streamID: message.streamID,
                        payload: Array(payload)))
            } catch {
                throw .malformedAggregate(offset: start)
            }
        }
        return messages
    }
}
