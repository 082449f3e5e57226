import Testing

@testable import TOML

/// What TOML 1.0 forbids, most of it in the wording of https://toml.io/en/v1.0.0.
struct InvalidTextTests {
    private func error(_ text: String) throws -> TOMLError {
        let error = #expect(throws: TOMLError.self, "\(text.debugDescription)") { try TOMLReader.read(text) }
        return try #require(error)
    }

    @Test(
        arguments: [
            ("key = # INVALID", 1, 7, .valueMissing), ("first = \"Tom\" last = \"P\"", 1, 15, .lineGoesOn),
            ("= \"no key name\"", 1, 1, .keyMissing), ("\"\"\"key\"\"\" = 1", 1, 1, .keyOfSeveralLines),
            ("'''key''' = 1", 1, 1, .keyOfSeveralLines), ("a", 1, 2, .equalsMissing),
            ("a\nb = 1", 1, 2, .equalsMissing),
            ("a b = 1", 1, 3, .equalsMissing), ("a. = 1", 1, 4, .keyMissing), (".a = 1", 1, 1, .keyMissing),
            ("a..b = 1", 1, 3, .keyMissing), ("é = 1", 1, 1, .keyMissing), ("\u{A0}a = 1", 1, 1, .keyMissing),
            ("# \u{7F}", 1, 3, .controlCharacter), ("# \u{0}", 1, 3, .controlCharacter),
            ("# a\rb", 1, 4, .controlCharacter),
            ("a = \"\u{1}\"", 1, 6, .controlCharacter), ("a = 'x\u{7F}'", 1, 7, .controlCharacter),
            ("a = '''\n\u{0}'''", 2, 1, .controlCharacter), ("a = \"\"\"x\ry\"\"\"", 1, 9, .controlCharacter),
            ("a\r= 1", 1, 2, .equalsMissing), ("a = 1\r", 1, 6, .lineGoesOn), ("\u{0}", 1, 1, .keyMissing),
            ("a = \"x\ny\"", 1, 7, .stringNotClosed), ("a = 'x\r\n'", 1, 7, .stringNotClosed),
            ("a = \"", 1, 5, .stringNotClosed),
            ("a = \"\\", 1, 6, .stringNotClosed), ("a = '''x''", 1, 5, .longStringNotClosed),
            ("a = \"\"\"x\"\"", 1, 5, .longStringNotClosed), ("a = \"\"\"x\"\"\"\"\"\"", 1, 14, .lineGoesOn),
            ("a = ''''''''''", 1, 13, .lineGoesOn), (#"a = "\q""#, 1, 6, .unknownEscape),
            (#"a = "\x41""#, 1, 6, .unknownEscape),
            ("a = \"\"\"\\ x\"\"\"", 1, 8, .unknownEscape), ("a = \"\\\n\"", 1, 6, .unknownEscape),
            (#"a = "\u12""#, 1, 6, .escapeTooShort(digits: 4)), (#"a = "\U0000004""#, 1, 6, .escapeTooShort(digits: 8)),
            (#"a = "\ud800""#, 1, 6, .escapeNamesNoCharacter), (#"a = "\U00110000""#, 1, 6, .escapeNamesNoCharacter),
            (#"a = "\UFFFFFFFF""#, 1, 6, .escapeNamesNoCharacter), ("a = 9223372036854775808", 1, 5, .numberOutOfRange),
            ("a = -9223372036854775809", 1, 5, .numberOutOfRange), ("a = 0x8000000000000000", 1, 5, .numberOutOfRange),
            ("a = 1e999", 1, 5, .numberOutOfRange), ("a = 2023-02-29", 1, 5, .noSuchTime),
            ("a = 1900-02-29", 1, 5, .noSuchTime),
            ("a = 2023-13-01", 1, 5, .noSuchTime), ("a = 2023-00-01", 1, 5, .noSuchTime),
            ("a = 2023-04-31", 1, 5, .noSuchTime),
            ("a = 2023-01-00T00:00:00Z", 1, 5, .noSuchTime), ("a = 24:00:00", 1, 5, .noSuchTime),
            ("a = 23:60:00", 1, 5, .noSuchTime), ("a = 23:59:61", 1, 5, .noSuchTime),
            ("a = 2023-01-01T00:00:00+24:00", 1, 5, .noSuchTime), ("a = 2023-01-01T00:00:00-00:60", 1, 5, .noSuchTime),
            ("a = [1 2]", 1, 8, .arrayNotContinued), ("a = [1", 1, 7, .arrayNotContinued),
            ("a = [1,,2]", 1, 8, .valueMissing),
            ("a = [,]", 1, 6, .valueMissing), ("a = [}", 1, 6, .valueMissing), ("a = ['x', }", 1, 11, .valueMissing),
            ("a = [", 1, 6, .valueMissing), ("a = {", 1, 6, .keyMissing), ("a = {b}", 1, 7, .equalsMissing),
            ("a = {b = 1", 1, 11, .inlineTableNotContinued), ("a = {b = 1,}", 1, 12, .keyMissing),
            ("a = {,}", 1, 6, .keyMissing),
            ("a = {\nb = 1}", 1, 6, .keyMissing), ("a = {b = 1\n}", 1, 11, .inlineTableNotContinued),
            ("a = {b = 1 # x\n}", 1, 12, .inlineTableNotContinued), ("[]", 1, 2, .keyMissing),
            ("[a", 1, 3, .headerNotClosed),
            ("[[a]", 1, 5, .headerNotClosed), ("[a]]", 1, 4, .lineGoesOn), ("[a] b = 1", 1, 5, .lineGoesOn),
            ("[ [a]]", 1, 3, .keyMissing), ("[[a] ]", 1, 5, .headerNotClosed), ("[a.]", 1, 4, .keyMissing),
            ("[\na]", 1, 2, .keyMissing), ("[&", 1, 2, .keyMissing), ("[", 1, 2, .keyMissing),
            ("[=", 1, 2, .keyMissing),
            ("[[[a]]]", 1, 3, .keyMissing),
        ] as [(String, Int, Int, TOMLError.Reason)])
    func `is refused at its place`(text: String, line: Int, column: Int, reason: TOMLError.Reason) throws {
        #expect(try error(text) == TOMLError(position: TOMLPosition(line: line, column: column), reason: reason))
        let later = try error("# x\r\nzz = 1\n" + text)
        #expect(later == TOMLError(position: TOMLPosition(line: line + 2, column: column), reason: reason))
    }

    @Test(
        arguments: [
            ("name = 1\nname = 2", 2, 1, .redefined(path: ["name"])),
            ("spelling = 1\n\"spelling\" = 2", 2, 1, .redefined(path: ["spelling"])),
            ("fruit.apple = 1\nfruit.apple.smooth = true", 2, 7, .complete(path: ["fruit", "apple"])),
            ("a.b = 1\na.b = 2", 2, 3, .redefined(path: ["a", "b"])),
            ("a.b.c = 1\na.b = 2", 2, 3, .redefined(path: ["a", "b"])),
            ("[fruit]\n[fruit]", 2, 2, .redefined(path: ["fruit"])),
            ("[fruit]\napple = 1\n[fruit.apple]", 3, 8, .redefined(path: ["fruit", "apple"])),
            ("[fruit]\napple = 1\n[fruit.apple.x]", 3, 8, .complete(path: ["fruit", "apple"])),
            ("[fruit]\napple.color = 1\n[fruit.apple]", 3, 8, .redefined(path: ["fruit", "apple"])),
            (
                "[fruit]\napple.taste.sweet = 1\n[fruit.apple.taste]", 3, 14,
                .redefined(path: ["fruit", "apple", "taste"])
            ),
            ("[a.b.c]\nz = 9\n[a]\nb.c.t = 1", 4, 3, .redefined(path: ["a", "b", "c"])),
            ("[a.b]\n[a]\nb.c = 1", 3, 1, .redefined(path: ["a", "b"])),
            ("[[a.b]]\n[a]\nb.y = 2", 3, 1, .redefined(path: ["a", "b"])),
            ("[product]\ntype = { name = 1 }\ntype.edible = false", 3, 1, .complete(path: ["product", "type"])),
            ("[product]\ntype.name = 1\ntype = { edible = false }", 3, 1, .redefined(path: ["product", "type"])),
            ("a = {}\n[a.b]", 2, 2, .complete(path: ["a"])), ("a = {}\n[a]", 2, 2, .redefined(path: ["a"])),
            ("a = { b = {} }\n[a.b.c]", 2, 2, .complete(path: ["a"])),
            ("a = {b = 1, b = 2}", 1, 13, .redefined(path: ["a", "b"])),
            ("a = {b = {}, b.c = 1}", 1, 14, .complete(path: ["a", "b"])),
            ("a = {b.c = 1, b = 2}", 1, 15, .redefined(path: ["a", "b"])),
            ("[fruit.physical]\n[[fruit]]", 2, 3, .redefined(path: ["fruit"])),
            ("fruits = []\n[[fruits]]", 2, 3, .redefined(path: ["fruits"])),
            ("a = [{}]\n[a.b]", 2, 2, .complete(path: ["a"])), ("a = [{}]\n[[a.b]]", 2, 3, .complete(path: ["a"])),
            ("[[fruits]]\n[[fruits.varieties]]\n[fruits.varieties]", 3, 9, .redefined(path: ["fruits", "varieties"])),
            ("[[fruits]]\n[fruits.physical]\n[[fruits.physical]]", 3, 10, .redefined(path: ["fruits", "physical"])),
            ("[[a]]\n[a]", 2, 2, .redefined(path: ["a"])), ("[a]\n[[a]]", 2, 3, .redefined(path: ["a"])),
            ("a = 1\n[a.b]", 2, 2, .complete(path: ["a"])),
            ("[a.b.c]\n[a]\nb.d = 1\n[a.b]", 4, 4, .redefined(path: ["a", "b"])),
            ("[a]\nb.c = 1\n[a.b]\n", 3, 4, .redefined(path: ["a", "b"])),
            ("a.b = 1\n[a]", 2, 2, .redefined(path: ["a"])),
            ("[[a]]\nb = 1\nb = 2", 3, 1, .redefined(path: ["a", "b"])),
            ("[t]\n[[t.a]]\nx = { y = 1, 'y' = 2 }", 3, 14, .redefined(path: ["t", "a", "x", "y"])),
        ] as [(String, Int, Int, TOMLError.Reason)])
    func `what is there twice is named with its whole key`(
        text: String, line: Int, column: Int, reason: TOMLError.Reason
    ) throws {
        #expect(try error(text) == TOMLError(position: TOMLPosition(line: line, column: column), reason: reason))
    }

    /// toml++ 3.4 stops the process at some of them.
    @Test(arguments: [
        "1:", "12:x", "07:32", "07:32:", "07:32:0", "07:32:00.", "7:32:00", "1979-05-27T", "1979-05-27T:",
        "1979-05-27 0",
        "1979-05-27T07:32", "1979-05-27T07:32:00+", "1979-05-27T07:32:00-07", "1979-05-", "1979-05-27T07:32:00ZZ",
        "07:32:00Z", "0x", "0b2", "0o8", "0x_1", "1_", "_1", "1__0", "00", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+",
        "+", "-", "+0x1", "-0x1", "0XFF", "tru", "True", "in", "Inf", "+nan1", "1979-05-27 07:32", "--1", "1-1",
        "1:1:1:1", "..", "+-1", "e1", "12345-01-01", "7.", "3.e+20", "1._5", "1_.5", "1e_5", "0_0", "1979-05-27x",
        "1979-05-27T07:32:00.Z", "1979/05/27", "truefalse", "0x1.8", "0b1e5", "?", "$x", "hello",
    ])
    func `what only looks like a number or a time is refused`(value: String) throws {
        for text in ["a = \(value)", "a = [\(value)]", "a = { b = \(value) }"] {
            _ = try error(text)
        }
    }

    @Test(arguments: [
        "a = hunter2Q9x", "x = 'hunter2Q9x", "a = \"hunter2Q9x\" hunter2Q9x", "a = 12hunter2Q9x",
        "a = \"\\hunter2Q9x\"",
        "a = [ 'x' hunter2Q9x ]", "a = \"\u{1}hunter2Q9x\"", "a = '''hunter2Q9x", "a = 'hunter2Q9x'\na = 'hunter2Q9x'",
    ])
    func `an error does not repeat a value`(text: String) throws {
        let error = try error(text)
        #expect(!"\(error) \(error.reason)".contains("hunter2Q9x"))
    }

    @Test func `an error's text is short and cannot control a terminal`() throws {
        let name = "\\u001b[31m\\u202e`" + String(repeating: "é", count: 200)
        let words = try error("\"\(name)\" = 1\n\"\(name)\" = 1").reason.description
        #expect(words.hasPrefix("`\u{FFFD}[31m\u{FFFD}\u{FFFD}éé") && words.hasSuffix("é…` is defined twice"))
        #expect(words.utf8.count < 200)
    }
}
