/// When to look for packets again: a thread that is woken by every packet of a picture spends its time with waking up.
///
/// A camera sends a picture as a burst and is silent until the next one. So after a whole picture nothing is read for most
/// of the distance between pictures, and after the burst's first packets a few milliseconds pass before the rest is read in
/// one go. Sound that comes meanwhile goes out with the next picture. Times are CLOCK_MONOTONIC in nanoseconds.
struct ReadPace {
    /// Gathers the packets of one burst.
    static let burst: UInt64 = 4_000_000
    /// At most, so that the socket's buffer holds what comes, and a camera that begins to send more often is noticed.
    static let longest: UInt64 = 40_000_000

    /// Bytes; less than that is not worth a look before `patience` is over.
    static let part: Int32 = 4096
    /// The most that a small packet waits for others.
    static let patience: UInt64 = 20_000_000

    /// For datagrams, which are lost when a buffer overflows.
    var readsBursts = true
    private var readAt: UInt64 = 0
    private var pictureAt: UInt64?
    /// Between the newest pictures; the shortest of the last few counts.
    private var distances: [UInt64] = []
    private var hasPicture = false

    mutating func read(at now: UInt64) {
        readAt = now
        hasPicture = false
    }

    /// A picture was complete in what was read at `now`; several in one look are one.
    mutating func pictureEnded(at now: UInt64) {
        defer { hasPicture = true }
        guard !hasPicture else {
            // More than one in one look: it was too late.
            distances = []
            return
        }
        if let pictureAt, now > pictureAt {
            distances.append(now - pictureAt)
            if distances.count > 8 { distances.removeFirst() }
        }
        pictureAt = now
    }

    /// How long not to look; nil: at once.
    func pause(at now: UInt64) -> UInt64? {
        var until = readAt &+ Self.burst
        if readsBursts, hasPicture, distances.count == 8, let shortest = distances.min() {
            until = max(until, readAt &+ min(shortest / 4 * 3, Self.longest))
        }
        return until > now ? until - now : nil
    }
}
