internal import CSystemd
internal import Glibc

/// The journal, open at a place; used by one thread.
struct JournalHandle: ~Copyable {
    private static let isLoaded = watchbox_systemd_load() != 0
    private static let fieldLimit = 64

    private let journal: OpaquePointer

    /// - Parameter directory: nil for this machine's own journal, volatile or not.
    init(directory: String? = nil) throws(SystemdError) {
        guard Self.isLoaded else { throw .unavailable("libsystemd.so.0 cannot be loaded") }
        var journal: OpaquePointer?
        let result =
            if let directory { watchbox_journal_open(directory, &journal) } else {
                watchbox_journal_open(nil, &journal)
            }
        guard result >= 0, let journal else { throw .failed("sd_journal_open", -result, "opening the journal") }
        _ = watchbox_journal_limit_field(journal, JournalFields.messageLimit + 64)
        self.journal = journal
    }

    deinit { watchbox_journal_close(journal) }

    /// The system's journal opens for everybody and is empty for those who may not read it.
    func checkReadable() throws(SystemdError) {
        if watchbox_journal_has_files(journal) != 0 { return }
        if geteuid() != 0, access("/run/log/journal", F_OK) == 0 || access("/var/log/journal", F_OK) == 0 {
            throw .denied("reading the journal; the group systemd-journal may")
        }
        throw .unavailable("the journal has no files on this machine")
    }

    func match(_ query: JournalQuery) throws(SystemdError) {
        for (index, unit) in query.units.enumerated() {
            if index > 0 { try check("sd_journal_add_disjunction", watchbox_journal_or(journal)) }
            try match("_SYSTEMD_UNIT", unit)
            try check("sd_journal_add_disjunction", watchbox_journal_or(journal))
            // What PID 1 says of the unit: started, failed, killed by the watchdog.
            try match("_PID", "1")
            try match("UNIT", unit)
        }
        if !query.units.isEmpty { try check("sd_journal_add_conjunction", watchbox_journal_and(journal)) }
        if let camera = query.camera { try match("WATCHBOX_CAMERA", camera) }
        if let code = query.code { try match("WATCHBOX_CODE", code) }
        if let most = query.maximumPriority {
            for priority in 0...most { try match("PRIORITY", "\(priority)") }
        }
    }

    /// Such that `next` leads to the first requested entry.
    func seek(_ query: JournalQuery) throws(SystemdError) -> Position {
        if let cursor = query.afterCursor {
            guard watchbox_journal_seek_cursor(journal, cursor) >= 0 else { throw .invalid("journal cursor") }
            guard try next() else { return .before }
            return watchbox_journal_is_at(journal, cursor) > 0 ? .before : .at
        }
        try check("sd_journal_seek_tail", watchbox_journal_seek_tail(journal))
        let back = watchbox_journal_back(journal, UInt64(max(query.last, 1)))
        try check("sd_journal_previous_skip", back)
        if back == 0 {
            try check("sd_journal_seek_head", watchbox_journal_seek_head(journal))
            return .before
        }
        return query.last == 0 ? .before : .at
    }

    /// Whether the entry under the cursor is itself requested, or only those behind it.
    enum Position {
        case at
        case before
    }

    /// False at the end, for now.
    func next() throws(SystemdError) -> Bool {
        let result = watchbox_journal_next(journal)
        try check("sd_journal_next", result)
        return result > 0
    }

    func wait(milliseconds: UInt64) throws(SystemdError) {
        try check("sd_journal_wait", watchbox_journal_wait(journal, milliseconds * 1000))
    }

    /// The entry under the cursor; nil when it cannot be read, which a power cut can do to the last ones of a file.
    func entry() -> JournalEntry? {
        var realtime: UInt64 = 0
        var text: UnsafeMutablePointer<CChar>?
        guard watchbox_journal_realtime(journal, &realtime) >= 0, watchbox_journal_cursor(journal, &text) >= 0,
            let text
        else { return nil }
        defer { free(text) }
        var entry = JournalEntry(
            cursor: String(cString: text), realtimeMicroseconds: realtime, unit: nil, identifier: nil, priority: 6,
            message: "", fields: [:])
        var values: [String: String] = [:]
        var bytes: UnsafeRawPointer?
        var count = 0
        while watchbox_journal_field(journal, &bytes, &count) > 0 {
            guard values.count < Self.fieldLimit else { break }
            let field = UnsafeRawBufferPointer(start: bytes, count: count)
            guard let (name, value) = Self.split(field), values[name] == nil else { continue }
            values[name] = value
        }
        entry.unit = values["_PID"] == "1" ? values["UNIT"] ?? values["_SYSTEMD_UNIT"] : values["_SYSTEMD_UNIT"]
        entry.identifier = values["SYSLOG_IDENTIFIER"]
        if let priority = values["PRIORITY"].flatMap({ Int($0) }), (0...7).contains(priority) {
            entry.priority = priority
        }
        entry.message = values["MESSAGE"] ?? ""
        entry.fields = values.filter { $0.key.hasPrefix("WATCHBOX_") || $0.key == "MESSAGE_ID" }
        return entry
    }

    private static let keptFields: Set<String> = [
        "_PID", "UNIT", "_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "PRIORITY", "MESSAGE", "MESSAGE_ID",
    ]

    /// `NAME=value`, when the name is one that an entry shows.
    private static func split(_ field: UnsafeRawBufferPointer) -> (String, String)? {
        guard let equals = field.prefix(65).firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(decoding: field[..<equals], as: UTF8.self)
        guard name.hasPrefix("WATCHBOX_") || keptFields.contains(name) else { return nil }
        let limit = name == "MESSAGE" ? JournalFields.messageLimit : JournalFields.valueLimit
        return (name, String(decoding: field[(equals + 1)...].prefix(limit), as: UTF8.self))
    }

    private func match(_ name: String, _ value: String) throws(SystemdError) {
        let match = Array("\(name)=\(value)".utf8)
        try check("sd_journal_add_match", watchbox_journal_match(journal, match, match.count))
    }

    private func check(_ call: String, _ result: CInt) throws(SystemdError) {
        if result < 0 { throw .system(call: call, errno: -result) }
    }
}
