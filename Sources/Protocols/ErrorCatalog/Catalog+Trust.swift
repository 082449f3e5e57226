extension ErrorCode {
    public static let clockUnset = ErrorCode(4101)
    public static let clockUnsynchronised = ErrorCode(4102)
    public static let clockStepped = ErrorCode(4103)
    public static let certificateExpires = ErrorCode(4201)
    public static let certificateRefused = ErrorCode(4202)
    public static let keyAccessUnreachable = ErrorCode(4301)
    public static let keyAccessRefused = ErrorCode(4302)
    public static let noKey = ErrorCode(4303)
    public static let headerUnregistered = ErrorCode(4304)
    public static let ivNearlyUsed = ErrorCode(4305)
    public static let tokenEndsSoon = ErrorCode(4306)
    public static let tokenEnded = ErrorCode(4307)
}

extension Catalog {
    /// 4xxx: clock, certificates, keys.
    static let trust: [CatalogEntry] = [
        CatalogEntry(
            code: .clockUnset, title: "The clock is not set",
            cause: "A board without a battery clock begins at a wrong date until it hears from a time server.",
            selfHealing:
                "Captures and encrypts on monotonic time; waits for the time server where certificates must be checked.",
            hint: "Check the network time: timedatectl timesync-status", severity: .warning,
            messageID: "4c8adb958af607e77585db70bfdeea79"),
        CatalogEntry(
            code: .clockUnsynchronised, title: "The clock has not heard from a time server",
            cause: "No time server answers, or none is configured.",
            selfHealing: "Goes on with the clock as it is.",
            hint: "Check the network time: timedatectl timesync-status", severity: .warning,
            messageID: "6f0a423d6341c67082106800747fd66a"),
        CatalogEntry(
            code: .clockStepped, title: "The clock was set by more than 2 seconds",
            cause: "The first answer of a time server after boot, or somebody set it.",
            selfHealing: "Nothing needs to be done: streams run on monotonic time.",
            hint: "Nothing to do", severity: .information,
            messageID: "43ef18fe3eef28ad442db86ff4304e4f"),
        CatalogEntry(
            code: .certificateExpires, title: "A certificate ends soon",
            cause: "It was not renewed.",
            selfHealing: "Goes on as long as it is valid.",
            hint: "Renew the certificate that the message names", severity: .warning,
            messageID: "041b18dfa02eb04d09e47d0d9178b68c"),
        CatalogEntry(
            code: .certificateRefused, title: "A server is not trusted",
            cause:
                "Its certificate has ended, is for another name, is signed by an authority that this box does not know, or has another key than the pinned one.",
            selfHealing: "Sends nothing there and tries again.",
            hint:
                "Check the name, the authority and the pin: watchboxctl relay test for a relay, watchboxctl kas test for the key access server",
            severity: .error,
            messageID: "d106ed38bc5076341711efcb20f65796"),
        CatalogEntry(
            code: .keyAccessUnreachable, title: "The key access server does not answer",
            cause: "It is down, or the network to it is.",
            selfHealing: "Running streams go on with their cached public key; a new camera waits.",
            hint: "Run: watchboxctl kas test", severity: .error,
            messageID: "2f9641553a4322e59fe72f49fc774147"),
        CatalogEntry(
            code: .keyAccessRefused, title: "The key access server refuses this box",
            cause: "The token has expired, is for another stream, or was revoked.",
            selfHealing: "Running streams go on; their new keys cannot be opened by viewers.",
            hint: "Give a new token: watchboxctl kas set --token-file FILE", severity: .error,
            messageID: "7d9105ccd4c468249e0d72143e25bec1"),
        CatalogEntry(
            code: .noKey, title: "A camera has no public key to encrypt for",
            cause: "The key access server was never reached since this camera was added.",
            selfHealing: "Sends nothing: a frame leaves the box encrypted or not at all.",
            hint: "Run: watchboxctl kas test", severity: .error,
            messageID: "af557f0cd2473c10cfed8082c97c8e72"),
        CatalogEntry(
            code: .headerUnregistered, title: "The key access server does not confirm headers",
            cause: "Viewers may be refused until it does.",
            selfHealing: "Registers them again.",
            hint: "Run: watchboxctl kas test", severity: .warning,
            messageID: "86437e433a7bb179dd62d38285a9466c"),
        CatalogEntry(
            code: .ivNearlyUsed, title: "A collection has used most of its counter",
            cause: "Rotation is late.",
            selfHealing: "Rotates at the next key frame; stops the stream before a counter is used twice.",
            hint: "Run: watchboxctl key rotate ID", severity: .warning,
            messageID: "e2e44e7f39416d14ee5cb1fa63906d81"),
        CatalogEntry(
            code: .tokenEndsSoon, title: "The box's token for the key access server ends within a week",
            cause: "The key access server could not be asked to renew it, or it is one that cannot be renewed.",
            selfHealing: "Asks for a new one every hour.",
            hint: "Run: watchboxctl kas show; give a new token: watchboxctl kas set --token-file FILE",
            severity: .warning, messageID: "a79e22ec6efce34694406e2e675942ca"),
        CatalogEntry(
            code: .tokenEnded, title: "The box's token for the key access server has ended",
            cause: "The box was off, or could not reach the server, for longer than the token is valid.",
            selfHealing:
                "Running streams go on under keys that no viewer gets; asks every day whether it may come back.",
            hint:
                "At the KAS: watchboxctl kas grant --state DIR --readmit SUBJECT; or here: watchboxctl kas set --token-file FILE",
            severity: .error, messageID: "3a43684de8921b777f7aed9482c70b86"),
    ]
}
