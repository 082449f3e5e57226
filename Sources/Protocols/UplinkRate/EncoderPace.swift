/// Which of the targets an encoder is given: a new bitrate costs it something. A cut is urgent, a raise has time.
public struct EncoderPace: Equatable, Sendable {
    /// How an encoder gets to another bitrate.
    public enum Kind: Equatable, Sendable {
        /// While it runs, with a frame or two that fit neither the old nor the new one. The bounds are those of OBS and of
        /// encoders' own rate control: half a second and a twentieth.
        case live
        /// It is opened again, as most hardware is: a key frame each time, and the frames that were inside are lost.
        case reopened
    }

    /// Parts of what the encoder has, and nanoseconds since its last change.
    private struct Bounds {
        var cut: Double
        var raise: Double
        var beforeCut: UInt64
        var beforeRaise: UInt64
    }

    public internal(set) var kind = Kind.live
    /// Bits a second that the encoder has.
    public private(set) var bitrate: Int
    /// When it was changed last, CLOCK_MONOTONIC in nanoseconds; nil: never.
    private(set) var changedAt: UInt64?
    private var most: Int

    private var bounds: Bounds {
        switch kind {
        case .live: Bounds(cut: 0.05, raise: 0.05, beforeCut: 0, beforeRaise: 500_000_000)
        case .reopened: Bounds(cut: 0.2, raise: 0.25, beforeCut: 1_000_000_000, beforeRaise: 5_000_000_000)
        }
    }

    /// - Parameter most: bits a second with which the encoder began, and the highest that it is given.
    public init(most: Int) {
        self.most = max(0, most)
        bitrate = self.most
    }

    /// Somebody else gave the encoder `bitrate`.
    mutating func change(most: Int, bitrate: Int) {
        self.most = max(0, most)
        self.bitrate = min(max(0, bitrate), self.most)
    }

    /// - Parameters:
    ///   - target: bits a second; of what is no number nothing comes.
    ///   - instant: CLOCK_MONOTONIC, nanoseconds.
    /// - Returns: the new bitrate for the encoder; nil: it keeps what it has.
    public mutating func take(_ target: Double, at instant: UInt64) -> Int? {
        guard !target.isNaN else { return nil }
        let wanted = target >= Double(most) ? most : Int(max(0, target))
        // A clock that was set back would hold each raise until it is where it was.
        if let last = changedAt, instant < last { changedAt = instant }
        let passed = changedAt.map { instant - $0 } ?? .max
        let step = Double(abs(wanted - bitrate)) / Double(max(bitrate, 1))
        if wanted < bitrate {
            guard step >= bounds.cut, passed >= bounds.beforeCut else { return nil }
        } else {
            // The last step to the full bitrate may be a small one.
            guard wanted > bitrate, step >= bounds.raise || wanted == most, passed >= bounds.beforeRaise else {
                return nil
            }
        }
        bitrate = wanted
        changedAt = instant
        return wanted
    }
}
