import TestSupport

@testable import TOML

/// Writes a random but valid TOML document and notes, by its own counting, where each key is mentioned first.
struct DocumentWriter {
    private(set) var text = ""
    private(set) var expected: [[PathPart]: TOMLPosition] = [:]
    private var generator: SeededGenerator
    private var line = 1
    private var column = 1
    private var names = 0
    private let lineEnd: String

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        lineEnd = Bool.random(using: &generator) ? "\n" : "\r\n"
        for _ in 0..<pick(0...4) { keyLine(in: []) }
        for _ in 0..<pick(0...6) {
            if pick(0...2) == 0 { arrayOfTables() } else { table() }
        }
        if pick(0...3) == 0 { write("# the end without a line end") }
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[pick(0...elements.count - 1)] }

    private mutating func write(_ piece: String) {
        text += piece
        for scalar in piece.unicodeScalars {
            if scalar == "\n" {
                line += 1
                column = 1
            } else {
                column += 1
            }
        }
    }

    private mutating func mention(_ path: [PathPart]) {
        if expected[path] == nil { expected[path] = TOMLPosition(line: line, column: column) }
    }

    private mutating func blank() { write(pick(["", "", " ", "  ", "\t"])) }

    private mutating func endLine() {
        blank()
        if pick(0...3) == 0 { write(pick(["# a = [ { \" ' ''' \"\"\"", "#", "# Grüße 📷 [x]"])) }
        write(lineEnd)
        for _ in 0..<pick(0...2) {
            write(pick(["", "  ", "\t# [no.header]", "#x = 1", "# \"\"\""]))
            write(lineEnd)
        }
    }

    /// Writes a key that was never used before, in one of the ways to write it.
    private mutating func newName() -> (name: String, written: String) {
        names += 1
        switch pick(0...5) {
        case 0: return ("k\(names).x [y] = #", "\"k\(names).x [y] = #\"")
        case 1: return ("ü\(names)📷\"\\", "\"ü\(names)\\U0001F4F7\\\"\\\\\"")
        case 2: return ("q\(names)\"'", "\"q\(names)\\\"'\"")
        case 3: return ("\(names) {\\n}\"", "'\(names) {\\n}\"'")
        case 4: return ("\(names)", "\(names)")
        default: return ("k_\(names)-", "k_\(names)-")
        }
    }

    /// One to three new parts, dotted.
    private mutating func newPath(below parent: [PathPart]) -> [PathPart] {
        var path = parent
        let count = pick(1...3)
        for number in 0..<count {
            let (name, written) = newName()
            path.append(.key(name))
            mention(path)
            write(written)
            if number < count - 1 {
                blank()
                write(".")
                blank()
            }
        }
        return path
    }

    private mutating func keyLine(in table: [PathPart]) {
        blank()
        keyValue(in: table, depth: 0)
        endLine()
    }

    private mutating func keyValue(in table: [PathPart], depth: Int) {
        let path = newPath(below: table)
        blank()
        write("=")
        blank()
        value(path, depth: depth)
    }

    private mutating func table() {
        blank()
        write("[")
        blank()
        let path = newPath(below: [])
        blank()
        write("]")
        endLine()
        for _ in 0..<pick(0...3) { keyLine(in: path) }
    }

    private mutating func arrayOfTables() {
        let (name, written) = newName()
        for number in 0..<pick(1...3) {
            blank()
            write("[[")
            blank()
            mention([.key(name)])
            mention([.key(name), .index(number)])
            write(written)
            blank()
            write("]]")
            endLine()
            for _ in 0..<pick(0...2) { keyLine(in: [.key(name), .index(number)]) }
            if pick(0...1) == 0 {
                write("[\(written).")
                let path = newPath(below: [.key(name), .index(number)])
                write("]")
                endLine()
                for _ in 0..<pick(0...2) { keyLine(in: path) }
            }
        }
    }

    private mutating func value(_ path: [PathPart], depth: Int) {
        let plain = [
            "1", "-0x1F".replacing("-", with: ""), "+99", "1_000", "1e9", "-0.5", "inf", "nan", "true", "false",
            "1979-05-27", "07:32:00.5", "1979-05-27 07:32:00", "1979-05-27T07:32:00-07:00", "0xDEAD_beef", "0o17",
            "0b1_0",
            "-9223372036854775808", "2024-02-29t23:59:59.123456z", "6.02_2e+2_3", "-nan", "+inf", "\"\"", "''",
            "\"a # b\"",
            "'C:\\x'", "\"\\\"[{\\u00e9\"", "\"ü📷\"", "\"a = 1\"",
        ]
        // An inline table stands in one line in TOML 1.0, but its strings and lists may go over several.
        let long = [
            "\"\"\"\(lineEnd)a = 1\(lineEnd)[b]\"\"\"", "'''a\(lineEnd)'' \"\"\" #\(lineEnd)'''", "\"\"\"\"\"\"",
            "''''''",
            "\"\"\"x\\\(lineEnd)   y \\\"\"\" \"\"\"", "\"\"\"q\"\"\"\"\"", "'''q'''''",
        ]
        switch pick(0...(depth < 4 ? 5 : 3)) {
        case 0...2: write(pick(plain))
        case 3: write(pick(long))
        case 4:
            write("[")
            let count = pick(0...3)
            for number in 0..<count {
                lines()
                mention(path + [.index(number)])
                value(path + [.index(number)], depth: depth + 1)
                lines()
                if number < count - 1 || pick(0...1) == 0 { write(",") }
            }
            lines()
            write("]")
        default:
            write("{")
            blank()
            let count = pick(0...3)
            for number in 0..<count {
                keyValue(in: path, depth: depth + 1)
                blank()
                if number < count - 1 { write(",") }
                blank()
            }
            write("}")
        }
    }

    private mutating func lines() {
        blank()
        if pick(0...2) == 0 {
            if pick(0...1) == 0 { write("# ] , }") }
            write(lineEnd)
            blank()
        }
    }
}
