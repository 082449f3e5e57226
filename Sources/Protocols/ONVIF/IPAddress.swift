internal import Wire

/// IP addresses as text, as far as their ranges matter here.
enum IPAddress {
    /// Four decimal numbers of 0 to 255.
    static func isIPv4(_ text: String) -> Bool { ipv4(text) != nil }

    static func ipv4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let byte = UInt8(part)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Without brackets; with or without a zone.
    static func isIPv6(_ text: String) -> Bool {
        guard text.utf8.count <= 64, let address = text.split(separator: "%", omittingEmptySubsequences: false).first
        else { return false }
        let groups = address.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...9).contains(groups.count) else { return false }
        return groups.enumerated().allSatisfy { index, group in
            (index == groups.count - 1 && isIPv4(String(group)))
                || (group.utf8.count <= 4
                    && group.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil })
        }
    }

    /// Where no other machine can reach anything: empty, unspecified, loopback, link-local. Takes IPv6 with or without
    /// brackets.
    static func isUseless(_ host: String) -> Bool {
        let plain = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let lower = plain.lowercased()
        if lower.isEmpty || lower == "localhost" || lower.hasSuffix(".localhost") { return true }
        if let bytes = ipv4(lower) {
            return bytes[0] == 0 || bytes[0] == 127 || (bytes[0] == 169 && bytes[1] == 254)
                || bytes[0] >= 224
        }
        guard isIPv6(lower) else { return false }
        if lower == "::" || lower == "::1" || lower.hasPrefix("::ffff:127.") || lower == "::ffff:0.0.0.0" {
            return true
        }
        // All zeros, or all zeros and a one, however it is spelled.
        let digits = lower.filter { $0 != ":" && $0 != "0" }
        if digits.isEmpty || digits == "1" && lower.hasSuffix("1") && !lower.hasPrefix("1") { return true }
        guard let first = lower.split(separator: ":").first, let group = UInt16(first, radix: 16) else { return false }
        return (0xFE80...0xFEBF).contains(group) || group >= 0xFF00
    }

    /// 10/8, 172.16/12, 192.168/16, 100.64/10 and fc00::/7.
    static func isPrivate(_ host: String) -> Bool {
        let plain = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        if let bytes = ipv4(plain) {
            return bytes[0] == 10 || (bytes[0] == 172 && (16...31).contains(bytes[1]))
                || (bytes[0] == 192 && bytes[1] == 168) || (bytes[0] == 100 && (64...127).contains(bytes[1]))
        }
        guard isIPv6(plain), let first = plain.split(separator: ":").first, let group = UInt16(first, radix: 16) else {
            return false
        }
        return (0xFC00...0xFDFF).contains(group)
    }
}
