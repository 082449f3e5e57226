internal import Wire

/// A place in the bytes of a document that moves forward, and its line and column.
struct Cursor {
    let bytes: [UInt8]
    private(set) var index = 0
    private(set) var position = TOMLPosition(line: 1, column: 1)

    init(_ text: String) {
        bytes = Array(text.utf8)
        // A byte order mark is not a part of the text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    var next: UInt8? { peek(0) }

    func peek(_ offset: Int) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

    mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == .lineFeed {
                position.line += 1
                position.column = 1
            } else if byte & 0xC0 != 0x80 {
                position.column += 1
            }
        }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        advance()
        return true
    }

    mutating func takeLineBreak() -> Bool {
        switch next {
        case .lineFeed: advance()
        case .carriageReturn where peek(1) == .lineFeed: advance(2)
        default: return false
        }
        return true
    }

    func fault(_ reason: TOMLError.Reason) -> TOMLError { TOMLError(position: position, reason: reason) }

    // MARK: What means nothing

    mutating func skipBlanks() {
        while next == .space || next == .tab { advance() }
    }

    /// Blanks, line breaks and comments.
    mutating func skipSpace() throws(TOMLError) {
        repeat {
            skipBlanks()
            try skipComment()
        } while takeLineBreak()
    }

    /// Blanks, a comment, and the end of the line or of the text.
    mutating func endLine() throws(TOMLError) {
        skipBlanks()
        try skipComment()
        guard next == nil || takeLineBreak() else { throw fault(.lineGoesOn) }
    }

    private mutating func skipComment() throws(TOMLError) {
        guard next == .hash else { return }
        while let byte = next, byte != .lineFeed, !(byte == .carriageReturn && peek(1) == .lineFeed) {
            guard !byte.isControl else { throw fault(.controlCharacter) }
            advance()
        }
    }
}

extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let hash = UInt8(ascii: "#")
    static let equals = UInt8(ascii: "=")
    static let dot = UInt8(ascii: ".")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let plus = UInt8(ascii: "+")
    static let hyphen = UInt8(ascii: "-")
    static let underscore = UInt8(ascii: "_")
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    static let backslash = UInt8(ascii: "\\")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")

    /// A tab does not count.
    var isControl: Bool { self < 0x20 && self != .tab || self == 0x7F }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isBareKey: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), .underscore, .hyphen:
            true
        default: false
        }
    }

    var hexadecimal: UInt8? { Hexadecimal.value(of: self) }
}
