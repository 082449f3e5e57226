/// What a camera's process keeps of encoders from one start to the next: probes, hangs, faults, speeds. Of one boot;
/// after the next one everything is tried again.
public struct EncoderCache: Codable, Equatable, Sendable {
    /// The kernel's, of the boot in which all this was learned.
    public private(set) var bootID: String
    private var probes: [Probe] = []
    private var hangs: [Hang] = []
    private var speeds: [Speed] = []
    /// Seconds since boot; the hardware encoder is not used before.
    private var offUntil: Double?
    /// The newest of each encoder; nil where there was none.
    private var faults: [Fault]?

    private struct Probe: Codable, Equatable, Sendable {
        var width: Int
        var height: Int
        var instant: Double
        var result: EncoderProbeResult
    }

    private struct Hang: Codable, Equatable, Sendable {
        var encoder: String
        /// Seconds since boot.
        var instant: Double
    }

    private struct Fault: Codable, Equatable, Sendable {
        var encoder: String
        var reason: String
        /// In a row, without an hour of work in between.
        var count: Int
        /// Seconds since boot; it is not used before.
        var until: Double
    }

    private struct Speed: Codable, Equatable, Sendable {
        var encoder: String
        var preset: String
        var width: Int
        var height: Int
        var picturesPerSecond: Double
        var instant: Double
    }

    /// So many hangs within so many seconds turn the hardware encoder off for so many.
    static let toleratedHangs = 3
    static let hangWindow = 600.0
    static let offSeconds = 3600.0
    /// An error turns it off for so many seconds, each further one for twice as many, up to the most.
    static let faultSeconds = 600.0
    static let maxFaultSeconds = 3600.0
    /// What happened longer ago says nothing about the encoder any more.
    static let recentSeconds = 3600.0
    /// A failed probe may have had a reason that passes, such as a device in use; a machine may have been busy.
    static let failureSeconds = 600.0
    static let speedSeconds = 3600.0
    static let maxEntries = 32
    /// Characters.
    static let maxReasonLength = 200

    public init(bootID: String) {
        self.bootID = bootID
    }

    /// Hangs within the last hour; more than 32 are not counted.
    public func recentHangs(at now: Double) -> Int {
        hangs.count { now - $0.instant < Self.recentSeconds }
    }

    /// The encoder did not answer. The third time within ten minutes turns hardware off for an hour; then it is tried
    /// again, and within the hour after that the first hang is enough.
    public mutating func noteHang(of encoder: String, at now: Double) {
        hangs.append(Hang(encoder: encoder, instant: now))
        if hangs.count > Self.maxEntries { hangs.removeFirst(hangs.count - Self.maxEntries) }
        let isOnProbation = offUntil.map { now < $0 + Self.offSeconds } ?? false
        let newest = hangs.filter { now - $0.instant <= Self.hangWindow }.count
        guard isOnProbation || newest >= Self.toleratedHangs else { return }
        offUntil = now + Self.offSeconds
        probes = probes.filter { $0.result.encoder != encoder }
    }

    /// Until when hardware is left alone, in seconds since boot; nil: it may be used.
    public func hardwareIsOff(at now: Double) -> Double? {
        guard let offUntil, now < offUntil else { return nil }
        return offUntil
    }

    /// A hardware encoder gave an error instead of a packet. It is left alone for ten minutes, and for longer when it
    /// fails again within an hour after that.
    public mutating func noteFault(of encoder: String, reason: String, at now: Double) {
        let before = isOnProbation(encoder, at: now) ? fault(of: encoder)?.count ?? 0 : 0
        let count = min(before + 1, Self.maxEntries)
        let seconds = min(Self.faultSeconds * Double(1 << min(count - 1, 8)), Self.maxFaultSeconds)
        let fault = Fault(
            encoder: encoder, reason: String(reason.prefix(Self.maxReasonLength)), count: count, until: now + seconds)
        faults = ((faults ?? []).filter { $0.encoder != encoder } + [fault]).suffix(Self.maxEntries)
        // What a probe found before says nothing any more.
        probes = probes.filter { $0.result.encoder != encoder }
    }

