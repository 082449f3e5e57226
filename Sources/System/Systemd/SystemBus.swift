internal import Glibc
internal import Platform

/// PID 1 over the system bus. The connection has a thread of its own, is made by the first call, made again when it was
/// lost, and let go after half a minute without a call. There is no prompt for a password: what polkit does not allow at
/// once is `.denied`. All calls have deadlines; a cancelled task's call ends at once with `.unavailable`.
public final class SystemBus: UnitControl, ClockControl, Sendable {
    private let thread: BusThread
    private let jobDeadline: Duration
    private let callDeadline: Duration

    /// Connects at the first call: to `$DBUS_SYSTEM_BUS_ADDRESS`, usually to `/run/dbus/system_bus_socket`.
    public convenience init() {
        let address = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
        self.init(address: address ?? "unix:path=/run/dbus/system_bus_socket")
    }

    /// - Parameters:
    ///   - jobDeadline: for start, stop and restart.
    ///   - callDeadline: for everything else.
    convenience init(
        address: String, jobDeadline: Duration = .seconds(90), callDeadline: Duration = .seconds(15)
    ) {
        self.init(
            thread: BusThread(address: address, idleTime: .seconds(30)), jobDeadline: jobDeadline,
            callDeadline: callDeadline)
    }

    init(thread: BusThread, jobDeadline: Duration = .seconds(90), callDeadline: Duration = .seconds(15)) {
        self.thread = thread
        self.jobDeadline = jobDeadline
        self.callDeadline = callDeadline
    }

    deinit { thread.stop() }

    /// Ends the connection and its thread. Calls under way, and later ones, throw `.unavailable`.
    public func close() {
        thread.stop()
    }

    public func start(_ unit: String) async throws(SystemdError) {
        try await perform(.job(.start, try checked(unit)), jobDeadline)
    }

    public func startIrreversibly(_ unit: String) async throws(SystemdError) {
        try await perform(.job(.startIrreversibly, try checked(unit)), jobDeadline)
    }

    public func stop(_ unit: String) async throws(SystemdError) {
        try await perform(.job(.stop, try checked(unit)), jobDeadline)
    }

    public func restart(_ unit: String) async throws(SystemdError) {
        try await perform(.job(.restart, try checked(unit)), jobDeadline)
    }

    public func resetFailed(_ unit: String) async throws(SystemdError) {
        try await perform(.resetFailed(try checked(unit)), callDeadline)
    }

    public func state(of unit: String) async throws(SystemdError) -> UnitState {
        guard case .state(let state) = try await perform(.state(try checked(unit)), callDeadline) else {
            throw .invalid("state of \(unit): the answer belongs to another request")
        }
        return state
    }

    public func units(matching pattern: String) async throws(SystemdError) -> [UnitState] {
        guard UnitName.isValidPattern(pattern) else { throw .invalid("unit pattern \"\(pattern.oneLine(limit: 64))\"") }
        guard case .states(let states) = try await perform(.units(pattern), callDeadline) else {
            throw .invalid("list of units: the answer belongs to another request")
        }
        return states
    }

    public func isClockSynchronised() async throws(SystemdError) -> Bool {
        guard case .flag(let isSynchronised) = try await perform(.isClockSynchronised, callDeadline) else {
            throw .invalid("state of the clock: the answer belongs to another request")
        }
        return isSynchronised
    }

    private func checked(_ unit: String) throws(SystemdError) -> String {
        guard UnitName.isValid(unit) else { throw .invalid("unit name \"\(unit.oneLine(limit: 64))\"") }
        return unit
    }

    @discardableResult
    private func perform(
        _ call: UnitDialogue.Call, _ deadline: Duration
    ) async throws(SystemdError) -> UnitDialogue.Answer {
        let operation = BusOperation(id: thread.nextID(), call: call, deadline: .now + deadline)
        return try await operation.answer.value {
            thread.submit(operation)
        } onCancel: {
            thread.cancel(operation)
        }.get()
    }
}
