import Testing

@testable import DeviceSource

struct CaptureSessionTests {
    private static let millisecond: UInt64 = 1_000_000

    private func expect(
        _ session: inout CaptureSession, at now: UInt64, _ action: CaptureSession.Action,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let next = session.next(at: now)
        #expect(next == action, sourceLocation: location)
    }

    @Test func `looks for a camera that is not there, first often, then every two seconds, for ever`() {
        var session = CaptureSession()
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0..<100 {
            expect(&session, at: now, .open)
            session.faulted(.wait, at: now)
            guard case .wait(let pause) = session.next(at: now) else {
                Issue.record("it does not wait")
                return
            }
            pauses.append(pause)
            expect(&session, at: now + pause - 1, .wait(1))
            now += pause
        }
        #expect(pauses[0] == 200 * Self.millisecond)
        #expect(pauses[24] == 200 * Self.millisecond)
        #expect(pauses.last == 2_000 * Self.millisecond)
        #expect(session.attempts == 100)
        #expect(session.interruptions == 0, "nothing was interrupted")
    }

    @Test func `a camera that is pulled out and put in again`() {
        var session = CaptureSession()
        expect(&session, at: 0, .open)
        session.started(at: 0)
        expect(&session, at: 1, .capture)
        session.frameArrived(at: 33 * Self.millisecond)
        session.faulted(.wait, at: 50 * Self.millisecond)
        #expect(session.interruptions == 1)
        #expect(!session.isStreaming)
        expect(&session, at: 50 * Self.millisecond, .wait(200 * Self.millisecond))
        expect(&session, at: 250 * Self.millisecond, .open)
        session.started(at: 260 * Self.millisecond)
        expect(&session, at: 260 * Self.millisecond, .capture)
    }

    @Test func `a stream that breaks is started again, and opened again when that does not help`() {
        var session = CaptureSession()
        expect(&session, at: 0, .open)
        session.started(at: 0)
        var restarts = 0
        for look in 1..<10 as Range<UInt64> {
            session.faulted(.restart, at: look)
            guard session.next(at: look) == .restart else { break }
            restarts += 1
            session.started(at: look)
        }
        #expect(restarts == 3)
        guard case .wait = session.next(at: 10) else {
            Issue.record("it goes on without a pause")
            return
        }
        expect(&session, at: 10_000 * Self.millisecond, .open)
    }

    @Test func `a frame in between forgets earlier restarts`() {
        var session = CaptureSession()
        _ = session.next(at: 0)
        session.started(at: 0)
        for look in 1..<50 as Range<UInt64> {
            session.faulted(.restart, at: look)
            expect(&session, at: look, .restart)
            session.started(at: look)
            session.frameArrived(at: look)
        }
        #expect(session.interruptions == 49)
    }

    @Test func `a restart that fails is tried again, without counting as an interruption`() {
        var session = CaptureSession()
        _ = session.next(at: 0)
        session.started(at: 0)
        session.faulted(.restart, at: 1)
        expect(&session, at: 1, .restart)
        session.faulted(.restart, at: 2)
        expect(&session, at: 2, .restart)
        #expect(session.interruptions == 1)
    }

    @Test func `what only a person can fix is checked every five seconds`() {
        var session = CaptureSession()
        _ = session.next(at: 0)
        session.faulted(.person, at: 0)
        expect(&session, at: 0, .wait(5_000 * Self.millisecond))
    }

    @Test func `silence is measured by the camera's own rate`() {
        var session = CaptureSession()
        _ = session.next(at: 0)
        session.started(at: 1_000 * Self.millisecond)
        #expect(!session.isSilent(rate: 30, at: 4_000 * Self.millisecond))
        #expect(session.isSilent(rate: 30, at: 4_001 * Self.millisecond))
        #expect(!session.isSilent(rate: 1, at: 9_000 * Self.millisecond))
        #expect(session.isSilent(rate: 1, at: 9_001 * Self.millisecond))
        session.frameArrived(at: 9_001 * Self.millisecond)
        #expect(!session.isSilent(rate: 1, at: 12_000 * Self.millisecond))
        session.faulted(.wait, at: 20_000 * Self.millisecond)
        #expect(!session.isSilent(rate: 30, at: 90_000 * Self.millisecond), "nothing is expected of what is closed")
    }

    @Test func `new settings open it at once`() {
        var session = CaptureSession()
        _ = session.next(at: 0)
        session.started(at: 0)
        session.settingsChanged(at: 5)
        expect(&session, at: 5, .open)
        #expect(session.interruptions == 0)
    }
}
