internal import ControlAPI

/// Server-sent events out of bytes (HTML standard §9.2.6), in whatever pieces they come.
struct ServerEventParser {
    enum Failure: Error, Equatable {
        case tooLong(limit: Int)
    }

    /// Of one event, all its lines together.
    static let maximumEventBytes = 1 << 20

    private var line: [UInt8] = []
    private var bytesOfEvent = 0
    private var lastWasReturn = false
    private var isFirstLine = true
    private var id: String?
    private var event = ""
    private var data: [String] = []

    /// The events that these bytes complete.
    mutating func received(_ bytes: [UInt8]) throws(Failure) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            if byte == 0x0A, lastWasReturn {  // the second half of CR LF
                lastWasReturn = false
                continue
            }
            lastWasReturn = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                if let event = lineEnded() { events.append(event) }
            } else {
                bytesOfEvent += 1
                guard bytesOfEvent <= Self.maximumEventBytes else { throw .tooLong(limit: Self.maximumEventBytes) }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func lineEnded() -> ServerEvent? {
        var text = String(decoding: line, as: UTF8.self)[...]
        line.removeAll(keepingCapacity: true)
        if isFirstLine, text.first == "\u{FEFF}" { text.removeFirst() }
        isFirstLine = false
        guard !text.isEmpty else { return dispatch() }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        var value = colon < text.endIndex ? text[text.index(after: colon)...] : ""
        if value.first == " " { value.removeFirst() }
        switch text[..<colon] {
        case "event": event = String(value)
        case "data": data.append(String(value))
        case "id" where !value.utf8.contains(0): id = String(value)
        default: break  // a comment (nothing before the colon), `retry`, or a field of the future
        }
        return nil
    }

    /// An event without data does not count; its id counts for those after it.
    private mutating func dispatch() -> ServerEvent? {
        defer {
            event = ""
            data = []
            bytesOfEvent = 0
        }
        guard !data.isEmpty else { return nil }
        return ServerEvent(id: id, event: event.isEmpty ? "message" : event, data: data.joined(separator: "\n"))
    }
}
