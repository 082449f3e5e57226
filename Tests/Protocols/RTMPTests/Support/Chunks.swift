import AMF0
import RTMP

/// Bytes of a chunk stream, written by hand: every form, also those that our writer never chooses.
struct Chunks {
    var bytes: [UInt8] = []

    /// Basic header in the shortest form, or in a longer one.
    static func basic(_ format: UInt8, _ id: Int, form: Int? = nil) -> [UInt8] {
        switch form ?? (id < 64 ? 1 : id < 320 ? 2 : 3) {
        case 1: [format << 6 | UInt8(id)]
        case 2: [format << 6, UInt8(id - 64)]
        default: [format << 6 | 1, UInt8((id - 64) & 0xFF), UInt8((id - 64) >> 8)]
        }
    }

    static func u24(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    static func u32(_ value: UInt32) -> [UInt8] { [UInt8(value >> 24)] + u24(value & 0xFF_FFFF) }

    /// One after the other. A sum of many is more than Swift 6.2 checks.
    static func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined()) }

    /// Format 0 header; a time of 0xFFFFFF and more is extended.
    static func absolute(
        _ id: Int = 6, time: UInt32, length: Int, type: UInt8 = 9, stream: UInt32 = 1, form: Int? = nil
    ) -> [UInt8] {
        joined([
            basic(0, id, form: form), u24(min(time, 0xFF_FFFF)), u24(UInt32(length)), [type], u32(stream).reversed(),
            time >= 0xFF_FFFF ? u32(time) : [],
        ])
    }

    /// Format 1 header.
    static func delta(_ delta: UInt32, length: Int, type: UInt8 = 9, id: Int = 6) -> [UInt8] {
        joined([
            basic(1, id), u24(min(delta, 0xFF_FFFF)), u24(UInt32(length)), [type],
            delta >= 0xFF_FFFF ? u32(delta) : [],
        ])
    }

    /// Format 2 header.
    static func deltaOnly(_ delta: UInt32, id: Int = 6) -> [UInt8] {
        basic(2, id) + u24(min(delta, 0xFF_FFFF)) + (delta >= 0xFF_FFFF ? u32(delta) : [])
    }

    static func control(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        absolute(2, time: 0, length: body.count, type: type, stream: 0) + body
    }

    static func command(_ command: RTMPCommand, stream: UInt32 = 0) -> [UInt8] {
        var output: [UInt8] = []
        var writer = ChunkWriter()
        writer.append(command, streamID: stream, to: &output)
        return output
    }
}

extension ChunkReader {
    /// Everything that `bytes` complete.
    mutating func messages(_ bytes: some Collection<UInt8>) throws(RTMPError) -> [RTMPMessage] {
        append(ArraySlice(Array(bytes)))
        var messages: [RTMPMessage] = []
        while let message = try next() { messages.append(message) }
        return messages
    }
}

/// The messages in `bytes`, read at once.
func read(_ bytes: [UInt8], limits: ChunkLimits = ChunkLimits()) throws(RTMPError) -> [RTMPMessage] {
    var reader = ChunkReader(limits: limits)
    return try reader.messages(bytes)
}

/// `count` bytes that differ from their neighbours.
func body(_ count: Int, from first: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: first + $0 &* 7) }
}
