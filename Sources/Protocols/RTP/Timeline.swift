/// What holds between two steps of a camera's clock.
struct Timeline: Sendable {
    /// 2 s, in nanoseconds.
    private static let settlingTime: Int64 = 2_000_000_000
    /// How far units may stand ahead of their arrival without being taken for ones that were kept back: 200 ms, which
    /// is more than what frames out of order need.
    private static let burstLimit: Int64 = 200_000_000
    /// The same once some were kept back: 20 ms.
    private static let settledLimit: Int64 = 20_000_000

    /// 8 s: a camera that sends faster than its time stamps say for longer has no units that it kept back.
    private static let maxSettlingTime: Int64 = 8_000_000_000

    /// Where tick 0 stands, nanoseconds.
    private(set) var base: Int64
    /// Of the unit before.
    private(set) var ticks: Int64 = 0
    private(set) var timestamp: UInt32
    private(set) var arrival: Int64
    private(set) var drift: ClockDrift
    private(set) var rate: RateCorrection
    var order: PictureOrder
    private let began: Int64
    private var settlesUntil: Int64
    /// The anchor was moved: units may have to be squeezed.
    private(set) var wasMoved = false

    init(base: Int64, timestamp: UInt32, arrival: Int64, order: PictureOrder = PictureOrder()) {
        self.base = base
        self.timestamp = timestamp
        self.arrival = arrival
        self.order = order
        drift = ClockDrift(at: arrival)
        rate = RateCorrection(at: arrival)
        began = arrival
        settlesUntil = arrival + Self.settlingTime
        _ = self.order.decodeTime(presentation: base)
        self.order.passed(0)
    }

    /// When a unit stands by all that is known, nanoseconds.
    func time(of camera: Int64) -> Int64 {
        base + rate.map.time(of: camera) + drift.correction
    }

    /// Looks for a clock that runs at another rate than it announces.
    mutating func measure(_ camera: Int64, arrival: Int64) {
        let wasFollowing = rate.isFollowing
        let wasUseless = rate.isUseless
        rate.observe(
            camera: camera, lateness: arrival - time(of: camera), arrival: arrival,
            isSettling: isSettling(at: arrival))
        // What it saw belongs to other times.
        if rate.isUseless != wasUseless { order.forgetTimes() }
        if rate.isFollowing != wasFollowing { drift = ClockDrift(at: arrival, correction: drift.correction) }
    }

    /// - Parameter passed: by the camera's clock since the unit before, nanoseconds.
    mutating func observeDrift(_ camera: Int64, arrival: Int64, passed: Int64) {
        drift.observe(time: base + rate.map.time(of: camera), arrival: arrival, passed: passed)
    }

    mutating func advance(to ticks: Int64, _ camera: Int64, _ timestamp: UInt32, arrival: Int64) {
        rate.advance(to: camera)
        self.ticks = ticks
        self.timestamp = timestamp
        self.arrival = arrival
        order.passed(ticks)
    }

    /// Whether the anchor can still be moved: in the first two seconds, and two more after each move.
    func isSettling(at arrival: Int64) -> Bool {
        arrival < min(settlesUntil, began + Self.maxSettlingTime)
    }

    /// A camera that begins with frames which it had kept (PLAY brings the group since the last key frame) has its
    /// oldest one anchored at its arrival. The newest one is what belongs there.
    ///
    /// - Parameter ahead: how far a unit would stand ahead of its arrival, nanoseconds.
    mutating func settle(ahead: Int64, arrival: Int64) {
        guard isSettling(at: arrival), ahead > (wasMoved ? Self.settledLimit : Self.burstLimit) else { return }
        wasMoved = true
        settlesUntil = arrival + Self.settlingTime
        base -= ahead
        order.moved(by: -ahead)
        rate.moved(by: ahead)
        // What it saw was measured against the old anchor.
        drift = ClockDrift(at: arrival)
    }
}
