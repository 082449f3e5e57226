extension ErrorCode {
    public static let relayUnreachable = ErrorCode(5001)
    public static let relayRefused = ErrorCode(5002)
    public static let relayStalled = ErrorCode(5003)
    public static let relayRedirects = ErrorCode(5004)
    public static let noCarrier = ErrorCode(5101)
    public static let noAddress = ErrorCode(5102)
    public static let noGateway = ErrorCode(5103)
    public static let noDNS = ErrorCode(5104)
    public static let hookUnreachable = ErrorCode(5201)
    public static let hookRefused = ErrorCode(5202)
}

extension Catalog {
    /// 5xxx: relay and network.
    static let network: [CatalogEntry] = [
        CatalogEntry(
            code: .relayUnreachable, title: "The relay does not answer",
            cause: "It is down, or the network to it is.",
            selfHealing: "Connects again with growing pauses, for as long as it takes; never reboots for it.",
            hint: "Run: watchboxctl relay test", severity: .error,
            messageID: "2f705a112f3e048f7d14d85e584432c9"),
        CatalogEntry(
            code: .relayRefused, title: "The relay refuses the stream",
            cause: "The stream key is wrong, the name is in use, or the application is not there.",
            selfHealing: "Tries again with pauses.",
            hint: "Check the URL and the key: watchboxctl relay show NAME", severity: .error,
            messageID: "d895d714931f7ec6e9cb4d553bd39b8a"),
        CatalogEntry(
            code: .relayStalled, title: "The relay takes bytes but does not read them",
            cause: "It hangs, or the link to it is congested.",
            selfHealing: "Ends the connection and makes a new one.",
            hint: "Run: watchboxctl stream top", severity: .error,
            messageID: "7a0b6b174b02d30e1396e54a22bf8fe7"),
        CatalogEntry(
            code: .relayRedirects, title: "The relay sends a camera to a place that is not allowed",
            cause:
                "It moved to another host, it makes the box connect where it should not, or the place did not take the stream within the last ten minutes.",
            selfHealing:
                "Does not go there: stays as long as the relay lets it, and connects to the configured URL again.",
            hint:
                "If the relay did move: set its new URL, or name the host in redirect_hosts of the relay in watchbox.toml and run: watchboxctl config import FILE",
            severity: .warning, messageID: "5b1d4c0a9e5f4a6f8c57d2f0b1f6a3e9"),
        CatalogEntry(
            code: .noCarrier, title: "No network cable or no wireless link",
            cause: "The interface has no carrier.",
            selfHealing: "Waits for the link.",
            hint: "Check the cable; ip link", severity: .error,
            messageID: "dc6ab35568a7bf24e65a7e23e6829edc"),
        CatalogEntry(
            code: .noAddress, title: "The box has no network address",
            cause: "No DHCP server answers.",
            selfHealing: "Renews the address; bounces the link after 2 minutes.",
            hint: "Check the router; ip address", severity: .error,
            messageID: "d44971b851cb65bfc4d319dfe2848f2e"),
        CatalogEntry(
            code: .noGateway, title: "The gateway does not answer",
            cause: "The router is off, or the address belongs to another network.",
            selfHealing: "Renews the address after 2 minutes.",
            hint: "Check the router; ip route; ip neigh", severity: .error,
            messageID: "57c81628109f845238a7a1673343ce1f"),
        CatalogEntry(
            code: .noDNS, title: "Names cannot be looked up",
            cause: "The name server does not answer.",
            selfHealing: "Tries again.",
            hint: "Check the name server: resolvectl status, or cat /etc/resolv.conf", severity: .error,
            messageID: "c77da881be891c06cff6b2ffa5dcfd3b"),
        CatalogEntry(
            code: .hookUnreachable, title: "A hook's receiver does not take messages",
            cause: "It is down, it answers with an error of its own, or the network to it is down.",
            selfHealing:
                "Tries again with growing pauses of up to 5 minutes; keeps the newest 64 events of the last 24 hours, and reports how many more there were.",
            hint: "Run: watchboxctl hook test NAME", severity: .warning,
            messageID: "3baea7b5af737296db632cb93aa9a227"),
        CatalogEntry(
            code: .hookRefused, title: "A hook's receiver refuses a message",
            cause:
                "The URL or the token is wrong, or the receiver sends the box on to another address, which it does not follow.",
            selfHealing: "Gives this message up, counts it, and goes on with the next event.",
            hint: "Check the URL and the token: watchboxctl hook edit NAME, then watchboxctl hook test NAME",
            severity: .warning, messageID: "e4f4cd5ae6279bf8471feadaca163891"),
    ]
}
