/// The four kinds of strings.
extension Cursor {
    /// From the opening quotation mark to behind the closing one.
    mutating func string() throws(TOMLError) -> String {
        let mark = next ?? .quote
        let begin = position
        let isLong = peek(1) == mark && peek(2) == mark
        advance(isLong ? 3 : 1)
        if isLong { _ = takeLineBreak() }
        var text: [UInt8] = []
        while let byte = next {
            if byte == mark {
                if closes(mark, isLong: isLong, &text) { return String(decoding: text, as: UTF8.self) }
            } else if byte == .backslash, mark == .quote {
                if !(isLong && skipLineEnd()) { text.append(contentsOf: String(try escape()).utf8) }
            } else if isLong, takeLineBreak() {
                text.append(.lineFeed)
            } else if byte == .lineFeed || byte == .carriageReturn && peek(1) == .lineFeed {
                throw fault(.stringNotClosed)
            } else if byte.isControl {
                throw fault(.controlCharacter)
            } else {
                text.append(byte)
                advance()
            }
        }
        throw TOMLError(position: begin, reason: isLong ? .longStringNotClosed : .stringNotClosed)
    }

    /// At a quotation mark. Of up to five in a long string the last three close it, the others belong to it.
    private mutating func closes(_ mark: UInt8, isLong: Bool, _ text: inout [UInt8]) -> Bool {
        guard isLong else {
            advance()
            return true
        }
        var count = 1
        while count < 5, peek(count) == mark { count += 1 }
        advance(count)
        text.append(contentsOf: repeatElement(mark, count: count >= 3 ? count - 3 : count))
        return count >= 3
    }

    /// A backslash at the end of a line takes all white space up to the next character with it.
    private mutating func skipLineEnd() -> Bool {
        var offset = 1
        while peek(offset) == .space || peek(offset) == .tab { offset += 1 }
        guard peek(offset) == .lineFeed || peek(offset) == .carriageReturn && peek(offset + 1) == .lineFeed else {
            return false
        }
        advance(offset)
        while takeLineBreak() { skipBlanks() }
        return true
    }

    private mutating func escape() throws(TOMLError) -> Unicode.Scalar {
        guard let letter = peek(1) else { throw fault(.stringNotClosed) }
        let scalar: Unicode.Scalar
        switch letter {
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "r"): scalar = "\r"
        case .quote: scalar = "\""
        case .backslash: scalar = "\\"
        case UInt8(ascii: "u"): return try unicodeEscape(digits: 4)
        case UInt8(ascii: "U"): return try unicodeEscape(digits: 8)
        default: throw fault(.unknownEscape)
        }
        advance(2)
        return scalar
    }

    private mutating func unicodeEscape(digits: Int) throws(TOMLError) -> Unicode.Scalar {
        var number: UInt32 = 0
        for offset in 2..<(2 + digits) {
            guard let digit = peek(offset)?.hexadecimal else { throw fault(.escapeTooShort(digits: digits)) }
            number = number << 4 | UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(number) else { throw fault(.escapeNamesNoCharacter) }
        advance(2 + digits)
        return scalar
    }
}
