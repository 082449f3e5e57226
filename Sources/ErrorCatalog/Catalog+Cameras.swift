extension ErrorCode {
    public static let noFrames = ErrorCode(2001)
    public static let frozenPicture = ErrorCode(2002)
    public static let startLimit = ErrorCode(2003)
    public static let watchdogAbort = ErrorCode(2004)
    public static let sourceUnreadable = ErrorCode(2005)
    public static let cameraStopped = ErrorCode(2006)
    public static let loginRefused = ErrorCode(2107)
}

extension Catalog {
    /// 2xxx: cameras and their sources.
    static let cameras: [CatalogEntry] = [
        CatalogEntry(
            code: .noFrames, title: "A camera delivers no frames",
            cause: "The source has ended, hangs, or delivers nothing that can be published.",
            selfHealing: "Opens the source again after 1, 2 and 4 s, then restarts the camera's process.",
            next: "Run: watchboxctl camera show ID; watchboxctl logs ID", severity: .error,
            messageID: "9ffb74e8d88e0e927f7ff16909dea770"),
        CatalogEntry(
            code: .frozenPicture, title: "A camera's picture is frozen",
            cause: "The camera sends frames, but for 30 s they are all the same: sensor, cable or encoder hang.",
            selfHealing: "Restarts the camera's process; resets a USB camera after that.",
            next: "Look at the camera; switch it off and on if it stays so", severity: .error,
            messageID: "a44231961c406d98ccd509316fa34037"),
        CatalogEntry(
            code: .startLimit, title: "A camera was restarted too often",
            cause: "The camera's process ended 8 times within 10 minutes.",
            selfHealing: "Leaves it stopped for the cool-down, then tries again; resets a USB camera before.",
            next: "Run: watchboxctl logs ID --level warning; watchboxctl stream restart ID", severity: .error,
            messageID: "97d561fb1c930eb9a790c7cb0c3a3c48"),
        CatalogEntry(
            code: .watchdogAbort, title: "A camera hung and was restarted",
            cause: "The frame path made no progress for longer than its watchdog allows: a driver or an encoder hangs.",
            selfHealing: "systemd ended the process and started it anew.",
            next: "Nothing to do once; if it repeats: watchboxctl health events", severity: .warning,
            messageID: "f5434819ba8bef839f922e66046cbadf"),
        CatalogEntry(
            code: .sourceUnreadable, title: "A camera's source cannot be opened",
            cause: "The file or the device is missing, or this camera may not read it.",
            selfHealing: "Tries again.",
            next: "Check the source: watchboxctl camera show ID", severity: .error,
            messageID: "a9dda161513ea5d87be473c18cb9c38b"),
        CatalogEntry(
            code: .cameraStopped, title: "A camera does not run though it should",
            cause: "Somebody stopped its unit, or its settings were refused.",
            selfHealing: "Starts it again with the next health check.",
            next: "Run: watchboxctl stream start ID", severity: .error,
            messageID: "bc3acb65862316574debf8b190af4c54"),
        CatalogEntry(
            code: .loginRefused, title: "The camera refuses user or password",
            cause: "The password is wrong, the account is locked, or the clock of the camera is off.",
            selfHealing: "Tries again every 60 s at most, because accounts lock.",
            next: "Run: watchboxctl camera password ID", severity: .error,
            messageID: "f7ff870061c59b0bc2d3c92b12758a75"),
    ]
}
