extension ErrorCode {
    public static let unreachable = ErrorCode(8001)
    public static let notPermitted = ErrorCode(8002)
    public static let notFound = ErrorCode(8003)
    public static let conflict = ErrorCode(8004)
    public static let exists = ErrorCode(8005)
    public static let badRequest = ErrorCode(8006)
    public static let busy = ErrorCode(8007)
    public static let internalFault = ErrorCode(8008)
    public static let systemManager = ErrorCode(8009)
    public static let tooMuch = ErrorCode(8010)
    public static let inUse = ErrorCode(8011)
}

extension Catalog {
    /// 8xxx: API, commands, users.
    static let interface: [CatalogEntry] = [
        CatalogEntry(
            code: .unreachable, title: "The control daemon does not answer",
            cause: "It is not running, or hangs.",
            selfHealing: "systemd starts it again.",
            hint: "Run: systemctl status watchbox-control", severity: .error,
            messageID: "6e0f8aa3cb3938672eaa0c626a9a57ea"),
        CatalogEntry(
            code: .notPermitted, title: "You may not do that",
            cause: "Only root and members of the group watchbox may use the control socket.",
            selfHealing: "Nothing was changed.",
            hint: "Use sudo, or: sudo adduser $USER watchbox, then log in again", severity: .error,
            messageID: "4638b805787eabf6c9177a91c19b52cd"),
        CatalogEntry(
            code: .notFound, title: "There is no such object",
            cause: "The name is misspelt, or it was removed.",
            selfHealing: "Nothing was changed.",
            hint: "List what there is: watchboxctl camera list", severity: .error,
            messageID: "ae914a3dff535a2e4f1d4816d4157e31"),
        CatalogEntry(
            code: .conflict, title: "Somebody else changed it meanwhile",
            cause: "Two people or programs edited the same object.",
            selfHealing: "Nothing was changed.",
            hint: "Look at it again, then repeat", severity: .error,
            messageID: "3bdc696259cdeda90c023d6fa2834439"),
        CatalogEntry(
            code: .exists, title: "There is already one of that name",
            cause: "Names of cameras and relays are unique.",
            selfHealing: "Nothing was changed.",
            hint: "Choose another name", severity: .error,
            messageID: "858cfbb75e33132a68c8586203ce1d11"),
        CatalogEntry(
            code: .badRequest, title: "The request is not understood",
            cause: "A field is missing, misspelt or too long.",
            selfHealing: "Nothing was changed.",
            hint: "Correct what the message names", severity: .error,
            messageID: "937d7fc6c8b33eb8a4c2761798540877"),
        CatalogEntry(
            code: .busy, title: "Another change is under way",
            cause: "Changes are made one after the other.",
            selfHealing: "Nothing was changed.",
            hint: "Try again in a few seconds", severity: .error,
            messageID: "02e0da11a6d158d823856162e220eeb1"),
        CatalogEntry(
            code: .internalFault, title: "WatchBox made a mistake",
            cause: "A fault of the program.",
            selfHealing: "Logged it.",
            hint: "Send a bundle: watchboxctl doctor --bundle FILE", severity: .error,
            messageID: "12529e9c6d0649246aad9f263b7acaae"),
        CatalogEntry(
            code: .systemManager, title: "systemd did not do what was asked",
            cause: "A unit failed, or a rule forbids it.",
            selfHealing: "Tries again with the next health check.",
            hint: "Run: systemctl status 'watchbox-*'", severity: .error,
            messageID: "a22ea564f39c2e7eed81bb2eaaa4da29"),
        CatalogEntry(
            code: .tooMuch, title: "A limit was reached",
            cause: "Too many cameras, watchers or requests.",
            selfHealing: "Refused the newest.",
            hint: "Remove what is not needed", severity: .error,
            messageID: "bf3517c7ba55d66249f0a372ad986fe6"),
        CatalogEntry(
            code: .inUse, title: "Something else still uses it",
            cause: "A relay cannot be removed while cameras publish there.",
            selfHealing: "Nothing was changed.",
            hint: "Change what the message names first", severity: .error,
            messageID: "547d8d7d769680871d17d798ff8f5798"),
    ]
}
