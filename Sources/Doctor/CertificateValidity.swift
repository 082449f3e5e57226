internal import Systemd

/// When certificates end, read out of PEM (RFC 7468) and DER (X.690) without a library: just enough of RFC 5280 to find
/// `notAfter`. Files come from people, so every length is checked.
enum CertificateValidity {
    /// Of each certificate in the file, seconds since 1970; certificates that do not read are left out.
    static func ends(inPEM text: String) -> [Int64] {
        var ends: [Int64] = []
        var encoded: String?
        for line in text.split(whereSeparator: \.isNewline).prefix(100_000) {
            let line = SmallFile.trimmed(line)
            if line == "-----BEGIN CERTIFICATE-----" {
                encoded = ""
            } else if line == "-----END CERTIFICATE-----" {
                if let bytes = encoded.flatMap(Base64Text.decode), let end = end(ofDER: bytes) { ends.append(end) }
                encoded = nil
            } else {
                encoded?.append(line)
            }
        }
        return ends
    }

    /// Certificate ::= SEQUENCE { tbs SEQUENCE { [0] version?, serial, algorithm, issuer, validity SEQUENCE { notBefore,
    /// notAfter } … } … }
    static func end(ofDER bytes: [UInt8]) -> Int64? {
        var outer = Elements(bytes[...])
        guard let certificate = outer.next(), certificate.tag == 0x30 else { return nil }
        var parts = Elements(certificate.content)
        guard let body = parts.next(), body.tag == 0x30 else { return nil }
        var fields = Elements(body.content)
        guard var field = fields.next() else { return nil }
        if field.tag == 0xA0 {
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        guard field.tag == 0x02, fields.next()?.tag == 0x30, fields.next()?.tag == 0x30,
            let validity = fields.next(), validity.tag == 0x30
        else { return nil }
        var times = Elements(validity.content)
        guard times.next() != nil, let end = times.next() else { return nil }
        return seconds(end)
    }

    private struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
    }

    private struct Elements {
        var rest: ArraySlice<UInt8>
        init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

        mutating func next() -> Element? {
            guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                let count = Int(first & 0x7F)
                guard (1...4).contains(count) else { return nil }
                length = 0
                for _ in 0..<count {
                    guard let byte = rest.popFirst() else { return nil }
                    length = length << 8 | Int(byte)
                }
            }
            guard length <= rest.count else { return nil }
            let content = rest.prefix(length)
            rest = rest.dropFirst(length)
            return Element(tag: tag, content: content)
        }
    }

    /// UTCTime `YYMMDDHHMMSSZ`, GeneralizedTime `YYYYMMDDHHMMSSZ`.
    private static func seconds(_ element: Element) -> Int64? {
        let digits = element.content.dropLast().map { Int64($0) - 48 }
        guard element.content.last == UInt8(ascii: "Z"), digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        var numbers = digits[...]
        func two(_ digits: inout ArraySlice<Int64>) -> Int64 { digits.removeFirst() * 10 + digits.removeFirst() }
        let year: Int64
        switch (element.tag, digits.count) {
        case (0x17, 12):
            let short = two(&numbers)
            year = short < 50 ? 2000 + short : 1900 + short
        case (0x18, 14): year = two(&numbers) * 100 + two(&numbers)
        default: return nil
        }
        let month = two(&numbers)
        let day = two(&numbers)
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Date to days after Howard Hinnant's `days_from_civil`.
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return days * 86_400 + two(&numbers) * 3600 + two(&numbers) * 60 + two(&numbers)
    }
}

/// Base64 of RFC 4648 without white space.
enum Base64Text {
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var padding = 0
        for byte in text.utf8 {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte + 4
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            case UInt8(ascii: "="):
                padding += 1
                continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 {
                bytes += [
                    UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
                    UInt8(truncatingIfNeeded: bits),
                ]
                bits = 0
            }
        }
        guard padding <= 2, (count + padding) % 4 == 0 else { return nil }
        switch count % 4 {
        case 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3: bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        case 1: return nil
        default: break
        }
        return bytes
    }
}
