import Testing

@testable import TOML

struct PositionTests {
    private func position(_ text: String, _ path: PathPart...) throws -> [Int]? {
        Words.places(.table(try TOMLReader.read(text)))[path].map { [$0.line, $0.column] }
    }

    @Test func `each way to write a key is found`() throws {
        #expect(try position("a = 1", .key("a")) == [1, 1])
        #expect(try position("\n  a.b . c = 1", .key("a"), .key("b"), .key("c")) == [2, 9])
        #expect(try position("[a.b]\nc = 1", .key("a"), .key("b")) == [1, 4])
        #expect(try position("[a.b]\nc = 1", .key("a"), .key("b"), .key("c")) == [2, 1])
        #expect(try position("\"a.b\" = 1", .key("a.b")) == [1, 1])
        #expect(try position("'a\\u0041' = 1", .key("a\\u0041")) == [1, 1])
        #expect(try position("\"a\\u0041\" = 1", .key("aA")) == [1, 1])
        #expect(try position("x = { a = 1, b = { c = 2 } }", .key("x"), .key("b"), .key("c")) == [1, 20])
        #expect(try position("[[a]]\nb=1\n[[a]]\nb=2", .key("a"), .index(1), .key("b")) == [4, 1])
        #expect(try position("[[a]]\n[a.b]\n[[a]]\n [a.b]", .key("a"), .index(1), .key("b")) == [4, 5])
        #expect(try position("a = [\n 1,\n { b = 1 }]", .key("a"), .index(1), .key("b")) == [3, 4])
        #expect(try position("[a.b]\n[a]\nc = 1", .key("a")) == [1, 2])
        #expect(try position("a = 1", .key("b")) == nil)
    }

    @Test func `columns count characters, and lines end in either way`() throws {
        #expect(try position("x = \"📷ü\"\r\n\"ü\".b = 1\r\n", .key("ü"), .key("b")) == [2, 5])
        #expect(try position("x = { \"📷\" = 1, b = 2 }", .key("x"), .key("b")) == [1, 16])
        #expect(try position("\u{FEFF}a = 1", .key("a")) == [1, 1])
        #expect(try position("\ta = 1", .key("a")) == [1, 2])
    }

    @Test func `what looks like a key in a string or a comment is not one`() throws {
        let text =
            "# a = 1\nb = \"\"\"\na = 1\n[a]\n\\\"\"\" a\n\"\"\"\nc = '''\na = 1'''\nd = \"a = 1 # \" # a = 1\na = 1\n"
        #expect(try position(text, .key("a")) == [10, 1])
        #expect(try TOMLReader.read(text).keys == ["b", "c", "d", "a"])
    }

    @Test func `a value's place is its own`() throws {
        let table = try TOMLReader.read("# 🚪\r\n\r\n  a = '🚪'\n[b.x]\n[b]\n\"c\".d = [\n 5]\n[[e]]\n")
        func places(_ node: TOMLNode?) -> [[Int]]? {
            node.map { [[$0.keyPosition.line, $0.keyPosition.column], [$0.position.line, $0.position.column]] }
        }
        #expect(places(table["a"]) == [[3, 3], [3, 7]])
        // A header defines the table that another one passed.
        #expect(places(table["b"]) == [[4, 2], [5, 2]])
        #expect(places(table["e"]) == [[8, 3], [8, 3]])
        guard case .table(let b)? = table["b"]?.value, case .table(let c)? = b["c"]?.value,
            case .array(let d)? = c["d"]?.value, case .array(let e)? = table["e"]?.value
        else {
            Issue.record("another structure")
            return
        }
        #expect(places(b["c"]) == [[6, 1], [6, 1]])
        #expect(places(c["d"]) == [[6, 5], [6, 9]])
        #expect(places(d.first) == [[7, 2], [7, 2]])
        #expect(places(e.first) == [[8, 3], [8, 3]])
        #expect(c["x"] == nil && b.keys == ["x", "c"])
    }

    @Test(arguments: UInt64(0)..<400)
    func `each key of a random document is where it was written`(seed: UInt64) throws {
        let document = DocumentWriter(seed: seed)
        let places = Words.places(.table(try TOMLReader.read(document.text)))
        #expect(places == document.expected, "\(document.text)")
    }

    @Test func `positions are in the order of the text`() {
        #expect(TOMLPosition(line: 1, column: 9) < TOMLPosition(line: 2, column: 1))
        #expect(TOMLPosition(line: 2, column: 1) < TOMLPosition(line: 2, column: 2))
    }
}
