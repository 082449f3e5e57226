/// When a decoder's child may be started, after earlier ones ended: at once the first time, then later and later. What
/// a camera sends can end each of them, and must not cost more than one start in half a minute for long.
struct DecoderSupervision: Equatable, Sendable {
    /// Children that ended by themselves or were ended because they hung.
    private(set) var failures: UInt64 = 0
    /// Why the last one did.
    private(set) var reason: String?
    private var inRow = 0
    private var startedAt: UInt64?
    /// Nanoseconds.
    private(set) var mayStartAt: UInt64 = 0

    private static let first: UInt64 = 500_000_000
    private static let maxLength: UInt64 = 30_000_000_000
    /// One that lived so long was well.
    static let wellAfter: UInt64 = 60_000_000_000

    func mayStart(at now: UInt64) -> Bool { now >= mayStartAt }

    mutating func started(at now: UInt64) {
        startedAt = now
    }

    mutating func ended(_ reason: String, at now: UInt64) {
        if let startedAt, now &- startedAt >= Self.wellAfter { inRow = 0 }
        startedAt = nil
        failures &+= 1
        self.reason = reason
        mayStartAt = now &+ min(Self.maxLength, Self.first << UInt64(min(inRow, 16)))
        inRow += 1
    }

    /// For a person; nil: nothing happened.
    var text: String? {
        guard let reason else { return nil }
        return "the decoder was started again \(failures == 1 ? "once" : "\(failures) times"): \(reason)"
    }
}
