extension ErrorCode {
    public static let noFrames = ErrorCode(2001)
    public static let frozenPicture = ErrorCode(2002)
    public static let startLimit = ErrorCode(2003)
    public static let watchdogAbort = ErrorCode(2004)
    public static let sourceUnreadable = ErrorCode(2005)
    public static let cameraStopped = ErrorCode(2006)
    public static let loginRefused = ErrorCode(2107)
    public static let deviceMissing = ErrorCode(2201)
    public static let deviceNotPermitted = ErrorCode(2202)
    public static let deviceUnusable = ErrorCode(2203)
    public static let formatRefused = ErrorCode(2204)
    public static let deviceFaults = ErrorCode(2205)
    public static let badPictures = ErrorCode(2206)
    public static let encoderHung = ErrorCode(2301)
    public static let hardwareEncoderOff = ErrorCode(2302)
    public static let noEncoder = ErrorCode(2303)
    public static let encoderLimited = ErrorCode(2304)
    public static let soundMissing = ErrorCode(2401)
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
        CatalogEntry(
            code: .deviceMissing, title: "A camera is not connected",
            cause:
                "The device is not there: unplugged, without power, not found yet after a start, or its path is wrong.",
            selfHealing: "Waits for it and goes on as soon as it is back, under whatever number it comes.",
            next: "Check plug and cable, then see what is there: watchboxctl discover", severity: .error,
            messageID: "68f8b2020e1f453cb1b421beaf9286e8"),
        CatalogEntry(
            code: .deviceNotPermitted, title: "A camera's device may not be opened",
            cause:
                "The device does not belong to the group video, or the camera's unit may not use it; early after a start that passes.",
            selfHealing: "Tries again until it may.",
            next: "If it stays so, run: ls -l /dev/video*; watchboxctl doctor", severity: .error,
            messageID: "3fb36f5bfb4a43319152cfad3349f078"),
        CatalogEntry(
            code: .deviceUnusable, title: "The device is not a camera that WatchBox can use",
            cause:
                "It is an encoder, a decoder, an image processor, a metadata node, or a sensor that gives raw Bayer data only.",
            selfHealing: "Nothing is published from it; waits in case the path names another device later.",
            next: "Find the camera's own node: watchboxctl discover", severity: .error,
            messageID: "a69462c6b223407b81bd2eb1b738c805"),
        CatalogEntry(
            code: .formatRefused, title: "The camera refuses size, rate or pixel format",
            cause: "The settings ask for what this camera does not have, or for more than its bus carries.",
            selfHealing: "Tries again; nothing is published in a form that nobody asked for.",
            next: "See what it offers: watchboxctl discover; then: watchboxctl camera edit ID", severity: .error,
            messageID: "9296da7f3c8b4be1bb7bbf106300ad10"),
        CatalogEntry(
            code: .deviceFaults, title: "A camera's stream breaks off again and again",
            cause:
                "The driver reports errors or stops: a bad cable, too little power, or too many cameras at one USB port.",
            selfHealing: "Starts the stream again, then opens the device again, then restarts the camera's process.",
            next: "Use a short cable and a powered hub; run: watchboxctl logs ID --level warning", severity: .error,
            messageID: "ecae9b3dec804bffb6f6614bc6e98898"),
        CatalogEntry(
            code: .badPictures, title: "A camera delivers pictures that cannot be decoded",
            cause: "Its MJPEG is damaged: a bad cable, too little power, or faulty firmware of the camera.",
            selfHealing: "Leaves damaged pictures out and goes on with the next whole one.",
            next: "Try another cable or port, or pixel_format yuyv: watchboxctl camera edit ID", severity: .warning,
            messageID: "762a7a36bdf04613b3a05a6765c386b1"),
        CatalogEntry(
            code: .encoderHung, title: "The hardware encoder hung",
            cause: "It took a picture and did not come back within 1 s: a fault of its driver or its firmware.",
            selfHealing: "Gives up the camera's process, which systemd starts anew; software takes over if it repeats.",
            next: "Nothing to do once; if it repeats: watchboxctl camera encoders", severity: .warning,
            messageID: "f9a64d27405c42fab4b0714e771f9a0f"),
        CatalogEntry(
            code: .hardwareEncoderOff, title: "A camera is encoded in software after hangs of the hardware",
            cause: "The hardware encoder hung 3 times within 10 minutes.",
            selfHealing: "Encodes in software for an hour or until the next boot, then tries the hardware again.",
            next: "Update kernel and firmware, or set encoder libx264: watchboxctl camera edit ID", severity: .warning,
            messageID: "50e9e28d42b847b7860271bbe495afda"),
        CatalogEntry(
            code: .noEncoder, title: "No encoder can be used",
            cause:
                "The encoder that the settings name is not there or does not work, or no software encoder is installed.",
            selfHealing: "Tries again; nothing is published meanwhile.",
            next: "See which ones work: watchboxctl camera encoders; or set encoder auto", severity: .error,
            messageID: "a3a10174c4d0415bb4f44e64fd30babd"),
        CatalogEntry(
            code: .encoderLimited, title: "A camera is published smaller or slower than its settings ask",
            cause: "The processor cannot encode that size at that rate in software.",
            selfHealing: "Publishes the largest size and rate that it holds, as measured at the start.",
            next: "Lower size or rate of the camera: watchboxctl camera edit ID", severity: .warning,
            messageID: "f524e92a0ade4b7cbe661860760730dd"),
        CatalogEntry(
            code: .soundMissing, title: "A camera has no sound though it should",
            cause: "The microphone is unplugged, used by another program, or its name is wrong.",
            selfHealing: "Publishes the picture without sound and tries the microphone again.",
            next: "See which ones there are: watchboxctl discover; then: watchboxctl camera edit ID",
            severity: .warning,
            messageID: "d1c8eada255c4d1abb88739097dcb7c9"),
    ]
}
