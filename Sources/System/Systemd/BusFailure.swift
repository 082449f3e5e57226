/// An error reply from the bus, or from PID 1 over it.
struct BusFailure: Equatable {
    /// D-Bus name, such as `org.freedesktop.DBus.Error.AccessDenied`.
    var name: String
    var text: String
    /// sd-bus' translation of the name.
    var number: Int32

    /// What it means for somebody who asked for `purpose`, about `unit`.
    func error(_ purpose: String, unit: String?) -> SystemdError {
        let systemd = "org.freedesktop.systemd1."
        if name.hasPrefix(systemd) {
            switch (name.dropFirst(systemd.count), unit) {
            case ("NoSuchUnit", let unit?): return .noSuchUnit(unit)
            case ("UnitMasked", let unit?): return .jobFailed(unit: unit, result: "masked")
            case ("LoadFailed", let unit?): return .jobFailed(unit: unit, result: "load-failed")
            case ("BadUnitSetting", let unit?): return .jobFailed(unit: unit, result: "bad-setting")
            case ("OnlyByDependency", let unit?): return .jobFailed(unit: unit, result: "only-by-dependency")
            case ("NoIsolation", let unit?), ("JobTypeNotApplicable", let unit?):
                return .jobFailed(unit: unit, result: "not-applicable")
            case ("TransactionIsDestructive", let unit?), ("TransactionJobsConflicting", let unit?),
                ("TransactionOrderIsCyclic", let unit?):
                return .jobFailed(unit: unit, result: "conflict")
            case ("ShuttingDown", _): return .unavailable("\(purpose): the machine is shutting down")
            default: break
            }
        }
        switch name {
        case "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed",
            "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
            "org.freedesktop.PolicyKit1.Error.NotAuthorized":
            return .denied(purpose)
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            "org.freedesktop.DBus.Error.NoServer", "org.freedesktop.DBus.Error.Disconnected",
            "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.LimitsExceeded":
            return .unavailable("\(purpose): \(text.oneLine(limit: 256))")
        case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut":
            return .timedOut(purpose)
        case "org.freedesktop.DBus.Error.InvalidArgs":
            return .invalid("\(purpose): \(text.oneLine(limit: 256))")
        default:
            return number > 0
                ? .system(call: "\(purpose) (\(name.oneLine(limit: 128)))", errno: number)
                : .unavailable("\(purpose): \(text.oneLine(limit: 256))")
        }
    }
}
