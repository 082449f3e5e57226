internal import CSystemd
internal import Glibc
public import Logging

/// Writes to the journal with its native protocol: MESSAGE, PRIORITY, SYSLOG_IDENTIFIER, MESSAGE_ID, CODE_FILE,
/// CODE_LINE, CODE_FUNC, and metadata as `WATCHBOX_<KEY>` in capitals (`camera` → WATCHBOX_CAMERA). Never waits and
/// never fails: an entry that the journal cannot take is dropped, and the next one has their number in
/// WATCHBOX_DROPPED.
public struct JournalLogHandler: LogHandler {
    /// Whether standard error goes to the journal (`$JOURNAL_STREAM`), and the journal's socket exists.
    public static var isAvailable: Bool {
        var standardError = stat()
        guard fstat(STDERR_FILENO, &standardError) == 0 else { return false }
        return isAvailable(
            stream: getenv("JOURNAL_STREAM").map { String(cString: $0) }, standardError: standardError,
            socketPath: JournalSocket.systemPath)
    }

    /// swift-log's label, the part of the program that speaks.
    public let label: String
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    private let identifier: String
    private let messageID: @Sendable (String) -> String?
    private let socket: JournalSocket

    /// - Parameters:
    ///   - identifier: SYSLOG_IDENTIFIER, what `journalctl` shows in front of the message.
    ///   - messageID: the MESSAGE_ID (32 hexadecimal digits) that belongs to the error code in metadata `code`.
    public init(label: String, identifier: String, messageID: @escaping @Sendable (_ code: String) -> String?) {
        self.init(label: label, identifier: identifier, messageID: messageID, socket: .system)
    }

    init(
        label: String, identifier: String, messageID: @escaping @Sendable (_ code: String) -> String?,
        socket: JournalSocket
    ) {
        self.label = label
        self.identifier = identifier
        self.messageID = messageID
        self.socket = socket
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let given = event.metadata { all.merge(given) { _, new in new } }
        socket.send(JournalFields(event, metadata: all, identifier: identifier, messageID: messageID))
    }

    static func isAvailable(stream: String?, standardError: stat, socketPath: String) -> Bool {
        guard let parts = stream?.split(separator: ":"), parts.count == 2,
            UInt64(parts[0]) == UInt64(standardError.st_dev), UInt64(parts[1]) == UInt64(standardError.st_ino)
        else { return false }
        return access(socketPath, W_OK) == 0
    }
}
