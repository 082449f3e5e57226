extension ErrorCode {
    public static let diskSpaceLow = ErrorCode(3001)
    public static let diskFull = ErrorCode(3002)
    public static let readOnly = ErrorCode(3003)
    public static let databaseDamaged = ErrorCode(3004)
    public static let databaseFromFuture = ErrorCode(3005)
    public static let writeFailed = ErrorCode(3006)
    public static let cardWorn = ErrorCode(3007)
    public static let recordingShortened = ErrorCode(3008)
    public static let recordingFailed = ErrorCode(3009)
}

extension Catalog {
    /// 3xxx: disks and databases.
    static let storage: [CatalogEntry] = [
        CatalogEntry(
            code: .diskSpaceLow, title: "The disk is nearly full",
            cause: "Blocks or inodes of the data file system are used up to the limit.",
            selfHealing: "Prunes what may be pruned; keeps publishing, which needs no disk.",
            hint: "Find what is large: sudo du -xh -d 2 /var | sort -h | tail", severity: .warning,
            messageID: "5082e9ba8c81d13c4cadddad2d914798"),
        CatalogEntry(
            code: .diskFull, title: "The disk is full",
            cause: "No block or inode is free; settings and history cannot be saved.",
            selfHealing: "Keeps publishing; saves again as soon as there is room.",
            hint: "Free space: sudo du -xh -d 2 /var | sort -h | tail", severity: .critical,
            messageID: "99aba9ffac02d57ad38a34f0d70da542"),
        CatalogEntry(
            code: .readOnly, title: "The data file system is read-only",
            cause: "The kernel remounted it after an I/O error, or it was mounted so.",
            selfHealing: "Keeps publishing with the settings that are in memory; saves nothing.",
            hint: "Look for I/O errors: sudo journalctl -k | grep -i error; replace the card if there are any",
            severity: .critical,
            messageID: "ce40f36231f8c3bdefb40c249a3efe60"),
        CatalogEntry(
            code: .databaseDamaged, title: "The database was damaged and set aside",
            cause: "A card that lies about what it has written, or a copy made while the box ran.",
            selfHealing: "Moved it aside under a new name and began an empty one. The configuration is not in it.",
            hint: "Nothing for the cameras. Look for errors of the card: sudo journalctl -k | grep -i error",
            severity: .error,
            messageID: "202fabfa4f329e1359523b5da8f272e4"),
        CatalogEntry(
            code: .databaseFromFuture, title: "The database was written by a newer WatchBox",
            cause: "An older version was installed over a newer one.",
            selfHealing: "Leaves it untouched. Control runs without it: no events are kept, and nothing is learned.",
            hint: "Install the newer version again", severity: .critical,
            messageID: "a4a7d8e2c3001c9e8935478ce519bd8c"),
        CatalogEntry(
            code: .writeFailed, title: "Something could not be saved",
            cause: "The file system refused the write.",
            selfHealing: "Keeps the running state; nothing half-written is left.",
            hint: "Run: watchboxctl health show storage", severity: .error,
            messageID: "5002b223faf529d89039803e15446347"),
        CatalogEntry(
            code: .cardWorn, title: "The card or eMMC is worn",
            cause: "Flash cells bear a limited number of writes; it says itself that they are nearly used up.",
            selfHealing: "Goes on as long as it works.",
            hint: "Copy the configuration (watchboxctl config export) and replace the card", severity: .warning,
            messageID: "941e2996908b630d91861f35bb227b7b"),
        CatalogEntry(
            code: .recordingShortened, title: "Recordings go before their time",
            cause: "The disk has less free than recordings are to leave on it: something else fills it.",
            selfHealing: "Lets the oldest recording go that is not pinned; records and publishes on.",
            hint: "Find what is large: sudo du -xh -d 2 /var | sort -h | tail",
            severity: .warning,
            messageID: "5b0c6d1fd1d14c4e8e0a2d7a3b6f9e42"),
        CatalogEntry(
            code: .recordingFailed, title: "A camera is not recorded",
            cause:
                "The disk refuses the write or does not answer, has no room, or pinned recordings take all that there is for them; or FFmpeg's libavformat is missing.",
            selfHealing: "Keeps publishing, which needs no disk; tries again, at the latest each minute.",
            hint: "Run: watchboxctl recording status ID", severity: .error,
            messageID: "c7e3a9d2f4b84b0d9c1e5a6072f8d315"),
    ]
}
