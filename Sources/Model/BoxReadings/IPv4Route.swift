/// One line of `/proc/net/route`.
struct IPv4Route: Equatable, Sendable {
    var interface: String
    var destination: UInt32
    var gateway: UInt32
    var mask: UInt32
    var metric: UInt32

    static func all(_ text: String) -> [IPv4Route] {
        text.split(separator: "\n").dropFirst().prefix(1024).compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 8, let destination = address(words[1]), let gateway = address(words[2]),
                let flags = UInt32(words[3], radix: 16), let mask = address(words[7]), let metric = UInt32(words[6]),
                flags & 1 != 0, flags & 0x200 == 0  // RTF_UP, not RTF_REJECT
            else { return nil }
            return IPv4Route(
                interface: String(words[0]), destination: destination, gateway: gateway, mask: mask, metric: metric)
        }
    }

    /// The kernel prints the four bytes as a number of this machine.
    private static func address(_ text: Substring) -> UInt32? {
        text.utf8.count == 8 ? UInt32(text, radix: 16).map { UInt32(bigEndian: $0) } : nil
    }
}
