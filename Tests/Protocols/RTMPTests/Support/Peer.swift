import AMF0
import RTMP

/// The other side of a session under test: reads what it wrote as one line per message, and writes messages to it.
struct Peer {
    private var reader = ChunkReader()
    private var writer = ChunkWriter()

    /// The messages in `bytes` in short, such as `publish 5 cam1 live @1`.
    mutating func read(_ bytes: [UInt8]) -> [String] {
        guard let messages = try? reader.messages(bytes) else { return ["refused"] }
        return messages.map(Self.line)
    }

    static func line(_ message: RTMPMessage) -> String {
        if let control = try? ControlMessage.parse(message) { return "\(control)" }
        guard let command = try? RTMPCommand.parse(message) else {
            return "\(message.type.rawValue) \(message.timestamp) \(message.payload) @\(message.streamID)"
        }
        var words = [command.name, "\(Int(command.transactionID))"]
        for argument in [command.commandObject] + command.arguments {
            switch argument {
            case .null, .undefined: break
            case .object(let object):
                if let code = object["code"] { words.append(code.stringValue ?? "?") }
            case .number(let number): words.append("\(Int(number))")
            case let value: words.append(value.stringValue ?? "?")
            }
        }
        return words.joined(separator: " ") + (message.streamID == 0 ? "" : " @\(message.streamID)")
    }

    mutating func command(
        _ name: String, _ transaction: Double = 0, object: AMF0Value = .null, _ arguments: AMF0Value...,
        stream: UInt32 = 0
    ) -> [UInt8] {
        var output: [UInt8] = []
        let command = RTMPCommand(name, transactionID: transaction, commandObject: object, arguments: arguments)
        writer.append(command, streamID: stream, to: &output)
        return output
    }

    mutating func status(
        _ code: String, level: String = "status", description: String = "", more: AMF0Object = [:],
        name: String = "onStatus",
        _ transaction: Double = 0, stream: UInt32 = 0
    ) -> [UInt8] {
        var information: AMF0Object = [
            "level": .string(level), "code": .string(code), "description": .string(description),
        ]
        information.entries += more.entries
        return command(name, transaction, .object(information), stream: stream)
    }

    mutating func control(_ message: ControlMessage) -> [UInt8] {
        var output: [UInt8] = []
        if case .setChunkSize(let size) = message {
            writer.setChunkSize(Int(size), to: &output)
        } else {
            writer.append(message, to: &output)
        }
        return output
    }

    mutating func media(_ type: MessageType, _ timestamp: UInt32, _ payload: [UInt8], stream: UInt32 = 1) -> [UInt8] {
        var output: [UInt8] = []
        writer.append(
            type, timestamp: timestamp, streamID: stream, chunkStreamID: type.mediaChunkStreamID, payload: payload[...],
            to: &output)
        return output
    }
}

/// S0 S1 S2, or C0 C1 C2, of no particular program.
let plainHandshake: [UInt8] = [3] + [UInt8](repeating: 0, count: 8) + body(1528) + body(1536)

let second: UInt64 = 1_000_000_000
