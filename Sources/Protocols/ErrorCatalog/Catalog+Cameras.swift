extension ErrorCode {
    public static let noFrames = ErrorCode(2001)
    public static let frozenPicture = ErrorCode(2002)
    public static let startLimit = ErrorCode(2003)
    public static let watchdogAbort = ErrorCode(2004)
    public static let sourceUnreadable = ErrorCode(2005)
    public static let cameraStopped = ErrorCode(2006)
    public static let cameraUnreachable = ErrorCode(2101)
    public static let cameraTimeout = ErrorCode(2102)
    public static let notRTSP = ErrorCode(2103)
    public static let loginNeeded = ErrorCode(2104)
    public static let loginUnsupported = ErrorCode(2105)
    public static let accessForbidden = ErrorCode(2106)
    public static let loginRefused = ErrorCode(2107)
    public static let noSuchStream = ErrorCode(2108)
    public static let cameraBusy = ErrorCode(2109)
    public static let transportRefused = ErrorCode(2110)
    public static let unsupportedCodec = ErrorCode(2111)
    public static let noKeyFrame = ErrorCode(2112)
    public static let streamFrozen = ErrorCode(2113)
    public static let streamRedirected = ErrorCode(2114)
    public static let certificateChanged = ErrorCode(2115)
    public static let cameraProtocol = ErrorCode(2116)
    public static let identityNotProven = ErrorCode(2117)
    public static let cameraRefuses = ErrorCode(2118)
    public static let cameraCertificate = ErrorCode(2119)
    public static let discoveryRunning = ErrorCode(2120)
    public static let scanTooLarge = ErrorCode(2121)
    public static let deviceMissing = ErrorCode(2201)
    public static let deviceNotPermitted = ErrorCode(2202)
    public static let deviceUnusable = ErrorCode(2203)
    public static let formatRefused = ErrorCode(2204)
    public static let deviceFaults = ErrorCode(2205)
    public static let badFrames = ErrorCode(2206)
    public static let csiUnavailable = ErrorCode(2207)
    public static let encoderHung = ErrorCode(2301)
    public static let hardwareEncoderOff = ErrorCode(2302)
    public static let noEncoder = ErrorCode(2303)
    public static let encoderLimited = ErrorCode(2304)
    public static let audioMissing = ErrorCode(2401)
}

