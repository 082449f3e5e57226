import Media
import Synchronization
import Testing

@testable import CameraPipeline

/// A machine whose clocks are what the test says.
private final class Machine: Sendable {
    struct State {
        var wall: Int64
        var monotonic: UInt64 = 5_000_000_000
        var isSynchronised: Bool?
    }
    let state: Mutex<State>

    init(wall: Int64, isSynchronised: Bool?) {
        state = Mutex(State(wall: wall, isSynchronised: isSynchronised))
    }

    var now: UInt64 { state.withLock { $0.monotonic } }

    func pass(seconds: Int64) {
        state.withLock { state in
            state.wall += seconds * 1000
            state.monotonic += UInt64(seconds) * 1_000_000_000
        }
    }

    func step(to wall: Int64) { state.withLock { $0.wall = wall } }

    func clock() -> StreamClock {
        StreamClock(
            .init(
                time: { self.state.withLock { $0.wall } }, monotonic: { self.state.withLock { $0.monotonic } },
                isSynchronised: { self.state.withLock { $0.isSynchronised } }))
    }
}

private let noon: Int64 = 1_800_000_000_000

@Suite struct StreamClockTests {
    @Test(arguments: [true, nil])
    func `a clock that is kept right, or may be, is believed`(isSynchronised: Bool?) {
        let machine = Machine(wall: noon, isSynchronised: isSynchronised)
        let clock = machine.clock()
        #expect(clock.time(at: machine.now) == .system(noon))
        // A frame that was captured before now.
        #expect(clock.time(at: machine.now - 250_000_000) == .system(noon - 250))
    }

    @Test(arguments: [(noon, false), (86_400_000, true), (86_400_000, nil)] as [(Int64, Bool?)])
    func `a clock that is not kept right, or that was never set, says nothing`(wall: Int64, isSynchronised: Bool?) {
        let machine = Machine(wall: wall, isSynchronised: isSynchronised)
        let clock = machine.clock()
        #expect(clock.time(at: machine.now) == .unset)
        clock.kasSaid(time: noon, at: machine.now)
        machine.pass(seconds: 60)
        #expect(clock.time(at: machine.now) == .keyAccess(noon + 60_000))
    }

    @Test func `a clock within two seconds of the KAS's is the system's, one farther off is the KAS's`() {
        for (error, isBelieved) in [(Int64(2000), true), (-2000, true), (2001, false), (-3_600_000, false)] {
            let machine = Machine(wall: noon + error, isSynchronised: true)
            let clock = machine.clock()
            clock.kasSaid(time: noon, at: machine.now)
            #expect(clock.time(at: machine.now) == (isBelieved ? .system(noon + error) : .keyAccess(noon)))
        }
    }

    @Test func `a step of the system's clock does not reach the stream`() {
        let machine = Machine(wall: noon, isSynchronised: nil)
        let clock = machine.clock()
        clock.kasSaid(time: noon, at: machine.now)
        machine.step(to: noon + 3_600_000)
        #expect(clock.time(at: machine.now) == .keyAccess(noon))
        machine.step(to: noon)
        #expect(clock.time(at: machine.now) == .system(noon))
    }

    @Test func `a KAS without a clock is not believed`() {
        let machine = Machine(wall: noon, isSynchronised: true)
        let clock = machine.clock()
        for time in [0, -1, Int64.min, Int64.max, 1_000_000_000_000] { clock.kasSaid(time: time, at: machine.now) }
        #expect(clock.time(at: machine.now) == .system(noon))
    }

    @Test func `this machine's clocks can be read`() {
        let before = StreamClock.System.kernel.monotonic()
        #expect(StreamClock.System.kernel.time() > 1_700_000_000_000)
        #expect(StreamClock.System.kernel.monotonic() >= before)
    }

    @Test func `the system's time is certain only where somebody vouches for it`() {
        #expect(Machine(wall: noon, isSynchronised: true).clock().isSystemTimeCertain(hasMark: false))
        #expect(
            !Machine(wall: 5_000_000, isSynchronised: true).clock().isSystemTimeCertain(hasMark: false),
            "it was never set")
        // A unit may not ask: that nobody denies it is not enough.
        let machine = Machine(wall: noon, isSynchronised: nil)
        let clock = machine.clock()
        #expect(!clock.isSystemTimeCertain(hasMark: false))
        clock.kasSaid(time: noon + 1500, at: machine.now)
        #expect(clock.isSystemTimeCertain(hasMark: false))
        machine.pass(seconds: 86_400)
        #expect(clock.isSystemTimeCertain(hasMark: false))
        machine.step(to: noon + 10 * 365 * 86_400_000)
        #expect(!clock.isSystemTimeCertain(hasMark: false), "what it was set to is not what the KAS said")
        #expect(!clock.isSystemTimeCertain(hasMark: true), "nor does the mark of an earlier hour count against it")
        #expect(machine.clock().isSystemTimeCertain(hasMark: true), "nobody contradicts")
    }
}
