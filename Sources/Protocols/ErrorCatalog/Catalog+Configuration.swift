extension ErrorCode {
    public static let unreadableFile = ErrorCode(1001)
    public static let invalidSyntax = ErrorCode(1002)
    public static let unknownKey = ErrorCode(1003)
    public static let invalidValue = ErrorCode(1004)
    public static let lastGoodInUse = ErrorCode(1005)
    public static let definedInFile = ErrorCode(1006)
    public static let unconfirmedApply = ErrorCode(1007)
    public static let noSuchGeneration = ErrorCode(1008)
    public static let missingSecret = ErrorCode(1009)
    public static let unsupportedSource = ErrorCode(1010)
    public static let incompleteCamera = ErrorCode(1011)
    public static let objectQuarantined = ErrorCode(1012)
}

extension Catalog {
    /// 1xxx: what the operator wrote.
    static let configuration: [CatalogEntry] = [
        CatalogEntry(
            code: .unreadableFile, title: "A configuration file cannot be read",
            cause: "The file is missing, longer than 256 KiB, not UTF-8, or its permissions keep WatchBox out.",
            selfHealing: "Runs on with the last good generation.",
            hint: "Check the file that the message names: sudo ls -l /etc/watchbox", severity: .error,
            messageID: "58b2a2055bb55bcbb37d2f2a4276b0bd"),
        CatalogEntry(
            code: .invalidSyntax, title: "A configuration file is not TOML",
            cause: "A bracket, a quote or an equals sign is missing or doubled at the line that the message names.",
            selfHealing: "Runs on with the last good generation.",
            hint: "Correct the line, then run: watchboxctl config validate", severity: .error,
            messageID: "066548bbcded8077efcfe3fb2c3ea935"),
        CatalogEntry(
            code: .unknownKey, title: "A key in the configuration is not known",
            cause: "The name is misspelt, or stands in the wrong table.",
            selfHealing: "Runs on with the last good generation.",
            hint: "Use the name that the message suggests, then run: watchboxctl config validate", severity: .error,
            messageID: "9680cbf9a0f4d4f7f3b2c9780175e3ff"),
        CatalogEntry(
            code: .invalidValue, title: "A value in the configuration is not allowed",
            cause: "The value has the wrong type or is out of its range.",
            selfHealing: "Runs on with the last good generation.",
            hint: "Write a value of the kind that the message names, then run: watchboxctl config validate",
            severity: .error,
            messageID: "9918f2191616116c7655998523f8a6e7"),
        CatalogEntry(
            code: .lastGoodInUse, title: "The box runs with its last good configuration",
            cause: "The files in /etc/watchbox were not valid when the box read them.",
            selfHealing: "Keeps every camera running as before; reads the files again when asked to.",
            hint: "Run: watchboxctl config validate", severity: .warning,
            messageID: "68d3705797a86cb1047db8c2b7a8912d"),
        CatalogEntry(
            code: .definedInFile, title: "The object is defined in a file",
            cause: "What an operator wrote in /etc/watchbox wins, and no program changes it.",
            selfHealing: "Nothing was changed.",
            hint: "Edit the file that the message names, then run: watchboxctl config apply", severity: .error,
            messageID: "e18ead32b53e40fb73d93a3c91b089f7"),
        CatalogEntry(
            code: .unconfirmedApply, title: "A change was taken back because it was not confirmed",
            cause:
                "config apply --confirm was not followed by config confirm in time, so that a change which cuts the network off heals itself.",
            selfHealing: "Went back to the generation before.",
            hint: "Apply it again and confirm it in time: watchboxctl config confirm", severity: .warning,
            messageID: "f6bc9ffbe57a99669ea07430ea689c2e"),
        CatalogEntry(
            code: .noSuchGeneration, title: "There is no such generation",
            cause: "Only the last ten generations of the configuration are kept.",
            selfHealing: "Nothing was changed.",
            hint: "List them: watchboxctl config history", severity: .error,
            messageID: "640e43c1a5fab762d8897c0d4aed5f11"),
        CatalogEntry(
            code: .missingSecret, title: "A secret that the configuration names is not in the store",
            cause: "secret = \"…\" is only a name; its value was never given to this box, or belongs to another box.",
            selfHealing: "The camera waits until the secret is there.",
            hint: "Give it: watchboxctl camera password ID, relay edit --secret-file, or kas set --token-file",
            severity: .error,
            messageID: "0c85a1c381e532aed95401a9f6ea4de0"),
        CatalogEntry(
            code: .unsupportedSource, title: "This version cannot use the source",
            cause: "The source is of a kind that this build has no driver for.",
            selfHealing: "The camera stays in the store and is not started.",
            hint: "See which sources work: watchboxctl camera add --help", severity: .error,
            messageID: "051bacd7705bc071f70228e972f4e235"),
        CatalogEntry(
            code: .incompleteCamera, title: "A camera has no relay or no key access server yet",
            cause: "The relay that it names is not defined, or no key access server is set.",
            selfHealing: "The camera is kept and starts as soon as both are there.",
            hint: "Set what is missing: watchboxctl relay add NAME --url URL; watchboxctl kas set --url URL",
            severity: .warning,
            messageID: "1e71aa0603593a02ce41f4ee90d106ea"),
        CatalogEntry(
            code: .objectQuarantined, title: "An object of the configuration is quarantined",
            cause: "This version refuses it: another version wrote it, or somebody edited what is stored.",
            selfHealing:
                "Keeps it as it is and uses nothing of it; everything else runs, and a version that takes it uses it again.",
            hint: "See what is wrong with it: watchboxctl config validate", severity: .error,
            messageID: "5d0c2f6bb7e94a4c8a1e3f7092d6b8e4"),
    ]
}
