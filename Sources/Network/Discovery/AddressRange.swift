internal import Platform

/// IPv4 addresses that a scan asks: a network such as `192.168.1.0/24` without its own and its broadcast address, or one
/// address.
public struct AddressRange: Equatable, Sendable, CustomStringConvertible {
    /// Addresses that are asked without more ado: a /20.
    public static let freeLimit = 4096
    /// Addresses that are asked at all: a /16.
    public static let limit = 65_536

    /// The first and the last address that is asked, the most significant byte first.
    let first: UInt32
    let last: UInt32
    /// As it was given.
    public let description: String

    /// - Parameter allowsLarge: the operator has said yes to more than 4096 addresses.
    /// - Throws: `.invalidRange`, `.rangeNeedsConsent`, `.rangeTooLarge`.
    public init(_ text: String, allowsLarge: Bool = false) throws(DiscoveryError) {
        let shown = String(
            text.unicodeScalars.prefix(64).map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) })
        func invalid(_ reason: String) -> DiscoveryError { .invalidRange(text: shown, reason: reason) }
        guard !text.contains(":") else { throw invalid("a network of IPv6 has too many addresses to ask each one") }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = Self.number(parts[0]) else {
            throw invalid("it must be four numbers, and a prefix after a slash")
        }
        var prefix = 32
        if parts.count == 2 {
            guard (1...2).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
                let bits = Int(parts[1]), bits <= 32
            else { throw invalid("after the slash comes a number from 0 to 32") }
            prefix = bits
        }
        let size = UInt64(1) << UInt64(32 - prefix)
        let base = UInt32(UInt64(address) & ~(size - 1))
        let end = base | UInt32(size - 1)
        description = shown
        first = prefix < 31 ? base + 1 : base
        last = prefix < 31 ? end - 1 : end
        let addresses = Int(last - first) + 1
        guard addresses <= Self.limit else {
            throw .rangeTooLarge(text: shown, addresses: addresses, limit: Self.limit)
        }
        guard base >> 24 != 0, end >> 24 < 224 else { throw invalid("no device has an address there") }
        guard addresses <= Self.freeLimit || allowsLarge else {
            throw .rangeNeedsConsent(text: shown, addresses: addresses, limit: Self.freeLimit)
        }
    }

    /// Addresses in it.
    public var count: Int { Int(last - first) + 1 }

    /// In ascending order, dotted.
    public var addresses: [String] {
        (first...last).map { SocketAddress(.ipv4($0), port: 0).host }
    }

    private static func number(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            // A leading zero means octal to some, so it means nothing here.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
                part.count == 1 || part.first != "0", let byte = UInt8(part)
            else { return nil }
            number = number << 8 | UInt32(byte)
        }
        return number
    }
}
