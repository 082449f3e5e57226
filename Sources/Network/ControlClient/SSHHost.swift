/// A machine that ssh can reach: `[user@]host[:port]`. The host is a name, an address, or an alias of the user's own SSH
/// configuration.
public struct SSHHost: Equatable, Sendable {
    /// What is wrong with the text, as the end of a sentence that begins with it.
    public struct Invalid: Error, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// Of the whole text, in bytes: a name in the DNS has 253, a user's name 32.
    public static let maxLength = 300

    /// Nil: whom ssh takes.
    public let user: String?
    /// Without the brackets of an IPv6 address.
    public let name: String
    /// Nil: what ssh takes.
    public let port: Int?

    /// Takes no character that ssh, a shell in its configuration (`ProxyCommand`) or a terminal would read as anything but
    /// a letter of a name.
    public init(_ text: String) throws(Invalid) {
        guard (1...Self.maxLength).contains(text.utf8.count) else {
            throw Invalid(description: "is empty, or longer than \(Self.maxLength) bytes")
        }
        var rest = text[...]
        if let at = text.lastIndex(of: "@") {
            let user = text[..<at]
            guard Self.isName(user, alsoAllowed: "+@\\") else {
                throw Invalid(description: "has no user before the @ that ssh could take")
            }
            self.user = String(user)
            rest = text[text.index(after: at)...]
        } else {
            user = nil
        }
        var digits: Substring?
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else {
                throw Invalid(description: "has a [ without a ]")
            }
            let behind = rest[rest.index(after: end)...]
            guard behind.isEmpty || behind.first == ":" else {
                throw Invalid(description: "has something behind the ] that is no port")
            }
            digits = behind.isEmpty ? nil : behind.dropFirst()
            rest = rest[..<end].dropFirst()
        } else if let colon = rest.firstIndex(of: ":"), rest[rest.index(after: colon)...].contains(":") == false {
            digits = rest[rest.index(after: colon)...]
            rest = rest[..<colon]
        }
        guard Self.isName(rest, alsoAllowed: ":%") else {
            throw Invalid(description: "is not [user@]host[:port]")
        }
        name = String(rest)
        guard let digits else {
            port = nil
            return
        }
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(digits), (1...65_535).contains(number)
        else { throw Invalid(description: "has no port from 1 to 65535 behind the colon") }
        port = number
    }

    /// Never an option of ssh.
    private static func isName(_ text: Substring, alsoAllowed: String) -> Bool {
        !text.isEmpty && text.first != "-"
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: alsoAllowed.utf8.contains(byte)
                }
            }
    }

    /// Behind `--`.
    var destination: String { (user.map { "\($0)@" } ?? "") + name }

    /// What a person types to get there.
    public var command: String { "ssh \(port.map { "-p \($0) " } ?? "")\(destination)" }
}

extension SSHHost: CustomStringConvertible {
    public var description: String {
        let name = name.contains(":") ? "[\(name)]" : name
        return (user.map { "\($0)@" } ?? "") + name + (port.map { ":\($0)" } ?? "")
    }
}
