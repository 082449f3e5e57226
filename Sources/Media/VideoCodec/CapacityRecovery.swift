/// Brings a camera that software encodes smaller, slower or plainer than was asked for back to what was asked for, step
/// by step, as far as the machine allows.
///
/// The start measures for a moment, and often while all else starts as well. From then on the encoder's own work shows
/// more than any trial would, and costs nothing: how long it takes for each frame. One minute after the start, and
/// then after five, thirty and again thirty minutes, that is held against what was asked for. A step up doubles the
/// work at most, and is taken back when it cannot be held; never below what the start found. No I/O and no clock of its
/// own.
public struct CapacityRecovery: Equatable, Sendable {
    /// What is to be used.
    public private(set) var plan: EncoderPlan

    private let request: EncoderRequest
    /// What held before each step up, the start's plan first.
    private var below: [EncoderPlan] = []
    /// Place in `pauses`.
    private var place = 0
    private var due: Double
    /// The last step up has not yet lasted for a pause.
    private var isOnTrial = false
    /// Windows in a row in which the plan was not held.
    private var strained = 0
    private var window: Window

    private struct Window: Equatable, Sendable {
        var begin: Double
        var frames = 0
        var encoding = 0.0
        var working = 0.0
    }

    /// Seconds from one look to the next.
    static let pauses = [60.0, 300, 1800]
    /// A window is over after so many seconds, when it holds so many frames.
    static let windowSeconds = 10.0
    static let minFrames = 20
    /// Windows in a row that a plan is not held before it is given up.
    static let maxStrained = 2
    /// The work of one step, against that before.
    static let maxStep = 2.0
    /// A step must be worth a key frame.
    static let minStep = 1.15
    /// How much faster than needed an encoder must be for the next better preset, which takes that much longer.
    static let presetReserve = 2.0

    /// - Parameters:
    ///   - plan: of a software encoder, as the start found it.
    ///   - request: what `plan` was made for.
    ///   - now: seconds of a clock that grows; whichever it is, the same for all calls.
    /// - Returns: nil when there is nothing to recover.
    public init?(_ plan: EncoderPlan, for request: EncoderRequest, at now: Double) {
        guard !plan.isHardware, plan.limit != nil || Self.better(than: plan.preset) != nil else { return nil }
        self.plan = plan
        self.request = request
        due = now + Self.pauses[0]
        window = Window(begin: now)
    }

    /// A frame was encoded.
    ///
    /// - Parameters:
    ///   - encoding: seconds inside the encoder.
    ///   - working: seconds for all that was done with the frame, the encoder included.
    /// - Returns: another plan, to be used from the next frame on; nil: all stays.
    public mutating func encoded(encoding: Double, working: Double, at now: Double) -> EncoderPlan? {
        window.frames += 1
        window.encoding += max(0, encoding)
        window.working += max(0, working)
        guard now - window.begin >= Self.windowSeconds, window.frames >= Self.minFrames else { return nil }
        let seen = window
        window = Window(begin: now)
        if let lower = steppedDown(seen, at: now) { return lower }
        guard now >= due else { return nil }
        if isOnTrial { place = 0 }
        isOnTrial = false
        guard let higher = higher(seen) else {
            pause(at: now)
            return nil
        }
        below.append(plan)
        plan = higher
        isOnTrial = true
        due = now + Self.pauses[0]
        return plan
    }

    /// What the encoder is found to hold is taken from frames of the camera, with the load that the machine has.
    private func higher(_ seen: Window) -> EncoderPlan? {
        guard seen.encoding > 0 else { return nil }
        let whole = Double(request.width) * Double(request.height)
        let pixels = Double(plan.width) * Double(plan.height)
        let speed = Double(seen.frames) / seen.encoding * pixels / max(whole, 1)
        guard plan.limit != nil else { return plainer(speed) }
        let used = plan.rate * EncoderCapacity.reserve * pixels / max(whole, 1)
        let capacity = EncoderCapacity.fitting(
            request, plan.encoder, preset: plan.preset, speed: min(speed, used * Self.maxStep))
        let work = Double(capacity.width) * Double(capacity.height) * capacity.rate
        guard capacity.limit == nil || work >= pixels * plan.rate * Self.minStep else { return nil }
        var higher = plan
        higher.width = capacity.width
        higher.height = capacity.height
        higher.rate = capacity.rate
        higher.finding = EncoderCapacity.fitting(request, plan.encoder, preset: plan.preset, speed: speed).text
        higher.limit = capacity.limit.map { limit in
            guard speed > used * Self.maxStep else { return limit }
            return EncoderCapacity.limit(
                request, width: capacity.width, height: capacity.height, rate: capacity.rate,
                why: "the machine was busy when it was measured; more is tried step by step")
        }
        return higher
    }

    /// All is as it was asked for; a better preset makes better frames of the same bits.
    private func plainer(_ speed: Double) -> EncoderPlan? {
        guard let preset = Self.better(than: plan.preset),
            speed >= request.rate * EncoderCapacity.reserve * Self.presetReserve
        else { return nil }
        var higher = plan
        higher.preset = preset
        higher.finding =
            EncoderCapacity.fitting(request, plan.encoder, preset: preset, speed: speed / Self.presetReserve).text
        return higher
    }

    /// Frames are given up when all that is done for one takes longer than the next needs to come.
    private mutating func steppedDown(_ seen: Window, at now: Double) -> EncoderPlan? {
        guard !below.isEmpty, seen.working * plan.rate > Double(seen.frames) else {
            strained = 0
            return nil
        }
        strained += 1
        guard strained >= Self.maxStrained, let lower = below.popLast() else { return nil }
        strained = 0
        isOnTrial = false
        plan = lower
        pause(at: now)
        return lower
    }

    /// Longer than before: what was not possible is not tried again at once.
    private mutating func pause(at now: Double) {
        place = min(place + 1, Self.pauses.count - 1)
        due = now + Self.pauses[place]
    }

    private static func better(than preset: String) -> String? {
        guard let place = EncoderCapacity.presets.firstIndex(of: preset), place > 0 else { return nil }
        return EncoderCapacity.presets[place - 1]
    }
}
