internal import Logging

/// A log event as the journal's native protocol wants it: pure, bounded.
struct JournalFields {
    /// Bytes; more is cut, so that a datagram stays far below what the kernel takes at once (208 KiB).
    static let messageLimit = 16 * 1024
    static let valueLimit = 4 * 1024
    static let metadataLimit = 24

    private(set) var bytes: [UInt8] = []

    init(_ event: LogEvent, metadata: Logger.Metadata, identifier: String, messageID: (String) -> String?) {
        append("MESSAGE", "\(event.message)".cut(toBytes: Self.messageLimit))
        append("PRIORITY", Self.priority(event.level))
        append("SYSLOG_IDENTIFIER", identifier)
        if let code = metadata["code"], let id = messageID("\(code)") { append("MESSAGE_ID", id) }
        append("CODE_FILE", event.file)
        append("CODE_LINE", "\(event.line)")
        append("CODE_FUNC", event.function)
        if let error = event.error { append("WATCHBOX_ERROR", "\(error)") }
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }).prefix(Self.metadataLimit) {
            if let name = Self.name(key) { append(name, "\(value)") }
        }
    }

    /// The journal takes `[A-Z0-9_]`, at most 64 of them, and no name of ours may begin with "_".
    static func name(_ key: String) -> String? {
        guard !key.isEmpty else { return nil }
        let characters = key.utf8.prefix(64 - 9).map { byte -> Character in
            switch UnicodeScalar(byte) {
            case "a"..."z": Character(UnicodeScalar(byte - 32))
            case "A"..."Z", "0"..."9": Character(UnicodeScalar(byte))
            default: "_"
            }
        }
        return "WATCHBOX_" + String(characters)
    }

    /// syslog's numbers.
    static func priority(_ level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: "7"
        case .info: "6"
        case .notice: "5"
        case .warning: "4"
        case .error: "3"
        case .critical: "2"
        }
    }

    /// `NAME=value`, or for a value with line breaks: name, length as 64 bits little endian, value.
    mutating func append(_ name: String, _ value: String) {
        let limit = name == "MESSAGE" ? Self.messageLimit : Self.valueLimit
        let value = value.cut(toBytes: limit).utf8
        bytes.append(contentsOf: name.utf8)
        if value.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes.append(contentsOf: $0) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "\n"))
    }
}
