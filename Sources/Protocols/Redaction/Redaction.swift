/// Takes secrets out of a text before it leaves the box. The one place for that: everything in a bundle, and every
/// message of a hook, goes through it.
///
/// It knows secrets by their environment, not by their value, and rather takes too much: user, password and query of a
/// URL, what follows the application in an RTMP URL (a stream key), JSON Web Tokens, private keys in PEM, what follows
/// `Bearer` and `Basic`, and every value of a name that ends in one of `names`.
public enum Redaction {
    public static let mark = "REDACTED"

    /// In lower case, without `_`, `-` and spaces.
    private static let names = [
        "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "streamkey", "privatekey",
        "authorization",
        "credential", "cookie",
    ]

    public static func clean(_ text: String) -> String {
        var scanner = Scanner(bytes: Array(text.utf8))
        return String(decoding: scanner.run(), as: UTF8.self)
    }

    /// One pass over the bytes; each step looks ahead over what it takes, so the time grows with the text only.
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0
        var output: [UInt8] = []
        /// The name that was read last, as `names` has it, and where it ended.
        var name: [UInt8] = []

        init(bytes: [UInt8]) {
            self.bytes = bytes
            output.reserveCapacity(bytes.count)
        }

        mutating func run() -> [UInt8] {
            while position < bytes.count {
                if takesPrivateKey() || takesWord() { continue }
                output.append(bytes[position])
                position += 1
            }
            return output
        }

        private func byte(_ index: Int) -> UInt8? { bytes.indices.contains(index) ? bytes[index] : nil }

        private func has(_ text: String, at index: Int) -> Bool {
            guard index >= 0, index + text.utf8.count <= bytes.count else { return false }
            return bytes[index..<index + text.utf8.count].elementsEqual(text.utf8)
        }

        private mutating func takesPrivateKey() -> Bool {
            guard has("-----BEGIN ", at: position) else { return false }
            var end = position + 11
            while let next = byte(end), next != 0x2D, end - position < 64 { end += 1 }
            guard has("PRIVATE KEY-----", at: end - 11) else { return false }
            while end < bytes.count, !has("-----END ", at: end) { end += 1 }
            if end < bytes.count {
                end += 9
                while let next = byte(end), next != 0x0A, next != 0x5C, next != 0x22 { end += 1 }
            }
            replace(to: end)
            return true
        }

        /// A run of letters, digits, `_` and `-`, and what it introduces.
        private mutating func takesWord() -> Bool {
            guard Self.isWord(bytes[position]) else { return false }
            var end = position
            // In JSON a line feed is `\n`, and its letter stands right before the dashes of a key.
            while let next = byte(end), Self.isWord(next), end == position || !has("-----BEGIN ", at: end) { end += 1 }
            if has("://", at: end) {
                takeURL(schemeEnd: end)
                return true
            }
            if let token = token(in: position..<end) {
                while let next = byte(end), Self.isWord(next) || next == 0x2E { end += 1 }
                output += bytes[position..<token]
                replace(to: end)
                return true
            }
            let word = bytes[position..<end]
            name = word.filter { $0 != 0x5F && $0 != 0x2D }.map { $0 | 0x20 }
            output += word
            position = end
            if name == Array("bearer".utf8) || name == Array("basic".utf8) {
                takeCredentials()
            } else if Redaction.names.contains(where: { name.suffix($0.utf8.count).elementsEqual($0.utf8) }) {
                takeValue()
            }
            return true
        }

        /// `eyJ…` is `{"` in Base64: the first part of a token, or a whole sealed object.
        private func token(in range: Range<Int>) -> Int? {
            guard range.count >= 12 else { return nil }
            return (range.lowerBound...range.upperBound - 12).first { has("eyJ", at: $0) }
        }

        /// After `Bearer`: one space, then what is not a space.
        private mutating func takeCredentials() {
            guard byte(position) == 0x20, let next = byte(position + 1), next > 0x20 else { return }
            var end = position + 1
            while let next = byte(end), next > 0x20, next != 0x22, next != 0x27, next != 0x2C, next != 0x5C { end += 1 }
            // `basic settings` is not a header: what is meant has digits, or is long.
            let value = bytes[position + 1..<end]
            guard value.count >= 20 || value.contains(where: { (0x30...0x39).contains($0) }) else { return }
            output.append(0x20)
            position += 1
            replace(to: end)
        }

