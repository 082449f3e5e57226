/// Follows arrivals when a camera's clock does not run at the rate that it announces: many write the timestamps of 25
/// frames a second and send 21, some only at night.
///
/// Nothing is changed as long as timestamps and arrivals agree within a quarter of a second; what differs by less, and
/// by at most 500 ppm, is for `ClockDrift`. After that the camera's durations are stretched by the rate that was
/// measured, and what is left is taken out smoothly. A connection that stalls and then catches up, a camera that sends
/// in bursts and one that is late now and then are none of this: after a gap units come less and less late, behind a
/// clock that runs wrong they come later and later in even steps.
///
/// Instants are arrivals on CLOCK_MONOTONIC; all times are nanoseconds.
struct RateCorrection: Sendable {
    private static let millisecond: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000
    /// So late units are only when something is wrong, if they came there step by step.
    private static let growthLimit = 240 * millisecond
    private static let minGrowth = 300 * millisecond
    /// A unit that is so much less late than the one before was held up on its way.
    private static let maxFall = 120 * millisecond
    private static let steepGrowth = 180 * millisecond
    private static let maxRecent = 64
    /// The same of the least late unit of two windows.
    private static let levelLimit = 300 * millisecond
    /// Frames that are shown later than they come are not so far ahead.
    private static let aheadLimit = 250 * millisecond
    private static let followingAheadLimit = 150 * millisecond
    private static let inTimeLimit = 20 * millisecond
    private static let rates = 0.125...4.0
    /// Timestamps that say less than a fifth of the time say nothing.
    private static let maxRate = 5.0
    private static let maxSlope = 0.8
    private static let window = 2 * second
    private static let firstWindow = 1 * second
    private static let laterWindow = 4 * second
    private static let maxWindow = 10 * second
    /// Windows that belong to the beginning: they are short.
    private static let firstWindows = 10
    /// Of the lateness of a window, what is taken out within the next one, and what is counted as the rate's.
    private static let phaseShare = 0.4
    private static let rateShare = 0.1
    private static let laterRateShare = 0.05
    private static let maxSlew = 0.25
    /// A clock that runs right for so long is trusted again.
    private static let calmTime = 30 * second
    /// Less than what `ClockDrift` takes out.
    private static let calmRate = 0.0004
    private static let calmLateness = 60 * millisecond
    /// A rate is reported when it has been the same for so long: a slow line does not last.
    private static let significantTime = 20 * second
    private static let significantRate = 0.0005
    private static let steadyShare = 0.02
    /// Two windows whose least late units came apart by no more are the work of a clock that runs right.
    private static let flatSlope = 0.005
    private static let squeezingTime = 400 * millisecond

    private struct Unit: Sendable {
        var camera: Int64
        var arrival: Int64
        var lateness: Int64
        /// How much later units came until then, in even steps.
        var growth: Int64 = 0
    }

    private(set) var map = TimeMap()
    /// The camera's durations are stretched.
    private(set) var isFollowing = false
    /// The camera's time stamps are a measure of time again: that takes a new timeline.
    private(set) var isUsableAgain = false

    /// Our seconds in one of the camera's, without what takes out a lateness.
    private var rate = 1.0
    /// What the rate has been near to, and since when.
    private var steady = (rate: 1.0, since: Int64(0))
    /// From when the clock was first doubted.
    private var own: OwnLine?
    private var isReturning = false
    private var recovery: ClockRecovery?
    /// The newest units, without those that are shown before an earlier one.
    private var recent: [Unit] = []
    private var open: LatenessWindow
    private var closed: LatenessWindow?
    private var windows = 0
    /// Time between arrivals: the longest of late, and the mean.
    private var longestGap: Int64 = 0
    private var meanGap: Int64 = 0
    private var lastArrival: Int64?
    private var calm: Int64 = 0
    /// How much later units came in even steps, and since when.
    private var growth: Int64 = 0
    private var growthBegan: Int64
    /// The last unit that did not stand ahead of its arrival, and how many did since.
    private var inTime: Unit?
    private var aheadCount = 0
    private var isSqueezing = false
    private var isMeasured = false

    init(at arrival: Int64) {
        open = LatenessWindow(at: arrival)
        growthBegan = arrival
    }

    /// The camera's timestamps do not measure time.
    var isUseless: Bool { recovery != nil }

    /// The camera's seconds in one of ours, once it is known that they are not the same.
    func speed(at arrival: Int64) -> Double? {
        guard isFollowing, arrival - steady.since >= Self.significantTime, abs(rate - 1) > Self.significantRate else {
            return nil
        }
        return 1 / rate
    }

