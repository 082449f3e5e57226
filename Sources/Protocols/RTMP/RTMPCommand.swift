public import AMF0

/// A command message: name, transaction id, command object, arguments (RTMP 1.0 §7.1.1, §7.2).
public struct RTMPCommand: Equatable, Sendable {
    public var name: String
    /// 0 when no answer is expected.
    public var transactionID: Double
    /// Null in most commands.
    public var commandObject: AMF0Value
    public var arguments: [AMF0Value]

    public init(
        _ name: String, transactionID: Double = 0, commandObject: AMF0Value = .null, arguments: [AMF0Value] = []
    ) {
        self.name = name
        self.transactionID = transactionID
        self.commandObject = commandObject
        self.arguments = arguments
    }

    /// The body of a type 20 message.
    public func encoded() -> [UInt8] {
        AMF0.encode([.string(name), .number(transactionID), commandObject] + arguments)
    }

    /// Nil when the message is not a command. A type 17 body is AMF0 behind one zero byte.
    public static func parse(_ message: RTMPMessage) throws(RTMPError) -> RTMPCommand? {
        let body: ArraySlice<UInt8>
        switch message.type {
        case .commandAMF0: body = message.payload[...]
        case .commandAMF3: body = message.payload.first == 0 ? message.payload.dropFirst() : message.payload[...]
        default: return nil
        }
        let values: [AMF0Value]
        do throws(AMF0Error) {
            values = try AMF0.decode(body, limits: .command)
        } catch {
            throw .malformedCommand(error)
        }
        guard let name = values.first?.stringValue else { throw .incompleteCommand(valueCount: values.count) }
        // FFmpeg as a server sends a bare "onFCPublish", without transaction id or object.
        let transaction = values.count > 1 ? values[1].numberValue ?? 0 : 0
        return RTMPCommand(
            name, transactionID: transaction, commandObject: values.count > 2 ? values[2] : .null,
            arguments: Array(values.dropFirst(3)))
    }
}

extension RTMPCommand {
    /// An `onStatus` or the information object of an answer.
    static func status(
        _ name: String = "onStatus", transactionID: Double = 0, commandObject: AMF0Value = .null,
        level: String = "status", code: String, description: String, more: AMF0Object = [:]
    ) -> RTMPCommand {
        let information: AMF0Object = [
            "level": .string(level), "code": .string(code), "description": .string(description),
        ]
        return RTMPCommand(
            name, transactionID: transactionID, commandObject: commandObject,
            arguments: [.object(AMF0Object(information.entries + more.entries))])
    }

    /// The information object, which most servers send as the first argument and a few as the command object.
    private var information: AMF0Object? {
        arguments.first?.objectValue ?? commandObject.objectValue
    }

    /// `code` of the information object; empty when there is none.
    var statusCode: String { information?["code"]?.stringValue ?? "" }

    var statusLevel: String { information?["level"]?.stringValue ?? "" }

    /// Free text of the peer; where it asks for Adobe authentication it carries the challenge.
    var statusDescription: String { information?["description"]?.stringValue ?? "" }

    var statusTCURL: String? { information?["tcUrl"]?.stringValue }
}