    /// Whether an error of this encoder is less than an hour of work ago.
    func isOnProbation(_ encoder: String, at now: Double) -> Bool {
        fault(of: encoder).map { now < $0.until + Self.recentSeconds } ?? false
    }

    private func fault(of encoder: String) -> Fault? { faults?.last { $0.encoder == encoder } }

    /// Why and until when an encoder is left alone, in seconds since boot; nil: it may be used.
    ///
    /// The text stays in a status for as long as a plan holds: no number in it goes stale.
    public func pause(of encoder: String, at now: Double) -> (until: Double, reason: String)? {
        let hang = hardwareIsOff(at: now).map {
            (until: $0, reason: "hung again and again, and is left alone for an hour after the last time")
        }
        guard let fault = fault(of: encoder), now < fault.until, fault.until > hang?.until ?? 0 else { return hang }
        let pause = fault.count == 1 ? "ten minutes" : "a while, because it has failed repeatedly"
        return (fault.until, "failed (\(fault.reason)) and is left alone for \(pause)")
    }

    /// What a probe of this encoder and size found, if that still holds.
    public func probe(of encoder: String, width: Int, height: Int, now: Double) -> EncoderProbeResult? {
        let known = probes.last { $0.result.encoder == encoder && $0.width == width && $0.height == height }
        guard let known else { return nil }
        return known.result.works || now - known.instant < Self.failureSeconds ? known.result : nil
    }

    public mutating func note(_ result: EncoderProbeResult, width: Int, height: Int, now: Double) {
        probes.removeAll { $0.result.encoder == result.encoder && $0.width == width && $0.height == height }
        probes.append(Probe(width: width, height: height, instant: now, result: result))
        if probes.count > Self.maxEntries { probes.removeFirst() }
    }

    /// Frames per second that were measured, if that still holds.
    ///
    /// - Parameter needed: less than this holds for ten minutes only, because the machine may have been busy then.
    public func capacity(of trial: EncoderTrial, needed: Double, now: Double) -> Double? {
        let known = speeds.last { Self.isOf($0, trial) }
        guard let known else { return nil }
        let lasting = known.picturesPerSecond >= needed ? Self.speedSeconds : Self.failureSeconds
        return now - known.instant < lasting ? known.picturesPerSecond : nil
    }

    public mutating func note(_ picturesPerSecond: Double, of trial: EncoderTrial, now: Double) {
        speeds.removeAll { Self.isOf($0, trial) }
        // JSON cannot represent these.
        guard picturesPerSecond.isFinite else { return }
        speeds.append(
            Speed(
                encoder: trial.encoder, preset: trial.preset, width: trial.width, height: trial.height,
                picturesPerSecond: picturesPerSecond, instant: now))
        if speeds.count > Self.maxEntries { speeds.removeFirst() }
    }

    private static func isOf(_ speed: Speed, _ trial: EncoderTrial) -> Bool {
        speed.encoder == trial.encoder && speed.preset == trial.preset && speed.width == trial.width
            && speed.height == trial.height
    }

    /// Whether a program of ours can have written this.
    var isPlausible: Bool {
        let faults = faults ?? []
        let instants =
            probes.map(\.instant) + hangs.map(\.instant) + speeds.map(\.instant) + faults.map(\.until)
            + [offUntil ?? 0]
        return bootID.utf8.count <= 64 && instants.allSatisfy { (0...1e12).contains($0) }
            && [probes.count, hangs.count, speeds.count, faults.count].allSatisfy { $0 <= Self.maxEntries }
            && faults.allSatisfy { (1...Self.maxEntries).contains($0.count) }
            && speeds.allSatisfy { $0.picturesPerSecond >= 0 }
    }
}
