import TestSupport
import Testing

@testable import TOML

struct WriterTests {
    @Test func `a document has one form`() throws {
        var writer = TOMLWriter()
        writer.line("version", .integer(1))
        writer.table(["camera", "front.door", ""])
        writer.line("a key", .string("\"\\\u{0}\u{7F}\u{85}\t\né📷"))
        writer.line("list", .array([.float(1), .float(-.infinity), .float(.nan), .boolean(true), .array([])]))
        writer.line("inline", .table([("b-c", .float(1e-7)), ("", .table([])), ("é", .integer(.min))]))
        #expect(
            writer.text == """
                version = 1

                [camera."front.door".""]
                "a key" = "\\"\\\\\\u0000\\u007F\\u0085\\u0009\\u000Aé📷"
                list = [1.0, -inf, nan, true, []]
                inline = { b-c = 1e-07, "" = {}, "é" = -9223372036854775808 }

                """)
        #expect(
            try Words.of(writer.text).hasPrefix("{camera:{front.door:{:{a key:'\"\\\u{0}\u{7F}\u{85}\t\né📷',inline:"))
        #expect(TOMLWriter().text == "")
    }

    @Test(arguments: UInt64(0)..<200)
    func `what is written reads back to the same`(seed: UInt64) throws {
        let table = try TOMLReader.read(DocumentWriter(seed: seed).text)
        var writer = TOMLWriter()
        for entry in table.entries { writer.line(entry.key, Self.text(entry.node.value)) }
        let read = try TOMLReader.read(writer.text)
        #expect(Words.of(.table(read), exactly: true) == Words.of(Self.withoutDates(.table(table)), exactly: true))
        var again = TOMLWriter()
        for entry in read.entries { again.line(entry.key, Self.text(entry.node.value)) }
        #expect(again.text == writer.text)
    }

    @Test(arguments: UInt64(0)..<20)
    func `any text and any number survive`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = String(decoding: generator.bytes(Int.random(in: 0...20, using: &generator)), as: UTF8.self)
            let number = Double(bitPattern: generator.next())
            var writer = TOMLWriter()
            writer.table([text, "x"])
            writer.line(text, .string(text))
            writer.line("float-of", .float(number))
            let document = try TOMLReader.read(writer.text)
            guard case .table(let outer)? = document[text]?.value, case .table(let table)? = outer["x"]?.value,
                case .string(let read)? = table[text]?.value, case .float(let readNumber)? = table["float-of"]?.value
            else {
                Issue.record("\(writer.text)")
                continue
            }
            #expect(read.utf8.elementsEqual(text.utf8))
            #expect(Words.bits(readNumber) == Words.bits(number))
        }
    }

    private static func text(_ value: TOMLValue) -> TOMLText {
        switch value {
        case .string(let text): .string(text)
        case .integer(let number): .integer(number)
        case .float(let number): .float(number)
        case .boolean(let flag): .boolean(flag)
        case .array(let nodes): .array(nodes.map { text($0.value) })
        case .table(let table): .table(table.entries.map { ($0.key, text($0.node.value)) })
        case .localDate, .localTime, .localDateTime, .offsetDateTime: .string(Words.of(value, exactly: true))
        }
    }

    private static func withoutDates(_ value: TOMLValue) -> TOMLValue {
        func node(_ node: TOMLNode) -> TOMLNode {
            TOMLNode(value: withoutDates(node.value), position: node.position, keyPosition: node.keyPosition)
        }
        switch value {
        case .array(let nodes): return .array(nodes.map(node))
        case .table(let table):
            return .table(TOMLTable(table.entries.map { TOMLTable.Entry(key: $0.key, node: node($0.node)) }))
        case .localDate, .localTime, .localDateTime, .offsetDateTime: return .string(Words.of(value, exactly: true))
        case .string, .integer, .float, .boolean: return value
        }
    }
}
