import CameraModel
import Testing

@testable import Recording

struct EventGateTests {
    private static let second: UInt64 = 1_000_000_000
    private static let begin: UInt64 = 5000 * second

    private var gate = EventGate(.init(after: 30 * Self.second, longest: 600 * Self.second))

    private func isOpen(_ seconds: UInt64) -> Bool { gate.isOpen(at: Self.begin + seconds * Self.second) }

    private mutating func sensed(
        _ isActive: Bool?, _ kind: SensorEvent.Kind = .motion, source: String? = "1", at seconds: UInt64
    ) {
        gate.sensed(SensorEvent(kind: kind, isActive: isActive, source: source), at: Self.begin + seconds * Self.second)
    }

    @Test mutating func `nothing is recorded for nothing`() {
        #expect(!isOpen(0) && gate.last == nil)
        sensed(false, at: 0)
        #expect(!isOpen(0) && gate.last == nil, "cameras repeat that nothing moves")
    }

    @Test mutating func `a moment is recorded for the time after it`() {
        sensed(nil, .digitalInput, at: 10)
        #expect(isOpen(10) && isOpen(39) && !isOpen(40))
        #expect(gate.last?.cause == .digitalInput)
        sensed(nil, .digitalInput, at: 35)
        #expect(isOpen(64) && !isOpen(65))
    }

    @Test mutating func `an event that lasts is recorded until after its end`() {
        sensed(true, at: 0)
        #expect(isOpen(500))
        sensed(false, at: 500)
        #expect(isOpen(529) && !isOpen(530))
    }

    @Test mutating func `an event that never ends is given up, and each word of it counts`() {
        sensed(true, at: 0)
        #expect(isOpen(599) && !isOpen(600))
        sensed(true, at: 400)
        #expect(isOpen(999) && !isOpen(1000))
        sensed(false, at: 2000)
        #expect(!isOpen(2000), "it was over long before")
    }

    @Test mutating func `of events at the same time the last end counts`() {
        sensed(true, .motion, source: "1", at: 0)
        sensed(true, .motion, source: "2", at: 10)
        sensed(true, .tamper, source: "1", at: 15)
        sensed(false, .motion, source: "1", at: 20)
        #expect(isOpen(300))
        sensed(false, .tamper, source: "1", at: 30)
        #expect(isOpen(300))
        sensed(false, .motion, source: "2", at: 100)
        #expect(isOpen(129) && !isOpen(130))
    }

    @Test mutating func `a camera with many inputs is taken at its word for some, and the rest are moments`() {
        for number in 0..<10_000 { sensed(true, .digitalInput, source: "in \(number)", at: 0) }
        for number in 0..<EventGate.maxLasting { sensed(false, .digitalInput, source: "in \(number)", at: 5) }
        #expect(isOpen(34) && !isOpen(35))
        for number in 0..<10_000 { sensed(true, .digitalInput, source: "in \(number)", at: 100) }
        // Those that were given up make room.
        sensed(true, .motion, source: "a", at: 800)
        #expect(isOpen(1399))
    }

    @Test mutating func `a mark is for the time after it, or for as long as it says, within bounds`() {
        gate.mark(for: nil, at: Self.begin)
        #expect(isOpen(29) && !isOpen(30) && gate.last?.cause == .mark)
        gate.mark(for: 300 * Self.second, at: Self.begin)
        #expect(isOpen(299) && !isOpen(300))
        gate.mark(for: 1, at: Self.begin)
        #expect(isOpen(299), "a shorter one takes nothing back")
        gate.mark(for: .max, at: Self.begin)
        #expect(isOpen(3599) && !isOpen(3600))
        gate.mark(for: nil, at: .max - 1)
        #expect(gate.isOpen(at: .max - 1))
    }

    @Test mutating func `a schedule is recorded while it lasts, and its begin is an event`() {
        gate.schedule(false, at: Self.begin)
        #expect(!isOpen(0) && gate.last == nil)
        gate.schedule(true, at: Self.begin)
        #expect(isOpen(100_000) && gate.last?.cause == .schedule)
        sensed(nil, at: 50)
        gate.schedule(true, at: Self.begin + 60 * Self.second)
        #expect(gate.last?.cause == .motion)
        gate.schedule(false, at: Self.begin + 70 * Self.second)
        #expect(isOpen(79) && !isOpen(80))
    }

    @Test mutating func `what was captured within a schedule counts when it is over as well`() {
        gate.schedule(true, at: Self.begin)
        gate.schedule(false, at: Self.begin + 3600 * Self.second)
        #expect(isOpen(3599) && !isOpen(3600), "what waits behind a slow disk is looked at later")
    }

    @Test func `what the camera reports does not count where it is not asked for`() {
        var gate = EventGate(.init(takesSensors: false))
        gate.sensed(SensorEvent(kind: .motion, isActive: true), at: Self.begin)
        #expect(!gate.isOpen(at: Self.begin) && gate.last == nil)
        gate.mark(for: nil, at: Self.begin)
        #expect(gate.isOpen(at: Self.begin))
    }
}
