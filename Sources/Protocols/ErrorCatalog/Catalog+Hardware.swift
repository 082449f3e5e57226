extension ErrorCode {
    public static let underVoltage = ErrorCode(6001)
    public static let hot = ErrorCode(6002)
    public static let memoryPressure = ErrorCode(6003)
    public static let processKilledForMemory = ErrorCode(6004)
    public static let processorPressure = ErrorCode(6005)
    public static let watchdogInactive = ErrorCode(6006)
    public static let rebooted = ErrorCode(6007)
    public static let bootByWatchdog = ErrorCode(6008)
    public static let budgetSpent = ErrorCode(6009)
    public static let stuckTask = ErrorCode(6010)
    public static let watchdogSlow = ErrorCode(6011)
}

extension Catalog {
    /// 6xxx: board, power, heat, watchdog.
    static let hardware: [CatalogEntry] = [
        CatalogEntry(
            code: .underVoltage, title: "The board's supply is too weak",
            cause: "The 5 V supply or its cable drops below 4.63 V under load.",
            selfHealing: "Nothing helps but power; never reboots for it.",
            hint: "Use a better 5 V supply and a short cable", severity: .error,
            messageID: "445dd788d3f534ce03ece37f5a3a460b"),
        CatalogEntry(
            code: .hot, title: "The board is hot",
            cause: "Sun, a closed case, or a dead fan.",
            selfHealing: "Asks for fewer frames before the firmware slows the clock.",
            hint: "Give it air or shade: watchboxctl health show heat", severity: .warning,
            messageID: "0c2e13c68c974d986efde2a3b9851ae7"),
        CatalogEntry(
            code: .memoryPressure, title: "Memory is short",
            cause: "Too many cameras or too large frames for this board.",
            selfHealing: "Sheds what is not publishing first.",
            hint: "Remove a camera or lower its size: watchboxctl stream top", severity: .warning,
            messageID: "fc32a66c628986b8bde9aecb089ea5ae"),
        CatalogEntry(
            code: .processKilledForMemory, title: "A process was ended because memory ran out",
            cause: "It used more than its unit may have.",
            selfHealing: "systemd started it again.",
            hint: "Run: watchboxctl health events; lower the size of that camera", severity: .error,
            messageID: "fe2ee3caab83304dcdf7783e5a6bdd6e"),
        CatalogEntry(
            code: .processorPressure, title: "The processor cannot keep up",
            cause: "More encoding than the board can do.",
            selfHealing: "Drops whole frames before encryption, evenly.",
            hint: "Lower size or rate of a camera: watchboxctl stream top", severity: .warning,
            messageID: "fa76bf2522e74e20b6f69c31cd048b61"),
        CatalogEntry(
            code: .watchdogInactive, title: "The hardware watchdog is not active",
            cause: "The driver is missing, or RuntimeWatchdogSec is larger than the hardware can count.",
            selfHealing: "None: this box cannot recover from a hang of its kernel.",
            hint: "Set dtparam=watchdog=on and RuntimeWatchdogSec=14s, then reboot", severity: .error,
            messageID: "d949834d4f374d9343943d1bf3520a27"),
        CatalogEntry(
            code: .rebooted, title: "The box rebooted itself",
            cause: "A local fault was left after every smaller step of the ladder.",
            selfHealing: "Rebooted; the budget is three in 24 h with growing pauses.",
            hint: "Read why: watchboxctl health events", severity: .warning,
            messageID: "db4e8181d304f000f6d46906e66f9d8b"),
        CatalogEntry(
            code: .bootByWatchdog, title: "The last boot was forced by the hardware watchdog",
            cause: "The kernel or PID 1 hung.",
            selfHealing: "Started again.",
            hint: "Nothing to do once; if it repeats, replace supply and card", severity: .warning,
            messageID: "b55817e78a6ec015bac4e778c76c48c5"),
        CatalogEntry(
            code: .budgetSpent, title: "A recovery step is used up for now",
            cause: "The same fault came back too often.",
            selfHealing: "Waits for its budget, and reports it here instead of flapping silently.",
            hint: "Find the cause: watchboxctl health events", severity: .error,
            messageID: "c2029f7c3ddb565ad52f1ac6bdf94355"),
        CatalogEntry(
            code: .stuckTask, title: "A process hangs in the kernel",
            cause: "A driver waits for hardware that does not answer (state D).",
            selfHealing: "Reboots when the budget allows it.",
            hint: "Unplug the USB camera that the message names", severity: .critical,
            messageID: "2fd52cd3f76a7619d86f65742197c787"),
        CatalogEntry(
            code: .watchdogSlow, title: "The hardware watchdog waits longer than it should",
            cause: "A setting of the distribution or of the operator stands behind the image's own.",
            selfHealing: "None: a hang of the kernel is ended later, or on some boards not at all.",
            hint: "See which setting wins: systemd-analyze cat-config systemd/system.conf", severity: .warning,
            messageID: "a3a000d11d814e22b12278c25c936488"),
    ]
}
