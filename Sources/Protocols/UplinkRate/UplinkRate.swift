/// How many bits a second the video of a camera may have, by how long the link takes with what it was given.
///
/// All that the peer does not have, divided by the rate at which it gets it, is how long a frame that is captured now
/// will take. Where that is too long, the rate falls below what the link delivers, by so much that what waits is gone
/// in about a second; what the link delivered is remembered. Where nothing waits, the rate returns to just below that
/// in a second, and feels its way from there; once it is well beyond, the link must have become faster, and so does the
/// growth. When nothing is delivered at all, that says nothing of how much will be when something is again.
///
/// Without I/O or a clock: it is told readings, and says what they mean. Why so: docs/design/0022-uplink-rate.md.
public struct UplinkRate: Sendable {
    /// Bits a second of video.
    public struct Limits: Equatable, Sendable {
        public let least: Double
        public let most: Double

        /// A terabit: nothing that computes with it overflows.
        private static let highest = 1e12

        /// What is no number, or negative, is 0.
        ///
        /// - Parameter least: at most `most`, and a thousandth of it at least: nothing grows out of 0.
        public init(least: Double, most: Double) {
            func bounded(_ value: Double) -> Double { value > 0 ? min(value, Self.highest) : 0 }
            self.most = bounded(most)
            self.least = min(max(bounded(least), self.most / 1000), self.most)
        }
    }

    /// Of the encoder's last change.
    public enum Reason: String, Codable, Sendable, CaseIterable {
        /// There was none: nothing is known of the link.
        case start
        /// Frames took too long.
        case congestion
        /// Back to what the link showed before.
        case recovery
        /// There may be more.
        case probe
        /// Nothing was delivered for a while, and then something was.
        case silence
    }

    /// What to do after a reading.
    public struct Decision: Equatable, Sendable {
        /// Bits a second that the link is thought to bear.
        public var target: Double
        /// The new bitrate for the encoder, bits a second; nil: it keeps what it has.
        public var encoder: Int?
        /// All video that waits is to be dropped, and the next frame to be a key frame: it is too old to be worth
        /// sending.
        public var dropsQueue: Bool
    }

    /// Bits a second; within the limits.
    public private(set) var target: Double
    /// Seconds that a frame that is captured now will wait, beyond the way itself; 60 at most.
    public private(set) var delay = 0.0
    /// Bits a second that the link delivered last, audio and all.
    public var measured: Double { rate.value }
    /// Why the encoder was given its last bitrate.
    public private(set) var reason = Reason.start
    /// What the encoder has, and when that changed.
    public private(set) var pace: EncoderPace

    private var limits: Limits
    /// Of the target's last change.
    private var cause = Reason.start
    private var rate = DeliveryRate(over: window)
    /// What the encoder and the audio gave the link to do.
    private var load = DeliveryRate(over: loadWindow)
    private var offered: UInt64 = 0
    private var outstanding: UInt64 = 0
    private var age = OutstandingAge()
    private var way = WayLength()
    /// Eight times the frames, and bits of audio, a second.
    private var frames = DeliveryRate(over: loadWindow)
    private var audio = DeliveryRate(over: loadWindow)
    private var last: Double?
    private var delivered: UInt64 = 0
    /// When something was delivered last, or nothing was to be.
    private var progressAt = 0.0
    private var isSilent = false
    /// The last bytes before a silence come slowly, which looks like a slow link.
    private var wasCutBySilence = false
    /// Nothing is decided before.
    private var heldUntil = 0.0
    private var cutAt = -Double.infinity
    /// Seconds of growth beyond what the link was known to deliver.
    private var beyondFor = 0.0
    /// The target before the last cut, and those before it between which nothing was delivered.
    private var beforeCut: Double
    /// What the link delivered when it was full, without audio; 0: it never was.
    private var full = 0.0
    /// The last target with which nothing waited too long.
    private var calm: Double
    /// What is delivered since the last cut, while what waits is drained: the link is full, and this is what it delivers.
    private var draining = DeliveryRate(over: drainWindow)
    /// Until then a silence is not over for good, and what was calm before it counts.
    private var calmKeptUntil = -Double.infinity
    /// Nothing is given up for its age before, but in a silence.
    private var dropsFrom = 0.0
    /// Of the connection.
    private var begunAt = 0.0

    /// The encoder has the most to begin with.
    public init(_ limits: Limits) {
        self.limits = limits
        target = limits.most
        calm = limits.most
        beforeCut = limits.most
        pace = EncoderPace(most: Int(limits.most))
    }

