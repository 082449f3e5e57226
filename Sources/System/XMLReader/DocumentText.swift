/// The bytes of a document as the parser gets them: valid UTF-8, from the first character that is not white space.
struct DocumentText {
    let bytes: [UInt8]
    /// Lines before the first of `bytes`.
    let skippedLines: Int

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(_ received: ArraySlice<UInt8>) {
        var rest = received
        if rest.starts(with: Self.byteOrderMark) { rest = rest.dropFirst(Self.byteOrderMark.count) }
        let before = rest.prefix(while: Self.isBlank)
        rest = rest.dropFirst(before.count)
        while let last = rest.last, Self.isBlank(last) { rest = rest.dropLast() }
        skippedLines = before.count { $0 == 0x0A }
        bytes = Self.isUTF8(rest) ? Array(rest) : Array(String(decoding: rest, as: UTF8.self).utf8)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    /// Line and column, from 1, of a place in `bytes`; columns count bytes.
    func position(_ offset: Int) -> (line: Int, column: Int) {
        var line = skippedLines + 1
        var column = 1
        for byte in bytes.prefix(offset) {
            column += 1
            guard byte == 0x0A else { continue }
            line += 1
            column = 1
        }
        return (line, column)
    }
}
