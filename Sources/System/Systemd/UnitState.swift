/// What PID 1 says of a unit.
public struct UnitState: Equatable, Sendable, Codable {
    /// As `systemctl` shows it: `watchbox-camera@front.service`.
    public var name: String
    /// LoadState: "loaded", "not-found", "masked", "bad-setting", "error".
    public var load: String
    /// ActiveState: "active", "activating", "inactive", "failed", "deactivating", "reloading".
    public var active: String
    /// SubState: "running", "dead", "auto-restart", "start-pre", …
    public var sub: String
    /// Result: "success", "watchdog", "exit-code", "signal", "start-limit-hit", "oom-kill", …; "" for units that have
    /// none, such as targets.
    public var result: String
    /// The service's own text (`Notifier.status`), one line.
    public var statusText: String
    /// 0 when no process runs.
    public var mainPID: Int32
    /// NRestarts: how often systemd itself restarted it since it was last started by hand.
    public var restarts: UInt32
    /// 32 hexadecimal digits, "" when it never ran.
    public var invocationID: String
    /// Microseconds of CLOCK_MONOTONIC at which it became active; nil when it is not.
    public var activeSinceMonotonic: UInt64?
    /// Exit status, or signal, with which the main process ended last.
    public var execMainStatus: Int32
    /// UID: the user that its processes have, also one that systemd made for it; nil while it has none.
    public var userIdentifier: UInt32?

    public init(
        name: String, load: String, active: String, sub: String, result: String = "", statusText: String = "",
        mainPID: Int32 = 0, restarts: UInt32 = 0, invocationID: String = "", activeSinceMonotonic: UInt64? = nil,
        execMainStatus: Int32 = 0, userIdentifier: UInt32? = nil
    ) {
        self.name = name
        self.load = load
        self.active = active
        self.sub = sub
        self.result = result
        self.statusText = statusText
        self.mainPID = mainPID
        self.restarts = restarts
        self.invocationID = invocationID
        self.activeSinceMonotonic = activeSinceMonotonic
        self.execMainStatus = execMainStatus
        self.userIdentifier = userIdentifier
    }
}