extension Catalog {
    /// 2xxx: cameras and their sources.
    static let cameras: [CatalogEntry] = [
        CatalogEntry(
            code: .noFrames, title: "A camera delivers no frames",
            cause: "The source has ended, hangs, or delivers nothing that can be published.",
            selfHealing: "Opens the source again after 1, 2 and 4 s, then restarts the camera's process.",
            hint: "Run: watchboxctl camera show ID; watchboxctl logs ID", severity: .error,
            messageID: "9ffb74e8d88e0e927f7ff16909dea770"),
        CatalogEntry(
            code: .frozenPicture, title: "A camera's image is frozen",
            cause:
                "The camera sends frames, but for 30 s they are all the same, key frames too: sensor, cable or encoder hang, or nothing moves.",
            selfHealing:
                "Restarts the camera's process once; what stands still then is taken for a scene until the image changes.",
            hint: "Look at the image; switch the camera off and on if it should move", severity: .warning,
            messageID: "a44231961c406d98ccd509316fa34037"),
        CatalogEntry(
            code: .startLimit, title: "A camera was restarted too often",
            cause: "The camera's process ended 8 times within 10 minutes.",
            selfHealing: "Leaves it stopped for the cool-down, then tries again; resets a USB camera before.",
            hint: "Run: watchboxctl logs ID --level warning; watchboxctl stream restart ID", severity: .error,
            messageID: "97d561fb1c930eb9a790c7cb0c3a3c48"),
        CatalogEntry(
            code: .watchdogAbort, title: "A camera hung and was restarted",
            cause: "The frame path made no progress for longer than its watchdog allows: a driver or an encoder hangs.",
            selfHealing: "systemd ended the process and started it again.",
            hint: "Nothing to do once; if it repeats: watchboxctl health events", severity: .warning,
            messageID: "f5434819ba8bef839f922e66046cbadf"),
        CatalogEntry(
            code: .sourceUnreadable, title: "A camera's source cannot be opened",
            cause: "The file or the device is missing, or this camera may not read it.",
            selfHealing: "Tries again.",
            hint: "Check the source: watchboxctl camera show ID", severity: .error,
            messageID: "a9dda161513ea5d87be473c18cb9c38b"),
        CatalogEntry(
            code: .cameraStopped, title: "A camera does not run though it should",
            cause: "Somebody stopped its unit, or its settings were refused.",
            selfHealing: "Starts it again with the next health check.",
            hint: "Run: watchboxctl stream start ID", severity: .error,
            messageID: "bc3acb65862316574debf8b190af4c54"),
        CatalogEntry(
            code: .cameraUnreachable, title: "A network camera cannot be reached",
            cause:
                "Nothing answers at its address: switched off, another address, another network, or the port is wrong.",
            selfHealing:
                "Tries again after 1 s, then less often up to once a minute; at once when the camera announces itself.",
            hint: "Check power and cable of the camera; see what is there: watchboxctl discover", severity: .error,
            messageID: "4bceb98cf60043e3a363611600697e59"),
        CatalogEntry(
            code: .cameraTimeout, title: "A network camera does not answer in time",
            cause:
                "The connection stands, but an answer is missing: the camera is overloaded, hangs, or the network loses packets.",
            selfHealing: "Connects again after 1 s, then less often up to once a minute.",
            hint: "Switch the camera off and on if it stays so; run: watchboxctl camera test ID", severity: .error,
            messageID: "062717bdf891425d930071d48453b648"),
        CatalogEntry(
            code: .notRTSP, title: "What answers there is not a camera's stream",
            cause: "The port is open, but its answer is not RTSP; or it is HTTP with a web page in place of video.",
            selfHealing: "Tries again, less and less often.",
            hint: "Check address, port and path; RTSP is usually at 554: watchboxctl discover", severity: .error,
            messageID: "e561e05995c54113af1f768bdccf8bcd"),
        CatalogEntry(
            code: .loginNeeded, title: "The camera asks for a user and a password",
            cause: "None is stored for it.",
            selfHealing: "Tries again every 15 minutes.",
            hint: "Run: watchboxctl camera edit ID --user NAME, then: watchboxctl camera password ID", severity: .error,
            messageID: "c62dbc842e284989a5397f6bd65952f4"),
        CatalogEntry(
            code: .loginUnsupported, title: "The camera offers no login that may be used",
            cause:
                "It offers only Basic without TLS, which shows the password to everybody on the network, or a scheme that is not known.",
            selfHealing: "Tries again every 15 minutes; the password was not sent.",
            hint:
                "Switch Digest on in the camera; or, on a network that you trust: watchboxctl camera edit ID --allow-basic",
            severity: .error,
            messageID: "813fe879cfa54daaa94ea440e4fff032"),
        CatalogEntry(
            code: .accessForbidden, title: "The camera forbids this user the stream",
            cause: "User and password are right, but the account has no right to the stream.",
            selfHealing: "Tries again every 15 minutes; a camera that was away is given 90 s to start up.",
            hint: "Give the user the right to view in the camera's own settings", severity: .error,
            messageID: "e21ac3f69f164fbfad05e90037876557"),
        CatalogEntry(
            code: .loginRefused, title: "The camera refuses user or password",
            cause: "The password is wrong, the account is locked, or the clock of the camera is off.",
            selfHealing:
                "Tries twice, and once more with a camera that was just away; then every 15 minutes, because accounts lock, or at once with a new one. A try shows the password up to three times where the clock or the nonce is in doubt, and that one more once.",
            hint: "Run: watchboxctl camera password ID", severity: .error,
            messageID: "f7ff870061c59b0bc2d3c92b12758a75"),
        CatalogEntry(
            code: .noSuchStream, title: "The camera has no stream of this name",
            cause: "The path of the address is not one of this camera's.",
            selfHealing: "Tries again, less and less often.",
            hint: "See its streams: watchboxctl camera probe ADDRESS; or look into its manual", severity: .error,
            messageID: "14e17544ac924421bf23248340f0a412"),
        CatalogEntry(
            code: .cameraBusy, title: "The camera serves as many viewers as it can",
            cause: "Others hold its streams, or a stream of before has not ended yet (453 or 503).",
            selfHealing: "Waits 30 s, or as long as the camera asks, and tries again.",
            hint: "End other viewers of this camera, or use another profile of it", severity: .warning,
            messageID: "dacebf6cf8e941d799be9340800b7f64"),
        CatalogEntry(
            code: .transportRefused, title: "The camera does not offer this transport",
            cause: "It cannot send its stream over TCP, UDP or multicast as the settings ask.",
            selfHealing: "Tries again, less and less often.",
            hint: "Choose another: watchboxctl camera edit ID --transport tcp", severity: .error,
            messageID: "3202e19952004b099fd5ca7634aac221"),
        CatalogEntry(
            code: .unsupportedCodec, title: "The camera's video has a codec that cannot be published",
            cause: "It offers none of H.264, H.265 and MJPEG, or only as SRTP.",
            selfHealing:
                "Tries again every 15 minutes, or each minute where SRTP is all that it lacks; a camera that was away is given 90 s to start up.",
            hint: "Choose H.264 or H.265 in the camera's own settings", severity: .error,
            messageID: "cdc4d1d6ad7b4c8f9d579028ef3526db"),
        CatalogEntry(
            code: .noKeyFrame, title: "No frame that a viewer can begin with came from the camera",
            cause:
                "The stream runs, but no key frame came in time: its key frame distance is too long, or it sends no video.",
            selfHealing:
                "Waits for one as long as frames come: at the start for a minute; later for twice the key frame distance that it saw, 10 s to a minute. Then connects again.",
            hint: "Set the key frame distance (GOP) in the camera to 1 or 2 seconds", severity: .error,
            messageID: "b2ac0fbf4f524062998bc27cc80b6d82"),
        CatalogEntry(
            code: .streamFrozen, title: "A network camera's stream stopped though its connection is open",
            cause: "The camera's own encoder hangs, or the network in between drops everything.",
            selfHealing: "Connects again within 8 s, then less and less often.",
            hint: "Nothing to do once; if it repeats, restart the camera and look for new firmware", severity: .warning,
            messageID: "767f4cf586cc442bab8386976cbd0951"),
        CatalogEntry(
            code: .streamRedirected, title: "The camera sends its viewers to another address",
            cause: "It answered with a redirect to another host, which is not followed.",
            selfHealing: "Tries again, less and less often.",
            hint: "Add the camera under the address that the message names", severity: .error,
            messageID: "353fe1c58f604aa68b951c5684adec1f"),
        CatalogEntry(
            code: .certificateChanged, title: "The camera shows another certificate than before",
            cause: "It was reset, replaced or updated, or somebody is between the box and the camera.",
            selfHealing: "Sends no password and takes no frame until somebody decides.",
            hint: "If you know why, run: watchboxctl camera edit ID --accept-certificate", severity: .error,
            messageID: "690d8997fbcf4cf093698ef2b69b3433"),
        CatalogEntry(
            code: .cameraProtocol, title: "The camera's answers do not follow the protocol",
            cause: "RTSP, RTP, HTTP or ONVIF of this camera are broken in a way that could not be worked around.",
            selfHealing: "Connects again, less and less often.",
            hint: "Update the camera's firmware; run: watchboxctl camera test ID", severity: .error,
            messageID: "7714090920e2405e8c3bccb236c69860"),
        CatalogEntry(
            code: .identityNotProven, title: "A device claims to be a camera of this box and does not prove it",
            cause:
                "Another device answers at the camera's address, or one at another address is like the camera, and did not show a key of the camera's that was known before.",
            selfHealing:
                "Stays with the address that is known, and sends no login to the other one. Goes there by itself once the camera's known key is shown there.",
            hint:
                "If you have put another device in its place, run: watchboxctl camera edit ID --accept-device; if the camera was moved, run: watchboxctl camera edit ID --accept-move ADDRESS, with the address that the status shows; else look for the device at that address",
            severity: .warning,
            messageID: "da4f116a51e84d0b8f6d3ba4640e29c0"),
        CatalogEntry(
            code: .cameraRefuses, title: "The camera refuses what was asked of it",
            cause: "It does not know the command, or the values are out of its range.",
            selfHealing: "Goes on as before.",
            hint: "See what it can: watchboxctl camera probe ADDRESS", severity: .warning,
            messageID: "8664c15f5eea4c6da0909da40cdf66c8"),
        CatalogEntry(
            code: .cameraCertificate, title: "No encrypted connection to the camera",
            cause: "Its TLS is too old, or its certificate is not well formed.",
            selfHealing: "Tries again, less and less often.",
            hint: "Update the camera's firmware, or use rtsp:// and http on a network that you trust", severity: .error,
            messageID: "a82c35ed9ee349078869f0c017e59c4f"),
        CatalogEntry(
            code: .discoveryRunning, title: "A search for cameras is running already",
            cause: "Somebody else, or another window, has started one.",
            selfHealing: "Ends by itself.",
            hint: "Wait for it, or end it: watchboxctl discover --cancel", severity: .warning,
            messageID: "cf5497bc53e54bd68413ee25055ac992"),
        CatalogEntry(
            code: .scanTooLarge, title: "The network to search is too large",
            cause: "A scan asks every address; more than 4096 (a /20) need a yes, and more than 65536 are refused.",
            selfHealing: "Nothing was asked.",
            hint: "Name a smaller network such as 192.168.1.0/24, or add --yes", severity: .error,
            messageID: "9760f213b02941d9aafcc8a7abe10c17"),
        CatalogEntry(
            code: .deviceMissing, title: "A camera is not connected",
            cause:
                "The device is not there: unplugged, without power, not found yet after a start, or its path is wrong.",
            selfHealing: "Waits for it and goes on as soon as it is back, under whatever number it comes.",
            hint: "Check plug and cable, then see what is there: watchboxctl discover", severity: .error,
            messageID: "68f8b2020e1f453cb1b421beaf9286e8"),
        CatalogEntry(
            code: .deviceNotPermitted, title: "A camera's device may not be opened",
            cause:
                "The device does not belong to the group video, or the camera's unit may not use it; early after a start that passes.",
            selfHealing:
                "Tries again until it may; starts the camera's process again once, where only its unit's device rules are in the way.",
            hint: "If it stays so, run: ls -l /dev/video*; watchboxctl doctor", severity: .error,
            messageID: "3fb36f5bfb4a43319152cfad3349f078"),
        CatalogEntry(
            code: .deviceUnusable, title: "The device is not a camera that WatchBox can use",
            cause:
                "It is an encoder, a decoder, an image processor, a metadata node, or a sensor that gives raw Bayer data only.",
            selfHealing: "Nothing is published from it; waits in case the path names another device later.",
            hint: "Find the camera's own node: watchboxctl discover", severity: .error,
            messageID: "a69462c6b223407b81bd2eb1b738c805"),
        CatalogEntry(
            code: .formatRefused, title: "The camera refuses size, rate or pixel format",
            cause: "The settings ask for what this camera does not have, or for more than its bus carries.",
            selfHealing: "Tries again; nothing is published in a form that was not asked for.",
            hint: "See what it offers: watchboxctl discover; then: watchboxctl camera edit ID", severity: .error,
            messageID: "9296da7f3c8b4be1bb7bbf106300ad10"),
        CatalogEntry(
            code: .deviceFaults, title: "A camera's stream breaks off again and again",
            cause:
                "The driver reports errors or stops: a bad cable, too little power, or too many cameras at one USB port.",
            selfHealing: "Starts the stream again, then opens the device again, then restarts the camera's process.",
            hint: "Use a short cable and a powered hub; run: watchboxctl logs ID --level warning", severity: .error,
            messageID: "ecae9b3dec804bffb6f6614bc6e98898"),
        CatalogEntry(
            code: .badFrames, title: "A camera delivers frames that cannot be decoded",
            cause: "Its MJPEG is damaged: a bad cable, too little power, or faulty firmware of the camera.",
            selfHealing: "Leaves damaged frames out and goes on with the next whole one.",
            hint: "Try another cable or port, or pixel_format yuyv: watchboxctl camera edit ID", severity: .warning,
            messageID: "762a7a36bdf04613b3a05a6765c386b1"),
        CatalogEntry(
            code: .csiUnavailable, title: "What speaks to a camera at the ribbon cable is missing",
            cause:
                "CSI cameras go through libcamera, and the package watchbox-libcamera is not installed, or is of another version than WatchBox.",
            selfHealing: "Waits for it, and goes on as soon as it is there.",
            hint:
                "Install the package of this version, made for this release: sudo apt install ./watchbox-libcamera_*.deb",
            severity: .error, messageID: "b1f0a6c25e9b4d3f8e7a40d2c9165b83"),
        CatalogEntry(
            code: .encoderHung, title: "The hardware encoder hung",
            cause: "It took a frame and did not come back within 1 s: a fault of its driver or its firmware.",
            selfHealing:
                "Gives up the camera's process, which systemd starts again; software takes over if it repeats.",
            hint: "Nothing to do once; if it repeats: watchboxctl camera encoders", severity: .warning,
            messageID: "f9a64d27405c42fab4b0714e771f9a0f"),
        CatalogEntry(
            code: .hardwareEncoderOff, title: "A camera is encoded in software after faults of the hardware",
            cause: "The hardware encoder reported an error, or hung 3 times within 10 minutes.",
            selfHealing:
                "Encodes in software for 10 minutes (after hangs, and errors that repeat, up to an hour), then tries the hardware again.",
            hint: "Update kernel and firmware, or set encoder libx264: watchboxctl camera edit ID", severity: .warning,
            messageID: "50e9e28d42b847b7860271bbe495afda"),
        CatalogEntry(
            code: .noEncoder, title: "No encoder can be used",
            cause:
                "The encoder that the settings name is not there or does not work, or no software encoder is installed.",
            selfHealing: "Tries again; nothing is published meanwhile.",
            hint: "See which ones work: watchboxctl camera encoders; or set encoder auto", severity: .error,
            messageID: "a3a10174c4d0415bb4f44e64fd30babd"),
        CatalogEntry(
            code: .encoderLimited, title: "A camera is published smaller or slower than its settings ask",
            cause: "The processor cannot encode that size at that rate in software.",
            selfHealing:
                "Publishes the largest size and rate that it holds; looks after 1, 5 and 30 minutes whether it holds more.",
            hint: "Lower size or rate of the camera: watchboxctl camera edit ID", severity: .warning,
            messageID: "f524e92a0ade4b7cbe661860760730dd"),
        CatalogEntry(
            code: .audioMissing, title: "A camera has no audio though it should",
            cause: "The microphone is unplugged, used by another program, or its name is wrong.",
            selfHealing: "Publishes video without audio and tries the microphone again.",
            hint: "See which ones there are: watchboxctl discover; then: watchboxctl camera edit ID",
            severity: .warning,
            messageID: "d1c8eada255c4d1abb88739097dcb7c9"),
    ]
}
