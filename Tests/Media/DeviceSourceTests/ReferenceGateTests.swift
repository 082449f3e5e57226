import Testing

@testable import DeviceSource

struct ReferenceGateTests {
    private func admitted(_ gate: inout ReferenceGate, _ frames: [(sequence: UInt32, isKeyFrame: Bool)]) -> [Bool] {
        frames.map { gate.admits(sequence: $0.sequence, isKeyFrame: $0.isKeyFrame) }
    }

    @Test func `it opens with a key frame and closes at a gap`() {
        var gate = ReferenceGate()
        let seen = admitted(
            &gate, [(5, false), (6, true), (7, false), (9, false), (10, false), (11, true), (12, false), (15, true)])
        #expect(seen == [false, true, true, false, false, true, true, true])
        #expect(gate.withheld == 3 && gate.breaks == 2)
    }

    @Test func `the count goes round, or says nothing at all`() {
        var gate = ReferenceGate()
        #expect(
            admitted(&gate, [(UInt32.max - 1, true), (UInt32.max, false), (0, false), (1, false)]) == [
                true, true, true, true,
            ])
        var mute = ReferenceGate()
        #expect(admitted(&mute, [(0, true), (0, false), (0, false)]) == [true, true, true])
        mute.frameLost()
        #expect(admitted(&mute, [(0, false), (0, true)]) == [false, true])
    }

    @Test func `a count that begins again is a gap, but not where the stream does`() {
        var gate = ReferenceGate()
        #expect(admitted(&gate, [(70_000, true), (3, false)]) == [true, false])
        #expect(gate.breaks == 1)
        gate.streamBegan()
        #expect(admitted(&gate, [(0, false), (1, true), (2, false)]) == [false, true, true])
        #expect(gate.breaks == 1)
    }

    @Test func `a key frame is asked for at once, then every second, until it is there`() {
        var gate = ReferenceGate()
        let second: UInt64 = 1_000_000_000
        let asked = (0..<30).map { gate.asks(at: 7 + UInt64($0) * second / 10) }
        #expect(asked.enumerated().filter(\.element).map(\.offset) == [0, 10, 20])
        _ = gate.admits(sequence: 1, isKeyFrame: true)
        let isAsking = gate.asks(at: 100 * second)
        #expect(!isAsking)
    }

    @Test func `a camera that sends no key frame is found out, while it sends`() {
        var gate = ReferenceGate()
        let second: UInt64 = 1_000_000_000
        func starved(_ times: [UInt64]) -> [Bool] { times.map { gate.isStarved(at: $0 * second) } }
        #expect(starved([5, 10, 16, 17, 18]) == [false, false, false, true, true])
        gate.streamBegan()
        #expect(starved([100, 111, 112]) == [false, false, true])
        _ = gate.admits(sequence: 1, isKeyFrame: true)
        #expect(starved([113, 200]) == [false, false])
        gate.frameLost()
        #expect(starved([300, 311, 312]) == [false, false, true])
    }
}
