import Glibc
import Synchronization
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(15)))
struct SystemBusTests {
    private let unit = "watchbox-camera@front.service"

    private func properties(_ name: String, _ fill: (inout BusBytes) -> Void = { _ in }) -> BusBytes {
        var body = BusBytes()
        body.array(alignment: 8) { bytes in
            bytes.property("Id", "s") { $0.string(name) }
            fill(&bytes)
        }
        return body
    }

    @Test func `a restart is over when its job is`() async throws {
        let bus = try StandInBus { call, peer in
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
            peer.jobRemoved("/org/freedesktop/systemd1/job/6", "other.service", "failed")
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "done")
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        try await control.restart(unit)
        let calls = bus.calls
        #expect(calls.map(\.member) == ["Hello", "AddMatch", "Subscribe", "ResetFailedUnit", "RestartUnit"])
        #expect(calls.dropLast().last?.arguments == [unit])
        let restart = try #require(calls.last)
        #expect(restart.arguments == [unit, "replace"])
        #expect(restart.destination == "org.freedesktop.systemd1")
        #expect(restart.path == "/org/freedesktop/systemd1")
        #expect(restart.interface == "org.freedesktop.systemd1.Manager")
        // 2: starts no service; 4 would let polkit ask a person.
        #expect(restart.flags == 2)
    }

    @Test func `a start that must not be replaced says so, and is made though its starts cannot be forgotten`()
        async throws
    {
        let bus = try StandInBus(answersReset: true) { call, peer in
            if call.member == "ResetFailedUnit" {
                return peer.fail(call, "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired")
            }
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "done")
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        try await control.startIrreversibly("reboot.target")
        #expect(bus.calls.last?.member == "StartUnit")
        #expect(bus.calls.last?.arguments == ["reboot.target", "replace-irreversibly"])
        try await control.stop(unit)
        #expect(bus.calls.suffix(2).map(\.member) == ["Subscribe", "StopUnit"], "a stop forgets nothing")
    }