    /// Whether time stamps have been useless for so long that it is the camera's fault.
    func isKnownUseless(at arrival: Int64) -> Bool {
        recovery.map { arrival - $0.began >= Self.significantTime } ?? false
    }

    /// A unit was placed.
    mutating func advance(to camera: Int64) {
        map.advance(to: camera)
    }

    /// All that was placed is taken for earlier by so much: see `Timeline.settle`.
    mutating func moved(by distance: Int64) {
        for index in recent.indices { recent[index].lateness += distance }
        inTime?.lateness += distance
        open.moved(by: distance)
        closed?.moved(by: distance)
    }

    /// - Parameters:
    ///   - lateness: of this unit, by the times that are given now; the unit itself gets the new ones.
    ///   - isSettling: what stands ahead is moved by others.
    mutating func observe(camera: Int64, lateness: Int64, arrival: Int64, isSettling: Bool) {
        var unit = Unit(camera: camera, arrival: arrival, lateness: lateness)
        defer { if abs(rate - steady.rate) > Self.steadyShare { steady = (rate, arrival) } }
        if let lastArrival {
            longestGap = max(longestGap, min(Self.maxWindow, arrival - lastArrival))
            meanGap += (min(Self.second * 2, arrival - lastArrival) - meanGap) / 16
        }
        lastArrival = arrival
        if goesBack(unit) || isUseless { return }
        if arrival - open.begin >= length { close(at: arrival) }
        open.take(lateness: lateness, camera: camera, arrival: arrival)
        if camera >= map.end {
            measureGrowth(unit)
            unit.growth = growth
            recent.append(unit)
            if recent.count > Self.maxRecent { recent.removeFirst(Self.maxRecent / 2) }
        }
        watchAhead(unit, isSettling: isSettling)
    }

    // MARK: - A line that was too narrow

    /// Leads units back to where the camera's own clock has them, once they come there.
    ///
    /// - Returns: whether nothing else is to be made of the unit.
    private mutating func goesBack(_ unit: Unit) -> Bool {
        if recovery?.isUsable(camera: unit.camera, arrival: unit.arrival) == true { isUsableAgain = true }
        guard var own, unit.camera >= map.end else { return isReturning }
        let isBack = own.isBack(
            unit.lateness + map.time(of: unit.camera) - own.time(of: unit.camera), camera: unit.camera,
            arrival: unit.arrival)
        self.own = own
        guard isBack else {
            if isReturning { doubtAgain(at: unit.arrival) }
            return false
        }
        if isUseless {
            // What was placed meanwhile was placed by arrivals.
            recovery = nil
            map.jump(to: own.time(of: map.end))
        }
        isReturning = true
        if let rate = own.rate(from: map, within: max(Self.squeezingTime, 2 * meanGap)) {
            map.go(on: rate)
        } else {
            trust(at: unit.arrival)
        }
        return true
    }

    /// Whether it was held up on its way, by the camera's own clock.
    private func isBacklog(_ unit: Unit) -> Bool {
        own.map { unit.lateness + map.time(of: unit.camera) > $0.time(of: unit.camera) } ?? false
    }

    private mutating func doubtAgain(at arrival: Int64) {
        isReturning = false
        follow(1, at: arrival)
    }

    // MARK: - Steps

    private mutating func measureGrowth(_ unit: Unit) {
        guard let last = recent.last else { return }
        let passed = Int64(Double(min(Self.second, unit.camera - last.camera)) * map.rate)
        let step = unit.lateness - last.lateness
        // A gap counts for little: most of it is the network's.
        growth += min(step, passed + passed / 2 + 10 * Self.millisecond)
        guard growth > 0, step > -Self.maxFall, unit.lateness > -Self.inTimeLimit else {
            growth = 0
            growthBegan = unit.arrival
            return
        }
        let lasted = unit.arrival - growthBegan
        let isLate = unit.lateness > Self.levelLimit && growth > Self.steepGrowth
        guard growth > Self.growthLimit || isLate, unit.lateness > Self.growthLimit, lasted >= Self.minGrowth
        else { return }
        // Since it became steep: before that the clock may have run right for long.
        var slope = Double(growth) / Double(lasted)
        if let steep = recent.last(where: { $0.growth <= growth - Self.steepGrowth }), steep.arrival > growthBegan {
            slope = Double(growth - steep.growth) / Double(max(1, unit.arrival - steep.arrival))
        }
        follow(map.rate / (1 - min(Self.maxSlope, slope)), at: unit.arrival)
        map.go(on: rate * (1 + Self.phaseShare * Double(min(Self.levelLimit, unit.lateness)) / 1e9))
    }