    /// The next reading is the first of another connection: what is known of the link stays, and what is measured begins
    /// again.
    public mutating func connected() { last = nil }

    /// - Parameter reading: about each tenth of a second while the relay takes the stream. A counter or a clock that
    ///   goes back is another connection.
    public mutating func take(_ reading: LinkReading) -> Decision {
        func seconds(_ nanoseconds: UInt64) -> Double { min(Double(nanoseconds) / 1e9, Self.longestRoundTrip) }
        let now = Double(reading.instant) / 1e9
        if last.map({ now < $0 || reading.delivered < delivered }) ?? true { begin(at: now) }
        let roundTrip = way.take(seconds(reading.roundTrip), least: seconds(reading.leastRoundTrip), at: now)
        frames.take(reading.frames, at: now)
        audio.take(reading.audio, at: now)
        let step = min(now - (last ?? now), Self.longestStep)
        defer { last = now }
        if reading.delivered > delivered || reading.outstanding == 0 { progressAt = now }
        weigh(last == nil ? 0 : reading.delivered - delivered, reading.outstanding, at: now)
        delivered = reading.delivered
        rate.take(reading.delivered, at: now, roundTrip: roundTrip)
        draining.take(reading.delivered, at: now)
        let waiting = Double(reading.outstanding) * 8
        delay = min(max(0, waiting / max(rate.value, Self.leastMeasured) - roundTrip), Self.longestDelay)
        let waited = age.take(
            delivered: Double(reading.delivered), outstanding: Double(reading.outstanding), at: now)
        if delay < Self.tooLong, !isSilent { calm = now < calmKeptUntil ? max(calm, target) : target }
        decide(now, step, roundTrip, waiting, waited - roundTrip)
        target = min(max(target, limits.least), limits.most)
        let encoder = pace.take(target, at: reading.instant)
        if encoder != nil { reason = cause }
        return Decision(
            target: target, encoder: encoder, dropsQueue: isTooOld(Double(reading.queueDuration) / 1e9, at: now))
    }

    /// Seconds from one frame to the next.
    private var frameInterval: Double { min(Self.longestInterval, 8 / max(frames.value, 1)) }

    /// Not in the first second of a connection, to which frames may have been kept on purpose, and not twice in two: the key
    /// frame that has to follow is the largest there is, and may take as long as that. In a silence it takes nothing.
    private mutating func isTooOld(_ seconds: Double, at now: Double) -> Bool {
        guard seconds > max(Self.tooOld, Self.tooManyFrames * frameInterval),
            now >= dropsFrom || isSilent && now >= begunAt + Self.start
        else { return false }
        if !isSilent { dropsFrom = now + Self.betweenDrops }
        return true
    }

    /// How the encoder in use gets to another bitrate: one that is opened again is given fewer, and larger changes.
    public mutating func use(_ kind: EncoderPace.Kind) { pace.kind = kind }

    /// An operator changed what is configured; what is known of the link stays.
    ///
    /// - Parameter bitrate: bits a second that the encoder was given with it.
    public mutating func change(_ limits: Limits, encoder bitrate: Int) {
        // Nothing held it back, as far as is known.
        if target >= self.limits.most { target = limits.most }
        if calm >= self.limits.most { calm = limits.most }
        self.limits = limits
        target = min(max(target, limits.least), limits.most)
        pace.change(most: Int(limits.most), bitrate: bitrate)
    }

    /// A connection does.
    private mutating func begin(at now: Double) {
        rate = DeliveryRate(over: Self.window)
        draining = DeliveryRate(over: Self.drainWindow)
        load = DeliveryRate(over: Self.loadWindow)
        (offered, outstanding) = (0, 0)
        age = OutstandingAge()
        way = WayLength()
        frames = DeliveryRate(over: Self.loadWindow)
        audio = DeliveryRate(over: Self.loadWindow)
        last = nil
        begunAt = now
        progressAt = now
        isSilent = false
        heldUntil = now + Self.start
        dropsFrom = now + Self.start
        calmKeptUntil = min(calmKeptUntil, now)
        cutAt = min(cutAt, now)
    }

    /// What was given up in the queue was offered all the same.
    private mutating func weigh(_ passed: UInt64, _ outstanding: UInt64, at now: Double) {
        let (sum, isOver) = passed.addingReportingOverflow(outstanding)
        let total = isOver ? .max : sum
        if total > self.outstanding { offered &+= total - self.outstanding }
        self.outstanding = outstanding
        load.take(offered, at: now)
    }

