/// An IPv4 or IPv6 address as bytes; an IPv4 address that is mapped into IPv6 (RFC 4291 §2.5.5.2) is the IPv4 address.
public struct NetworkAddress: Hashable, Sendable {
    /// 4 or 16.
    public let bytes: [UInt8]

    /// Nil when the text is neither `192.0.2.1` nor `2001:db8::1` (without brackets and zone).
    public init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        guard let bytes = text.contains(":") ? Self.six(text) : Self.four(text) else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        self.bytes = bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }

    /// What one holder has at least: the address, or the /64 of an IPv6 address, which is what a host or a home gets.
    public var share: String {
        guard bytes.count == 16 else { return bytes.map { "\($0)" }.joined(separator: ".") }
        let groups = stride(from: 0, to: 8, by: 2).map { index in
            String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }

    /// By what limits count a client: the share of its address, without its zone; a string that is not an address stands
    /// for itself.
    public static func share(ofClient text: String) -> String {
        NetworkAddress(String(text.prefix { $0 != "%" }))?.share ?? text
    }

    /// Of 127.0.0.0/8, or ::1.
    public var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether a host is this machine, whoever reads it: `localhost` in lower case (RFC 6761 §6.3), `::1`, or
    /// 127.0.0.0/8 as four decimal numbers. Other spellings of these are not taken for it: not everybody reads them
    /// alike.
    public static func isLoopback(host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        return !host.utf8.contains(UInt8(ascii: ":")) && NetworkAddress(host)?.isLoopback == true
    }

    private static func four(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard let byte = decimal(part).flatMap({ UInt8(exactly: $0) }) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func six(_ text: String) -> [UInt8]? {
        // One colon at an end is a slip, not "::".
        guard !text.hasPrefix(":") || text.hasPrefix("::"), !text.hasSuffix(":") || text.hasSuffix("::") else {
            return nil
        }
        var halves: [[UInt8]] = [[]]
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // "::" leaves two empty parts at an end of the text, one within it.
        if text.hasPrefix("::") { parts.removeFirst() }
        if text.hasSuffix("::") { parts.removeLast() }
        guard parts.count <= 9 else { return nil }
        for (index, part) in parts.enumerated() {
            if part.isEmpty {
                halves.append([])
            } else if part.contains("."), index == parts.count - 1 {
                guard let four = four(String(part)) else { return nil }
                halves[halves.count - 1] += four
            } else {
                guard part.utf8.count <= 4, part.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                halves[halves.count - 1] += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
            }
        }
        let known = halves.reduce(0) { $0 + $1.count }
        switch halves.count {
        case 1: return known == 16 ? halves[0] : nil
        case 2: return known <= 14 ? halves[0] + [UInt8](repeating: 0, count: 16 - known) + halves[1] : nil
        default: return nil
        }
    }

    /// Digits alone, without a leading zero: some read that as octal.
    fileprivate static func decimal(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.utf8.count == 1 || text.first != "0"
        else { return nil }
        return Int(text)
    }
}

/// A network in CIDR notation: `192.0.2.0/24`, `2001:db8::/32`, or one address.
public struct NetworkRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let length: Int

    /// Nil when the text is not a network. Bits behind the prefix count for nothing.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(String(first)) else { return nil }
        bytes = address.bytes
        guard parts.count == 2 else {
            length = address.bytes.count * 8
            return
        }
        guard let length = NetworkAddress.decimal(parts[1]), length <= address.bytes.count * 8 else { return nil }
        self.length = length
    }

    /// - Returns: whether it is one of the addresses of this network.
    public func contains(_ address: NetworkAddress) -> Bool {
        guard address.bytes.count == bytes.count else { return false }
        let whole = length / 8
        guard address.bytes.prefix(whole) == bytes.prefix(whole) else { return false }
        let rest = length % 8
        return rest == 0 || (address.bytes[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
    }
}

/// Which networks a server talks to.
public struct NetworkRules: Equatable, Sendable {
    /// Empty: all.
    public var allow: [NetworkRange]
    /// Comes before `allow`.
    public var deny: [NetworkRange]

    public init(allow: [NetworkRange] = [], deny: [NetworkRange] = []) {
        self.allow = allow
        self.deny = deny
    }

    /// - Parameter address: nil when it is unknown.
    public func permits(_ address: NetworkAddress?) -> Bool {
        guard let address else { return allow.isEmpty && deny.isEmpty }
        if deny.contains(where: { $0.contains(address) }) { return false }
        return allow.isEmpty || allow.contains { $0.contains(address) }
    }
}
