/// Paces a device that gives samples as fast as they are read (ALSA's `null`, a file): sample k was "heard" k periods
/// of the sample rate after the first.
struct FreeRun {
    private let shape: StreamShape
    /// Of frame 0.
    private var origin: UInt64
    private var frames: UInt64 = 0

    /// A reader that was away for longer does not get what it missed.
    private static let maxArrears: UInt64 = 1_000_000_000

    init(shape: StreamShape, begin: UInt64) {
        self.shape = shape
        origin = begin
    }

    /// Whether `frames` since the start are more than a device with a clock of its own can have sampled: such a one is
    /// neither 2 % fast nor ahead of its own start by `head` seconds.
    static func isRecognised(
        shape: StreamShape, frames: UInt64, sinceStart nanoseconds: UInt64, head: Double
    ) -> Bool {
        Double(frames) > (Double(nanoseconds) / 1e9 * 1.02 + head) * Double(shape.rate)
    }

    /// Frames of one read: a period, within bounds that keep a read short.
    var blockFrames: Int { min(shape.period, max(shape.rate / 20, 1)) }

    /// When the next block is complete. Also forgets what was missed.
    mutating func due(now: UInt64) -> UInt64 {
        let end = instant(of: frames + UInt64(blockFrames))
        if now > end, now - end > Self.maxArrears {
            origin = now
            frames = 0
            return instant(of: UInt64(blockFrames))
        }
        return end
    }

    /// The instant of the block that was read.
    mutating func taken(_ count: Int) -> UInt64 {
        defer { frames += UInt64(count) }
        return instant(of: frames)
    }

    private func instant(of frame: UInt64) -> UInt64 {
        let (seconds, rest) = frame.quotientAndRemainder(dividingBy: UInt64(shape.rate))
        return origin + seconds * 1_000_000_000 + rest * 1_000_000_000 / UInt64(shape.rate)
    }
}