    private mutating func watchAhead(_ unit: Unit, isSettling: Bool) {
        guard unit.lateness < -Self.inTimeLimit, let inTime else {
            inTime = unit
            aheadCount = 0
            isMeasured = false
            if isSqueezing {
                isSqueezing = false
                map.go(on: rate)
            }
            return
        }
        aheadCount += 1
        let limit = isFollowing ? Self.followingAheadLimit : Self.aheadLimit
        if !isSqueezing {
            guard unit.lateness < -limit, isFollowing || !isSettling else { return }
            isSqueezing = true
            if !isFollowing { follow(1, at: unit.arrival) }
        }
        let lasted = unit.arrival - inTime.arrival
        if !isMeasured, aheadCount >= 6, lasted >= max(Self.squeezingTime, 2 * longestGap) {
            isMeasured = true
            let measured = Double(lasted) / Double(max(1, unit.camera - inTime.camera))
            rate = min(rate, max(Self.rates.lowerBound, measured))
        }
        // Not more than half of it with the next unit.
        let time = max(Self.squeezingTime, 2 * meanGap)
        map.go(on: rate * (1 + max(isBacklog(unit) ? -0.999 : -0.8, Double(unit.lateness) / Double(time))))
    }

    // MARK: - Windows

    private var isEarly: Bool { windows < Self.firstWindows }

    private var length: Int64 {
        let length = isFollowing ? isEarly ? Self.firstWindow : Self.laterWindow : Self.window
        return max(length, min(Self.maxWindow, max(longestGap + longestGap / 2, 5 * meanGap)))
    }

    private mutating func close(at arrival: Int64) {
        let window = open
        open = LatenessWindow(at: arrival)
        longestGap = longestGap * 7 / 10
        guard let least = window.least else { return }
        defer { closed = window }
        if let closed, let before = closed.least, before > Self.levelLimit / 2, least > Self.levelLimit,
            least >= before - Self.inTimeLimit
        {
            let slope = window.slope(since: closed)
            follow(slope < 0.95 ? 1 / (1 - max(-1, slope)) : .infinity, at: arrival)
        }
        guard isFollowing else { return }
        windows += 1
        if isSqueezing, let closed {
            let measured = 1 / (1 - min(Self.maxSlope, window.slope(since: closed)))
            rate = min(rate, max(Self.rates.lowerBound, measured))
        }
        if let closed, abs(rate - 1) > Self.steadyShare, abs(window.slope(since: closed)) < Self.flatSlope { rate = 1 }
        take(out: least, lasted: min(3600 * Self.second, arrival - window.begin), at: arrival)
    }

    private mutating func take(out least: Int64, lasted: Int64, at arrival: Int64) {
        let taken = Int64(abs(map.rate / rate - 1) * Double(lasted))
        if let before = closed?.least, least > 100 * Self.millisecond, least < before - taken - Self.levelLimit / 2 {
            // A connection that catches up by itself.
            map.go(on: rate)
            return
        }
        let counted = Double(max(-Self.levelLimit, min(Self.levelLimit, least)))
        let step = (isEarly ? Self.rateShare : Self.laterRateShare) * counted / Double(lasted)
        rate = min(Self.rates.upperBound, max(Self.rates.lowerBound, rate + step))
        let slew = Self.phaseShare * Double(least) / Double(lasted)
        if !isSqueezing { map.go(on: rate * (1 + max(-Self.maxSlew, min(Self.maxSlew, slew)))) }
        calm = abs(rate - 1) < Self.calmRate && abs(least) < Self.calmLateness ? calm + lasted : 0
        if calm >= Self.calmTime { trust(at: arrival) }
    }

    private mutating func follow(_ measured: Double, at arrival: Int64) {
        if !isFollowing {
            isFollowing = true
            own = OwnLine(map: map, at: arrival)
            steady = (rate, arrival)
        }
        if measured > Self.maxRate { recovery = ClockRecovery(camera: map.end, at: arrival) }
        rate = min(Self.rates.upperBound, max(Self.rates.lowerBound, measured))
        map.go(on: rate)
        windows = 0
        calm = 0
        growth = 0
        growthBegan = arrival
        isMeasured = false
        open = LatenessWindow(at: arrival)
    }

    private mutating func trust(at arrival: Int64) {
        isFollowing = false
        isReturning = false
        isSqueezing = false
        own = nil
        inTime = nil
        recent = []
        closed = nil
        open = LatenessWindow(at: arrival)
        rate = 1
        map.go(on: 1)
        calm = 0
        growth = 0
        growthBegan = arrival
    }
}
