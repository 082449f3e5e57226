/// How long the peer has been without the oldest byte that it does not have: what was written first arrives first.
///
/// No rate is in it. An encoder that has little to do, and then makes a key frame, looks like a slow link to whoever
/// divides what waits by what was delivered lately; here it looks like the moment that the key frame takes.
struct OutstandingAge: Sendable {
    /// Bytes that were written up to then.
    private var samples: [(at: Double, bytes: Double)] = []

    /// A reading each tenth of a second: older than 13 s is old enough.
    private static let maxSamples = 128

    /// - Returns: seconds, up to a reading less than it is.
    mutating func take(delivered: Double, outstanding: Double, at now: Double) -> Double {
        let written = delivered + outstanding
        // What was given up in the queue was never written.
        for index in samples.indices.reversed() {
            guard samples[index].bytes > written else { break }
            samples[index].bytes = written
        }
        samples.append((now, written))
        let arrived = samples.prefix { $0.bytes <= delivered }.count
        samples.removeFirst(max(min(arrived, samples.count - 1), samples.count - Self.maxSamples))
        return outstanding > 0 ? now - samples[0].at : 0
    }
}
