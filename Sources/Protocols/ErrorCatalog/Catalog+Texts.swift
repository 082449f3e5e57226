extension Catalog {
    /// The source of the journal's catalog (`journalctl -x`, systemd's CATALOG format): `units/watchbox.catalog`.
    public static func journalCatalog() -> String {
        var text = """
            # Written by: watchboxctl explain --all --format journal
            # A test compares it with Sources/Protocols/ErrorCatalog; do not edit it.

            """
        for entry in entries {
            text += """

                -- \(entry.messageID)
                Subject: \(entry.title) (\(entry.code))
                Defined-By: WatchBox
                Support: man:watchboxctl(1)
                Documentation: man:watchboxctl(1)

                \(entry.cause)

                What WatchBox does: \(entry.selfHealing)

                What you can do: \(entry.hint)

                """
        }
        return text
    }

    /// The documentation's page: `docs/ref/errors.md`.
    public static func markdown() -> String {
        var text = """
            # Error codes
            <!-- Written by: watchboxctl explain --all --format markdown. A test compares it with Sources/Protocols/ErrorCatalog. -->

            Every fault that WatchBox can name has a code that never changes its meaning. `watchboxctl explain WB-2107` says
            the same as this page; in the journal, `journalctl -x` shows it beside the message.

            """
        let groups: [(ClosedRange<UInt16>, String)] = [
            (1000...1999, "Configuration"), (2000...2999, "Cameras"), (3000...3999, "Storage"),
            (4000...4999, "Clock, certificates, keys"), (5000...5999, "Relay and network"),
            (6000...6999, "Hardware and power"), (7000...7999, "Updates"), (8000...8999, "API and users"),
        ]
        for (range, title) in groups {
            let members = entries.filter { range.contains($0.code.rawValue) }
            guard !members.isEmpty else { continue }
            text += "\n## \(title)\n"
            for entry in members {
                text += """

                    ### \(entry.code) \(entry.title)
                    \(entry.cause)

                    - Severity: \(entry.severity.rawValue)
                    - What WatchBox does: \(entry.selfHealing)
                    - What you can do: \(entry.hint)

                    """
            }
        }
        return text
    }
}