    private mutating func decide(
        _ now: Double, _ step: Double, _ roundTrip: Double, _ waiting: Double, _ waited: Double
    ) {
        let quiet = now - progressAt - roundTrip
        if quiet > Self.silence {
            if !isSilent { wasCutBySilence = cutAt >= progressAt }
            isSilent = true
            return
        }
        if isSilent {
            isSilent = false
            // What it was before may well be what it is again. A cut after which nothing was delivered was the silence's
            // own, and is taken back.
            full = calm
            calmKeptUntil = now + Self.calmKept
            target = min(wasCutBySilence ? beforeCut : target, Self.afterSilence * calm)
            cause = .silence
            rate.forget()
            heldUntil = now + Self.silenceHold
            return
        }
        // It may be one.
        guard quiet <= Self.doubt else { return }
        if delay > Self.short, (Self.drainProof...Self.drainWindow).contains(now - cutAt) {
            full = max(full, draining.value - audio.value)
        }
        guard now >= heldUntil else { return }
        if delay > Self.tooLong {
            // Where the encoder had little to do, the rate is the encoder's and not the link's. What is less than the link
            // delivers passes on its own: a large key frame in an image in which nothing moves. And a frame that is sent
            // before the next one comes is no queue.
            let proof = max(Self.proof, Self.proofFrames * frameInterval)
            guard waited > proof, load.value > rate.value else { return }
            if cutAt < progressAt { beforeCut = target }
            full = max(0, rate.value - audio.value)
            let excess = max(0, waiting - rate.value * roundTrip)
            let drained = Self.share * rate.value - audio.value - excess / Self.drain
            // A cut never raises it.
            target = min(target, max(Self.floor * full, drained))
            heldUntil = now + max(Self.hold, Self.holdRoundTrips * roundTrip)
            cutAt = now
            draining.forget()
            beyondFor = 0
            calmKeptUntil = now
            cause = .congestion
        } else if delay < Self.short {
            if full > 0, target < Self.below * full {
                target = min(Self.below * full, target * (1 + Self.recovery * step))
                cause = .recovery
            } else if pace.kind == .live || now - cutAt > Self.reopenedPatience {
                beyondFor = full > 0 && target > Self.beyond * full ? beyondFor + step : 0
                let growth = min(Self.growth + Self.faster * beyondFor * beyondFor, Self.fastest)
                // Of the most, not of the target: who has little of a link that several share comes up to the others.
                let next = target + growth * limits.most * step
                // What the encoder does not have yet shows nothing of the link.
                target = min(next, max(target, Self.ahead * Double(pace.bitrate)))
                cause = .probe
            }
        }
    }

    // Found by `UplinkRateTests`'s virtual link over steps, outages, losses and links of radio; seconds, parts of one,
    // and parts a second.

    /// Shorter, a key frame of a few packets makes the rate jump; longer, the first cut after a step still believes in the
    /// old link.
    private static let window = 0.25
    /// A key frame counts for the frames behind it.
    private static let loadWindow = 2.0
    private static let tooLong = 0.2
    private static let short = 0.1
    /// What has waited for so long already has been waiting for the link.
    private static let proof = 0.1
    private static let proofFrames = 2.0
    /// Where frames are far apart, more of them than these are too old.
    private static let tooManyFrames = 2.5
    private static let longestInterval = 2.0
    private static let tooOld = 0.9
    private static let betweenDrops = 2.0
    /// Between two cuts: the rate has to show what the first one did.
    private static let hold = 0.2
    /// One until it is felt, and one for the rate that is measured over it.
    private static let holdRoundTrips = 2.0
    /// TCP begins slowly, which is no congestion.
    private static let start = 1.0
    /// Of what the link delivers, without what waits.
    private static let share = 0.87
    private static let floor = 0.2
    private static let drain = 1.2
    private static let drainProof = 0.35
    private static let drainWindow = 2.0
    private static let below = 0.9
    private static let beyond = 1.1
    private static let recovery = 1.2
    private static let growth = 0.06
    /// More, for each second beyond, squared.
    private static let faster = 0.12
    private static let fastest = 0.5
    /// Each try costs such an encoder a key frame, and one that fails another.
    private static let reopenedPatience = 20.0
    /// Of what the encoder has: more than each step of ``EncoderPace``.
    private static let ahead = 1.3
    private static let doubt = 0.15
    private static let silence = 0.45
    private static let afterSilence = 0.5
    private static let silenceHold = 0.6
    private static let calmKept = 5.0
    private static let longestStep = 0.2
    private static let longestRoundTrip = 5.0
    private static let longestDelay = 60.0
    /// Bits a second, for what is divided by it.
    private static let leastMeasured = 100_000.0
}
