import Testing

@testable import Discovery

struct SearchPaceTests {
    private let second: UInt64 = 1_000_000_000

    /// The macro does not take what changes something.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    @Test func `devices that a long scan finds last have as much time as others`() {
        var end = SearchEnd(connectTime: second / 2, answerTime: 2 * second)
        #expect(end.grace == 5 * second)
        expect(!end.isDone(at: 4 * second, listenEnd: 5 * second, isScanning: true, isIdle: false))
        // The listening has ended long ago.
        expect(!end.isDone(at: 600 * second, listenEnd: 5 * second, isScanning: true, isIdle: false))
        expect(!end.isDone(at: 601 * second, listenEnd: 5 * second, isScanning: false, isIdle: false))
        expect(!end.isDone(at: 605 * second, listenEnd: 5 * second, isScanning: false, isIdle: false))
        expect(end.isDone(at: 606 * second, listenEnd: 5 * second, isScanning: false, isIdle: false))
    }

    @Test func `a search ends at once when there is no one left to wait for`() {
        var end = SearchEnd(connectTime: 0, answerTime: 0)
        #expect(end.grace == 4 * second)
        expect(!end.isDone(at: second, listenEnd: 2 * second, isScanning: false, isIdle: true))
        expect(end.isDone(at: 2 * second, listenEnd: 2 * second, isScanning: false, isIdle: true))
    }

    @Test func `no device is waited for without an end`() {
        #expect(SearchEnd(connectTime: .max, answerTime: 1).grace == 30 * second)
        #expect(SearchEnd(connectTime: 3600 * second, answerTime: 3600 * second).grace == 30 * second)
    }

    @Test func `many devices are reported once a second`() {
        #expect(ReportPause.nanoseconds(hasChanged: true, devices: 256) == second / 10)
        #expect(ReportPause.nanoseconds(hasChanged: false, devices: 256) == second / 2)
        #expect(ReportPause.nanoseconds(hasChanged: true, devices: 257) == second)
        #expect(ReportPause.nanoseconds(hasChanged: false, devices: 5000) == second)
    }
}