    @Test(arguments: [true, false])
    func `systemd-timedated is asked whether the clock is set, and may be started for it`(isSynchronised: Bool)
        async throws
    {
        let bus = try StandInBus { call, peer in
            var body = BusBytes()
            body.signature("b")
            body.uint32(isSynchronised ? 1 : 0)
            peer.reply(call, "v", body, sender: ":1.9")
        }
        defer { bus.stop() }
        #expect(try await SystemBus(address: bus.address).isClockSynchronised() == isSynchronised)
        let call = try #require(bus.calls.last)
        #expect(
            [call.destination, call.interface, call.member] == [
                "org.freedesktop.timedate1", "org.freedesktop.DBus.Properties", "Get",
            ])
        #expect(call.arguments == ["org.freedesktop.timedate1", "NTPSynchronized"])
        // Not 2, which forbids the bus to start it.
        #expect(call.flags == 0)
    }

    @Test func `a clock that no service knows, or that comes in another form`() async throws {
        let missing = try StandInBus { call, peer in peer.fail(call, "org.freedesktop.DBus.Error.ServiceUnknown") }
        defer { missing.stop() }
        await #expect(throws: SystemdError.self) { try await SystemBus(address: missing.address).isClockSynchronised() }
        let odd = try StandInBus { call, peer in
            var body = BusBytes()
            body.signature("s")
            body.string("yes")
            peer.reply(call, "v", body)
        }
        defer { odd.stop() }
        await #expect(throws: SystemdError.self) { try await SystemBus(address: odd.address).isClockSynchronised() }
    }

    @Test(arguments: ["done", "skipped"])
    func `a job that ends before it is known counts`(result: String) async throws {
        let bus = try StandInBus { call, peer in
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], result)
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
        }
        defer { bus.stop() }
        try await SystemBus(address: bus.address).start(unit)
    }

    @Test(arguments: ["failed", "timeout", "dependency", "canceled"])
    func `a job that fails is an error with PID 1's result`(result: String) async throws {
        let bus = try StandInBus { call, peer in
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], result)
        }
        defer { bus.stop() }
        await #expect(throws: SystemdError.jobFailed(unit: unit, result: result)) {
            try await SystemBus(address: bus.address).stop(unit)
        }
    }

    @Test func `a signal from somebody else ends no job`() async throws {
        let bus = try StandInBus { call, peer in
            if call.member == "GetNameOwner" {
                var body = BusBytes()
                body.string(StandInBus.systemd)
                return peer.reply(call, "s", body, sender: "org.freedesktop.DBus")
            }
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "failed", sender: ":1.66")
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "failed", sender: ":1.66")
            peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "done")
        }
        defer { bus.stop() }
        try await SystemBus(address: bus.address).start(unit)
    }

    @Test func `a job outlives PID 1's own restart`() async throws {
        let bus = try StandInBus { call, peer in
            guard call.member == "GetNameOwner" else {
                peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
                return peer.jobRemoved("/org/freedesktop/systemd1/job/7", call.arguments[0], "done", sender: ":1.9")
            }
            var body = BusBytes()
            body.string(":1.9")
            peer.reply(call, "s", body, sender: "org.freedesktop.DBus")
        }
        defer { bus.stop() }
        try await SystemBus(address: bus.address).start(unit)
        #expect(bus.calls.last?.arguments == ["org.freedesktop.systemd1"])
    }

    @Test func `a job that never ends is left at the deadline`() async throws {
        let bus = try StandInBus { call, peer in peer.replyPath(call, "/org/freedesktop/systemd1/job/7") }
        defer { bus.stop() }
        // Long enough for the greeting and the calls before the job, which are within it.
        let control = SystemBus(address: bus.address, jobDeadline: .seconds(5))
        await #expect(throws: SystemdError.timedOut("start of \(unit); job 7 goes on")) {
            try await control.start(unit)
        }
    }

    @Test func `a bus that accepts and says nothing is left at the deadline`() async throws {
        let bus = try StandInBus { _, _ in }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address, callDeadline: .milliseconds(200))
        await #expect(throws: SystemdError.timedOut("state of \(unit)")) { try await control.state(of: unit) }
        await #expect(throws: SystemdError.timedOut("list of units *")) { try await control.units(matching: "*") }
    }

    @Test(arguments: ["AccessDenied", "InteractiveAuthorizationRequired"])
    func `what polkit refuses is denied`(name: String) async throws {
        let bus = try StandInBus(answersReset: true) { call, peer in
            peer.fail(call, "org.freedesktop.DBus.Error.\(name)")
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        await #expect(throws: SystemdError.denied("restart of \(unit)")) { try await control.restart(unit) }
        await #expect(throws: SystemdError.denied("reset-failed of \(unit)")) { try await control.resetFailed(unit) }
    }

    @Test func `a unit that is not there`() async throws {
        let bus = try StandInBus(answersReset: true) { call, peer in
            peer.fail(call, "org.freedesktop.systemd1.NoSuchUnit")
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        await #expect(throws: SystemdError.noSuchUnit(unit)) { try await control.start(unit) }
        // What is not loaded has no failure to forget.
        try await control.resetFailed(unit)
    }

    @Test func `a state is read whatever else is in the answer`() async throws {
        let body = properties(unit) { bytes in
            bytes.property("Environment", "as") { $0.array(alignment: 4) { $0.string("A=b") } }
            bytes.property("LoadState", "s") { $0.string("loaded") }
            bytes.property("ActiveState", "s") { $0.string("active") }
            bytes.property("SubState", "s") { $0.string("running") }
            bytes.property("ActiveEnterTimestampMonotonic", "t") { $0.uint64(123_456_789) }
            bytes.property("InvocationID", "ay") { $0.array(alignment: 1) { $0.bytes += Array(0..<16) } }
            bytes.property("Result", "s") { $0.string("success") }
            bytes.property("StatusText", "s") { $0.string("25.0 fps\n\u{1b}[2J") }
            bytes.property("MainPID", "u") { $0.uint32(4711) }
            bytes.property("NRestarts", "u") { $0.uint32(3) }
            bytes.property("UID", "u") { $0.uint32(61_184) }
            bytes.property("ExecMainStatus", "i") { $0.uint32(6) }
        }
        let bus = try StandInBus { call, peer in
            switch call.member {
            case "LoadUnit": peer.replyPath(call, "/unit/front")
            case "GetAll" where call.path == "/unit/front": peer.reply(call, "a{sv}", body)
            default: peer.hangUp()
            }
        }
        defer { bus.stop() }
        let state = try await SystemBus(address: bus.address).state(of: unit)
        #expect(
            state
                == UnitState(
                    name: unit, load: "loaded", active: "active", sub: "running", result: "success",
                    statusText: "25.0 fps  [2J", mainPID: 4711, restarts: 3,
                    invocationID: "000102030405060708090a0b0c0d0e0f", activeSinceMonotonic: 123_456_789,
                    execMainStatus: 6, userIdentifier: 61_184))
    }

    @Test func `a property of an unexpected type is left at its default`() async throws {
        let body = properties(unit) { bytes in
            bytes.property("MainPID", "s") { $0.string("many") }
            // No user: (uid_t) -1.
            bytes.property("UID", "u") { $0.uint32(.max) }
            bytes.property("InvocationID", "ay") { $0.array(alignment: 1) { $0.bytes += [1, 2] } }
            bytes.property("ActiveEnterTimestampMonotonic", "t") { $0.uint64(5) }
            bytes.property("ActiveState", "s") { $0.string("failed") }
        }
        let bus = try StandInBus { call, peer in
            if call.member == "LoadUnit" { peer.replyPath(call, "/u") } else { peer.reply(call, "a{sv}", body) }
        }
        defer { bus.stop() }
        let state = try await SystemBus(address: bus.address).state(of: unit)
        #expect(state == UnitState(name: unit, load: "", active: "failed", sub: ""))
    }

    @Test func `an answer of another form is an error`() async throws {
        let bus = try StandInBus { call, peer in peer.reply(call) }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        for ask in [control.start, control.stop] as [@Sendable (String) async throws -> Void] {
            await #expect(throws: SystemdError.self) { try await ask(unit) }
        }
        await #expect(throws: SystemdError.self) { try await control.state(of: unit) }
        await #expect(throws: SystemdError.self) { try await control.units(matching: "*") }
    }

    @Test func `a list is complete, sorted, and without the unit that went away`() async throws {
        var list = BusBytes()
        list.array(alignment: 8) { bytes in
            for path in ["/u/b", "/u/gone", "/u/a"] {
                bytes.align(8)
                for _ in 0..<6 { bytes.string("x") }
                bytes.string(path)
                bytes.uint32(0)
                for text in ["", "/"] { bytes.string(text) }
            }
        }
        let (answer, a, b) = (list, properties("a.service"), properties("b.service"))
        let bus = try StandInBus { call, peer in
            switch (call.member, call.path) {
            case ("ListUnitsByPatterns", _): peer.reply(call, "a(ssssssouso)", answer)
            case (_, "/u/a"): peer.reply(call, "a{sv}", a)
            case (_, "/u/b"): peer.reply(call, "a{sv}", b)
            default: peer.fail(call, "org.freedesktop.DBus.Error.UnknownObject")
            }
        }
        defer { bus.stop() }
        let states = try await SystemBus(address: bus.address).units(matching: "watchbox-*")
        #expect(states.map(\.name) == ["a.service", "b.service"])
    }

    @Test func `a lost connection is made again by the next call`() async throws {
        let body = properties(unit)
        let flag = Flag()
        let bus = try StandInBus { call, peer in
            if flag.setOnce() { return peer.hangUp() }
            if call.member == "LoadUnit" { peer.replyPath(call, "/u") } else { peer.reply(call, "a{sv}", body) }
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        await #expect(
            throws: SystemdError.unavailable("state of \(unit): the connection to the system bus was lost")
        ) { try await control.state(of: unit) }
        #expect(try await control.state(of: unit).name == unit)
        #expect(bus.calls.filter { $0.member == "Hello" }.count == 2)
    }

    @Test func `garbage on the bus is a lost connection`() async throws {
        let bus = try StandInBus { _, peer in peer.sendRaw([UInt8](repeating: 0xFF, count: 4096)) }
        defer { bus.stop() }
        await #expect(throws: SystemdError.self) { try await SystemBus(address: bus.address).state(of: unit) }
    }

    @Test(arguments: ["unix:path=/tmp/watchbox-no-bus", "", "nonsense", "unix:"])
    func `without a bus it is unavailable`(address: String) async {
        do throws(SystemdError) {
            _ = try await SystemBus(address: address).state(of: unit)
            Issue.record("it answered")
        } catch {
            guard case .unavailable = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test(arguments: ["", "front", "../x.service", "a b.service", "a.service\n", "ä.service", "@.service"])
    func `a bad name does not go out`(name: String) async throws {
        let bus = try StandInBus { _, peer in peer.hangUp() }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        let expected = SystemdError.invalid("unit name \"\(name.oneLine(limit: 64))\"")
        await #expect(throws: expected) { try await control.start(name) }
        await #expect(throws: expected) { try await control.stop(name) }
        await #expect(throws: expected) { try await control.restart(name) }
        await #expect(throws: expected) { try await control.resetFailed(name) }
        await #expect(throws: expected) { try await control.state(of: name) }
        await #expect(throws: SystemdError.self) { try await control.units(matching: name + " ") }
        #expect(bus.calls.isEmpty)
    }

    @Test func `a hundred calls at once are told apart`() async throws {
        let bus = try StandInBus { call, peer in
            if call.member == "LoadUnit" { return peer.replyPath(call, "/u/" + call.arguments[0].prefix { $0 != "." }) }
            var body = BusBytes()
            body.array(alignment: 8) { $0.property("Id", "s") { $0.string("\(call.path.dropFirst(3)).service") } }
            peer.reply(call, "a{sv}", body)
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address, callDeadline: .seconds(60))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                group.addTask { try await control.state(of: "u\(index).service").name == "u\(index).service" }
            }
            for try await matches in group { #expect(matches) }
        }
        #expect(bus.calls.filter { $0.member == "Hello" }.count == 1)
    }

    @Test func `a cancelled task waits no longer`() async throws {
        let asked = Flag()
        let bus = try StandInBus { call, peer in
            peer.replyPath(call, "/org/freedesktop/systemd1/job/7")
            _ = asked.setOnce()
        }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        let task = Task { try await control.start(unit) }
        while !asked.isSet { await Task.yield() }
        task.cancel()
        await #expect(
            throws: SystemdError.unavailable("start of \(unit): no one waits for it any more")
        ) { try await task.value }
    }

    @Test func `closing ends what is under way, and what comes later`() async throws {
        let asked = Flag()
        let bus = try StandInBus { _, _ in _ = asked.setOnce() }
        defer { bus.stop() }
        let control = SystemBus(address: bus.address)
        let task = Task { try await control.start(unit) }
        while !asked.isSet { await Task.yield() }
        control.close()
        await #expect(throws: SystemdError.self) { try await task.value }
        await #expect(throws: SystemdError.unavailable("the connection to the system bus was closed")) {
            try await control.start(unit)
        }
    }

    @Test func `an idle connection goes away with its thread, and comes back`() async throws {
        let body = properties(unit)
        let bus = try StandInBus { call, peer in
            if call.member == "LoadUnit" { peer.replyPath(call, "/u") } else { peer.reply(call, "a{sv}", body) }
        }
        defer { bus.stop() }
        let thread = BusThread(address: bus.address, idleTime: .milliseconds(50))
        let control = SystemBus(thread: thread)
        _ = try await control.state(of: unit)
        while thread.isRunning { await Task.yield() }
        _ = try await control.state(of: unit)
        #expect(bus.calls.filter { $0.member == "Hello" }.count == 2)
    }
}

/// Set once, from any thread.
final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    /// True for who sets it first.
    func setOnce() -> Bool {
        value.withLock { value in
            defer { value = true }
            return !value
        }
    }
}
