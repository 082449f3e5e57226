/// One entry of the journal.
public struct JournalEntry: Codable, Equatable, Sendable {
    /// Where it is, for `JournalQuery.afterCursor`.
    public var cursor: String
    /// Microseconds since 1970, by the box's clock when it was written.
    public var realtimeMicroseconds: UInt64
    /// The unit that wrote it, or that PID 1 writes about.
    public var unit: String?
    /// SYSLOG_IDENTIFIER.
    public var identifier: String?
    /// syslog's: 0 (emergency) to 7 (debug).
    public var priority: Int
    /// At most 16 KiB.
    public var message: String
    /// WATCHBOX_* and MESSAGE_ID, nothing else; values of at most 4 KiB.
    public var fields: [String: String]
}

/// Which entries. Conditions that are set must all hold.
public struct JournalQuery: Sendable {
    /// Written by any of these units, or by PID 1 about them; empty for all. At most 64.
    public var units: [String] = []
    /// WATCHBOX_CAMERA. PID 1 does not write it: for all that concerns a camera, ask for its unit instead.
    public var camera: String?
    /// WATCHBOX_CODE.
    public var code: String?
    /// 0 to 7; 4 for warnings and worse.
    public var maximumPriority: Int?
    /// Not older than this, in microseconds since 1970.
    public var sinceMicroseconds: UInt64?
    /// Only what was written after this entry. A cursor that the journal no longer has means the nearest one.
    public var afterCursor: String?
    /// 0 to 10 000. With `afterCursor` the first so many after it, otherwise the newest so many; all together at most
    /// 8 MiB of text.
    public var last = 100

    public init() {}

    /// - Throws: `.invalid`, with what is wrong.
    func check() throws(SystemdError) {
        guard units.count <= 64 else { throw .invalid("more than 64 units in a journal query") }
        for unit in units where !UnitName.isValid(unit) { throw .invalid("unit name \"\(unit.oneLine(limit: 64))\"") }
        for value in [camera, code] {
            guard (value?.utf8.count ?? 0) <= 256 else { throw .invalid("journal match longer than 256 bytes") }
        }
        if let maximumPriority, !(0...7).contains(maximumPriority) {
            throw .invalid("journal priority \(maximumPriority) is not 0 to 7")
        }
        guard (0...10_000).contains(last) else { throw .invalid("\(last) journal entries: 0 to 10000 can be read") }
        if let afterCursor {
            guard (1...512).contains(afterCursor.utf8.count), !afterCursor.utf8.contains(0) else {
                throw .invalid("journal cursor of \(afterCursor.utf8.count) bytes")
            }
        }
    }
}
