public import Wire

/// How the box is on a cable.
public struct EthernetSettings: Equatable, Sendable {
    /// IPv4, with the length of the network's prefix: `192.168.1.20/24`; nil: DHCP.
    public var address: String?
    /// IPv4, a host of the same network; nil: none, or DHCP's.
    public var gateway: String?
    /// Name servers; empty: none, or DHCP's.
    public var nameServers: [String] = []

    public init(address: String? = nil, gateway: String? = nil, nameServers: [String] = []) {
        self.address = address
        self.gateway = gateway
        self.nameServers = nameServers
    }

    /// An IPv4 address of one host, and the prefix of its network.
    static func check(address text: String) throws(Finding) {
        let hint =
            "Use the address that the box is to have, a slash, and the length of the network's prefix, such as \"192.168.1.20/24\""
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(String(first)) else {
            throw Finding("is not an IP address", hint)
        }
        guard address.bytes.count == 4 else {
            throw Finding("is an IPv6 address, and those come from the router by themselves", hint)
        }
        guard parts.count == 2, let length = Int(parts[1]), (8...30).contains(length), NetworkRange(text) != nil else {
            throw Finding("has no prefix from 8 to 30 behind it", hint)
        }
        let number = address.bytes.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        let hosts = UInt32.max >> UInt32(length)
        guard number & hosts != 0, number & hosts != hosts else {
            throw Finding("is the network's own address, or its broadcast", "Use the address of one host in it")
        }
        guard isHost(address) else { throw Finding("cannot be the address of a machine", hint) }
    }

    static func check(gateway text: String, address: String) throws(Finding) {
        let hint = "Use the router's address, such as \"192.168.1.1\""
        guard let gateway = NetworkAddress(text), gateway.bytes.count == 4, isHost(gateway) else {
            throw Finding("is not the IPv4 address of a machine", hint)
        }
        guard NetworkRange(address)?.contains(gateway) == true else {
            throw Finding("is not in the network of `address`", "Correct one of the two")
        }
        guard NetworkAddress(String(address.prefix { $0 != "/" })) != gateway else {
            throw Finding("is the box's own address", hint)
        }
    }

    /// Not of this machine itself, and of one machine only.
    static func isHost(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == 4 else { return address.bytes[0] != 0xFF && !address.isLoopback }
        return (1..<224).contains(address.bytes[0]) && address.bytes[0] != 127
    }
}

/// The one wireless network that the box joins, with WPA2's personal mode.
public struct WirelessSettings: Equatable, Sendable {
    /// 1 to 32 bytes.
    public var ssid: String
    /// A passphrase of 8 to 63 bytes, or the 64 hexadecimal digits of the key that is made of it.
    public var password: String
    /// ISO 3166-1, two capital letters: which channels the law allows.
    public var country: String
    /// It does not announce its name.
    public var isHidden = false

    public init(ssid: String, password: String, country: String, isHidden: Bool = false) {
        self.ssid = ssid
        self.password = password
        self.country = country
        self.isHidden = isHidden
    }

    static func check(ssid text: String) throws(Finding) {
        guard (1...32).contains(text.utf8.count) else {
            throw Finding(
                "is empty or longer than 32 bytes", "Use the name of the wireless network, as a phone shows it")
        }
        guard ShownText.isPrintable(text) else {
            throw Finding("has control characters", "Use the name of the wireless network, as a phone shows it")
        }
    }

    static func check(password text: String) throws(Finding) {
        if isKey(text) { return }
        guard (8...63).contains(text.utf8.count) else {
            throw Finding(
                "has not 8 to 63 characters", "Use the password of the wireless network, as a phone asks for it")
        }
        guard ShownText.isPrintable(text) else {
            throw Finding("has control characters", "Write it in one line, without tabs and escapes")
        }
    }

    static func check(country text: String) throws(Finding) {
        guard text.utf8.count == 2, text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            throw Finding("is not a country's code", "Use its two capital letters, such as \"DE\" or \"US\"")
        }
    }

    /// The key itself, rather than a passphrase.
    public static func isKey(_ password: String) -> Bool {
        password.utf8.count == 64 && password.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
    }
}

extension WirelessSettings: Concealed {
    public var description: String { "the wireless network \(ShownText.cleaned(ssid, limit: 32)), with its password" }
}
