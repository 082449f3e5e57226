internal import Wire

/// What a receiver report says of one source (RFC 3550 A.3, A.8).
struct Reception: Sendable {
    private let clockRate: Int64
    private var base: UInt32?
    /// Sequence number with its wraps in the upper half.
    private(set) var highest: UInt32 = 0
    private var received: UInt32 = 0
    private var expectedBefore: UInt32 = 0
    private var receivedBefore: UInt32 = 0

    private var lastTimestamp: UInt32 = 0
    private var lastArrival: UInt64 = 0
    /// Sixteen times the jitter, in nanoseconds.
    private var scaledJitter: Int64 = 0

    init(clockRate: Int) {
        self.clockRate = Int64(max(1, clockRate))
    }

    var jitterNanoseconds: UInt64 { UInt64(max(0, scaledJitter / 16)) }

    /// In order of the sequence numbers.
    mutating func delivered(sequence: UInt16, timestamp: UInt32, arrival: UInt64) {
        if base == nil {
            base = UInt32(sequence)
            highest = UInt32(sequence)
        } else {
            let step = sequence &- UInt16(truncatingIfNeeded: highest)
            highest = highest &+ UInt32(step)
            measure(timestamp: timestamp, arrival: arrival)
        }
        received = received &+ 1
        lastTimestamp = timestamp
        lastArrival = arrival
    }

    private mutating func measure(timestamp: UInt32, arrival: UInt64) {
        // At most 2^31 ticks, so the product fits.
        let ticks = Int64(Int32(bitPattern: timestamp &- lastTimestamp))
        let passed = ticks == 0 ? 0 : ticks * 1_000_000_000 / clockRate
        let difference = Int64(bitPattern: arrival &- lastArrival) &- passed
        // A step of the camera's clock is not jitter.
        guard difference.magnitude < 10_000_000_000 else { return }
        scaledJitter += Int64(difference.magnitude) - (scaledJitter + 8) / 16
    }

    /// The sequence numbers began again.
    mutating func restart() {
        base = nil
        received = 0
        expectedBefore = 0
        receivedBefore = 0
    }

    /// A report block (RFC 3550 §6.4.1), 24 bytes.
    mutating func block(source: UInt32, lastReport: SenderReport?, at now: UInt64) -> [UInt8] {
        let expected = base.map { highest &- $0 &+ 1 } ?? 0
        let lost = max(0, min(0x7F_FFFF, Int64(expected) - Int64(received)))
        let expectedNow = expected &- expectedBefore
        let lostNow = max(0, Int64(expectedNow) - Int64(received &- receivedBefore))
        let fraction = expectedNow == 0 ? 0 : min(255, lostNow * 256 / Int64(expectedNow))
        expectedBefore = expected
        receivedBefore = received
        let (ticks, isTooBig) = Int64(clamping: jitterNanoseconds).multipliedReportingOverflow(by: clockRate)

        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        bytes.appendUInt32(source)
        bytes.appendUInt32(UInt32(truncatingIfNeeded: fraction) << 24 | UInt32(truncatingIfNeeded: lost))
        bytes.appendUInt32(highest)
        bytes.appendUInt32(isTooBig ? .max : UInt32(clamping: ticks / 1_000_000_000))
        bytes.appendUInt32(lastReport.map { UInt32(truncatingIfNeeded: $0.ntp >> 16) } ?? 0)
        bytes.appendUInt32(lastReport.map { Self.delay(from: $0.arrival, to: now) } ?? 0)
        return bytes
    }

    /// In 1/65 536 s.
    private static func delay(from: UInt64, to: UInt64) -> UInt32 {
        let (high, low) = (to > from ? to - from : 0).multipliedFullWidth(by: 65536)
        guard high < 1_000_000_000 else { return .max }
        return UInt32(clamping: UInt64(1_000_000_000).dividingFullWidth((high, low)).quotient)
    }
}
