/// How much a relay's kernel acknowledges in a second. Knows no clock: the time is an argument.
struct UploadMeter {
    /// The least and the most of an upload that may be measured.
    struct Limits: Equatable, Sendable {
        var bytes: UInt64
        /// Nanoseconds.
        var time: UInt64
        /// Nanoseconds at its beginning that do not count: TCP only finds out how fast it may be.
        var slowStart: UInt64 = 1_000_000_000
        /// Shorter than this, the steps between two looks at the kernel are too coarse: the line is at least so fast.
        var shortest: UInt64 = 1_000_000_000
    }

    private struct Sample {
        var acknowledged: UInt64
        var time: UInt64
    }

    private let limits: Limits
    private let begin: Sample
    private var afterSlowStart: Sample?
    private var last: Sample

    /// - Parameters:
    ///   - acknowledged: bytes so far, of the connection's life.
    ///   - time: nanoseconds of any clock that does not go back.
    init(_ limits: Limits, acknowledged: UInt64, at time: UInt64) {
        self.limits = limits
        begin = Sample(acknowledged: acknowledged, time: time)
        last = begin
    }

    /// Nothing more is to be sent.
    func isOver(written: UInt64, at time: UInt64) -> Bool {
        written >= limits.bytes || time >= begin.time &+ limits.time
    }

    mutating func sampled(acknowledged: UInt64, at time: UInt64) {
        guard acknowledged >= last.acknowledged, time > last.time else { return }
        // What is only repeated would make the end later than it was.
        guard acknowledged > last.acknowledged else { return }
        last = Sample(acknowledged: acknowledged, time: time)
        if afterSlowStart == nil, time >= begin.time + limits.slowStart { afterSlowStart = last }
    }

    /// Nil when nothing was acknowledged.
    var upload: RelayLink.Upload? {
        let bytes = last.acknowledged - begin.acknowledged
        let time = last.time - begin.time
        guard bytes > 0, time > 0 else { return nil }
        var (counted, span) = (bytes, time)
        if let middle = afterSlowStart, last.time - middle.time >= limits.shortest {
            (counted, span) = (last.acknowledged - middle.acknowledged, last.time - middle.time)
        }
        return RelayLink.Upload(
            bytes: bytes, milliseconds: Double(time) / 1e6, bitsPerSecond: Double(counted) * 8e9 / Double(span),
            isAtLeast: time < limits.shortest)
    }
}
