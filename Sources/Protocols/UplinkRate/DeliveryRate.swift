/// How many bits a second came through, over some time.
struct DeliveryRate: Sendable {
    /// Bits a second.
    private(set) var value = 0.0
    private var samples: [(at: Double, bytes: UInt64)] = []
    /// Seconds.
    private let window: Double

    /// Seconds: a smaller time between two readings says nothing.
    private static let shortest = 0.05
    /// A reading each tenth of a second, and round trips of some seconds.
    private static let maxSamples = 128

    init(over window: Double) {
        self.window = window
    }

    /// - Parameter bytes: since the connection began.
    mutating func take(_ bytes: UInt64, at now: Double, roundTrip: Double = 0) {
        samples.append((now, bytes))
        let begin = now - max(window, roundTrip)
        while samples.count > 2, samples[1].at < begin || samples.count > Self.maxSamples { samples.removeFirst() }
        let first = samples[0]
        value = Double(bytes > first.bytes ? bytes - first.bytes : 0) * 8 / max(Self.shortest, now - first.at)
    }

    /// What came before says nothing of what comes.
    mutating func forget() { samples = Array(samples.suffix(1)) }
}
