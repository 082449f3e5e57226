/// How far the peer's kernel has what was written, by looks at TCP now and then: also where TLS adds bytes that nobody counts.
struct DeliveryMark: Sendable {
    /// CLOCK_MONOTONIC in nanoseconds: the peer's kernel has what TCP was given up to then; nil: nothing is known.
    private(set) var until: UInt64?
    /// What TCP had been given at an earlier look, of which the peer did not have all.
    private var mark: (written: UInt64, at: UInt64)?

    /// - Parameters:
    ///   - acknowledged: bytes that the peer's kernel has, as TCP counts.
    ///   - written: bytes that TCP was given.
    mutating func observed(acknowledged: UInt64, written: UInt64, at now: UInt64) {
        if acknowledged >= written {
            until = now
            mark = nil
            return
        }
        if let mark, acknowledged >= mark.written {
            until = mark.at
            self.mark = nil
        }
        mark = mark ?? (written, now)
    }
}