        /// After a name: quotes, spaces, one of `=` and `:`, then the value.
        private mutating func takeValue() {
            var index = position
            skipQuote(&index)
            while byte(index) == 0x20 || byte(index) == 0x09 { index += 1 }
            guard let sign = byte(index), sign == 0x3D || sign == 0x3A else { return }
            index += 1
            while byte(index) == 0x20 || byte(index) == 0x09 { index += 1 }
            guard let end = endOfValue(&index), end > index else { return }
            let value = bytes[index..<end]
            guard !["true", "false", "null"].contains(where: { value.elementsEqual($0.utf8) }) else { return }
            output += bytes[position..<index]
            position = index
            replace(to: end)
        }

        /// Moves over an opening quote, as it is or escaped in a JSON text.
        private func skipQuote(_ index: inout Int) {
            var next = index
            while byte(next) == 0x5C { next += 1 }
            if byte(next) == 0x22 || byte(next) == 0x27 { index = next + 1 }
        }

        /// - Parameter index: moved to the first byte of the value.
        /// - Returns: the end of it, before a closing quote.
        private func endOfValue(_ index: inout Int) -> Int? {
            let before = index
            skipQuote(&index)
            if index > before {
                let opening = bytes[before..<index]
                guard let quote = opening.last else { return nil }
                let depth = opening.count - 1
                if depth == 0, byte(index) == quote, byte(index + 1) == quote { return endOfLongText(&index, quote) }
                var end = index
                var slashes = 0
                while let next = byte(end) {
                    if next == 0x5C {
                        slashes += 1
                    } else {
                        // As many backslashes as before the opening quote end it, after pairs that stand for one.
                        if next == quote, slashes < depth || (slashes - depth) % (2 * (depth + 1)) == 0 {
                            return end - min(slashes, depth)
                        }
                        if next == 0x0A { return end }
                        slashes = 0
                    }
                    end += 1
                }
                return end
            }
            var end = index
            while let next = byte(end), next > 0x20, next != 0x22, next != 0x27, next != 0x2C, next != 0x3B,
                next != 0x7D,
                next != 0x5D, next != 0x26, next != 0x5C
            { end += 1 }
            // `Authorization: Basic abc`: the scheme is not a secret, what follows is.
            let word = bytes[index..<end].map { $0 | 0x20 }
            if word == Array("bearer".utf8) || word == Array("basic".utf8) || word == Array("digest".utf8),
                byte(end) == 0x20
            {
                end += 1
                while let next = byte(end), next >= 0x20, next != 0x22, next != 0x5C { end += 1 }
            }
            return end
        }

        /// TOML's texts of several lines, between three quotes.
        private func endOfLongText(_ index: inout Int, _ quote: UInt8) -> Int {
            index += 2
            var end = index
            while end < bytes.count {
                if byte(end) == quote, byte(end + 1) == quote, byte(end + 2) == quote { return end }
                end += 1
            }
            return end
        }

        /// `scheme://user:password@host/path?query#fragment`
        private mutating func takeURL(schemeEnd: Int) {
            let scheme = bytes[position..<schemeEnd].map { $0 | 0x20 }
            var end = schemeEnd + 3
            while let next = byte(end), next > 0x20, next != 0x22, next != 0x27, next != 0x3C, next != 0x3E,
                next != 0x5C, next != 0x60
            {
                end += 1
            }
            var rest = bytes[(schemeEnd + 3)..<end]
            output += bytes[position..<schemeEnd + 3]
            position = end
            let slash = rest.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? rest.endIndex
            // A password may hold a slash that was not encoded: the last `@` of all counts.
            if let at = rest.lastIndex(of: 0x40), at < slash || rest[..<at].contains(0x3A) {
                output += Array("\(Redaction.mark)@".utf8)
                rest = rest[(at + 1)...]
            }
            let path = rest.prefix { $0 != 0x3F && $0 != 0x23 }
            let hasQuery = path.count < rest.count
            if scheme.starts(with: Array("rtmp".utf8)), path.count(where: { $0 == 0x2F }) > 1 {
                // rtmp://host/application/KEY
                let slashes = path.indices.filter { path[$0] == 0x2F }
                output += path[...slashes[1]]
                output += Array(Redaction.mark.utf8)
            } else {
                output += path
            }
            if hasQuery { output += Array("?\(Redaction.mark)".utf8) }
        }

        private mutating func replace(to end: Int) {
            output += Array(Redaction.mark.utf8)
            position = end
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), 0x5F, 0x2D:
                true
            default: false
            }
        }
    }
}
