/// When to look around for cameras that are away: one look for all of them, every few minutes. No input or output.
struct AwayWatch: Equatable {
    /// A camera that restarts is not a reason to ask the whole network.
    static let graceTime = Duration.seconds(30)
    static let pause = Duration.seconds(180)
    /// From here on a camera is looked for less often: it is more likely to be unplugged than to have moved.
    static let longAway = Duration.seconds(3600)
    static let longPause = Duration.seconds(900)

    private var awaySince: [String: Duration] = [:]
    private var lookedAt: Duration?

    /// - Parameters:
    ///   - away: IDs of the cameras that are not where they were, all of them each time.
    ///   - now: of `CLOCK_BOOTTIME`.
    /// - Returns: whether to look now.
    mutating func isDue(_ away: Set<String>, at now: Duration) -> Bool {
        awaySince = awaySince.filter { away.contains($0.key) }
        for id in away where awaySince[id] == nil { awaySince[id] = now }
        let times = awaySince.values.map { now - $0 }.filter { $0 >= Self.graceTime }
        guard let newest = times.min() else { return false }
        if let lookedAt, now - lookedAt < (newest < Self.longAway ? Self.pause : Self.longPause) { return false }
        lookedAt = now
        return true
    }
}
