internal import ErrorCatalog
public import Logging
internal import Systemd

/// Where log lines go: to the journal, with fields, when systemd started the process; else to standard error, one line
/// each: level, message, fields.
public enum LogSetup {
    /// - Parameter verbose: also what only a developer reads.
    public static func logger(label: String, verbose: Bool) -> Logger {
        var logger = Logger(label: label) { label in
            guard JournalLogHandler.isAvailable else { return StandardErrorLogHandler(label: label) }
            return JournalLogHandler(
                label: label, identifier: label, messageID: { code in ErrorCode(code)?.entry?.messageID })
        }
        logger.logLevel = verbose ? .debug : .info
        return logger
    }
}

/// `StreamLogHandler` puts a date in front that the journal writes anyway, and flushes late.
private struct StandardErrorLogHandler: LogHandler {
    let label: String
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { _, new in new }
            .sorted { $0.key < $1.key }
            .map { " \($0.key)=\("\($0.value)".terminalSafe)" }
            .joined()
        StandardError.writeLine("\(event.level) \(label): \("\(event.message)".terminalSafe)\(fields)")
    }
}
