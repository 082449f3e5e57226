/// When a search ends: everything was asked and listened to, and devices that were found had time to say who they are.
struct SearchEnd {
    /// For questions to devices that were found last.
    let grace: UInt64
    /// When nothing was left but those questions.
    private var begin: UInt64?

    /// - Parameters:
    ///   - connectTime: nanoseconds for a connection.
    ///   - answerTime: nanoseconds from there to the answer.
    init(connectTime: UInt64, answerTime: UInt64) {
        // Two questions one after the other: where ONVIF answers, and who it is.
        let (both, hasOverflown) = connectTime.addingReportingOverflow(answerTime)
        grace = hasOverflown || both > 15_000_000_000 ? 30_000_000_000 : max(2 * both, 4_000_000_000)
    }

    /// - Parameters:
    ///   - listenEnd: until when answers to Probes are waited for.
    ///   - isScanning: pairs of the scan are left.
    ///   - isIdle: no connection is under way or waits.
    mutating func isDone(at now: UInt64, listenEnd: UInt64, isScanning: Bool, isIdle: Bool) -> Bool {
        guard now >= listenEnd, !isScanning else {
            begin = nil
            return false
        }
        let begin = begin ?? now
        self.begin = begin
        return isIdle || now >= begin &+ grace
    }
}

/// How often a search reports what it has found.
enum ReportPause {
    /// Devices from which on it is reported less often: all of them are reported each time.
    static let manyDevices = 256

    /// In nanoseconds, after the last report.
    static func nanoseconds(hasChanged: Bool, devices: Int) -> UInt64 {
        if devices > manyDevices { return 1_000_000_000 }
        return hasChanged ? 100_000_000 : 500_000_000
    }
}
