/// Starting, stopping and looking at units. `SystemBus` is the real one; a protocol, so that services are tested with a
/// stand-in.
///
/// All calls throw `.unavailable` without a bus, `.denied` when polkit refuses, `.invalid` for a name that cannot be a
/// unit's, `.timedOut` at their deadline.
public protocol UnitControl: Sendable {
    /// Returns when the job has ended, 90 s at most; so for `Type=notify` when the service said that it is ready. Forgets
    /// before how often the unit was started, as `restart` does: what is asked for never uses up a unit's start limit.
    func start(_ unit: String) async throws(SystemdError)
    /// As `start`; no later job, of whomever, takes the place of this one.
    func startIrreversibly(_ unit: String) async throws(SystemdError)
    /// Returns when the job has ended, 90 s at most.
    func stop(_ unit: String) async throws(SystemdError)
    /// Returns when the job has ended, 90 s at most. Starts the unit if it was not running.
    func restart(_ unit: String) async throws(SystemdError)
    /// Forgets a failure, and the count of starts that led to it. A unit that PID 1 has not loaded has neither.
    func resetFailed(_ unit: String) async throws(SystemdError)
    /// A unit that does not exist has `load == "not-found"`.
    func state(of unit: String) async throws(SystemdError) -> UnitState
    /// Units that PID 1 has loaded, sorted by name, at most 256. Pattern: as for the shell, `watchbox-*`.
    func units(matching pattern: String) async throws(SystemdError) -> [UnitState]
}

/// Asks what keeps the clock. `SystemBus` is the real one.
public protocol ClockControl: Sendable {
    /// Whether the clock follows a time server, whichever program does it: systemd-timedated asks the kernel, which this
    /// process may be forbidden to do.
    ///
    /// - Throws: `.unavailable` without a bus or without systemd-timedated.
    func isClockSynchronised() async throws(SystemdError) -> Bool
}
