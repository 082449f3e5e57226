import TOML
import TOMLKit
import Testing

/// toml++, behind TOMLKit, as a second opinion. It sees only what our reader takes: other texts can end the process.
struct TOMLKitTests {
    private func compare(_ text: String) throws {
        guard let table = try? TOMLReader.read(text) else { return }
        let words = Words.of(.table(table), exactly: true)
        // It ends texts and keys at a NUL, and knows no leap seconds.
        guard !words.contains("\u{0}"), !words.contains(":60.") else { return }
        #expect(try Self.words(TOMLKit.TOMLTable(string: text)) == words, "\(text.debugDescription)")
    }

    @Test(arguments: UInt64(0)..<400)
    func `a random document means the same`(seed: UInt64) throws {
        let text = DocumentWriter(seed: seed).text
        #expect(throws: Never.self) { try TOMLReader.read(text) }
        try compare(text)
    }

    @Test(arguments: UInt64(0)..<60)
    func `a mutated document that we take means the same`(seed: UInt64) throws {
        var mutator = Mutator(seed: seed)
        for base in Mutator.corpus(seed: seed) {
            for _ in 0..<50 { try compare(mutator.mutate(base)) }
        }
    }

    private static func words(_ value: any TOMLValueConvertible) -> String {
        switch value.type {
        case .string: "'\(value.string ?? "")'"
        case .int: "\(value.int ?? 0)"
        case .double: Words.bits(value.double ?? 0)
        case .bool: "\(value.bool ?? false)"
        case .date: value.date.map(date) ?? ""
        case .time: value.time.map(time) ?? ""
        case .dateTime:
            value.dateTime.map { "\(date($0.date))T\(time($0.time))\($0.offset.map { "Z\($0.offset)" } ?? "")" } ?? ""
        case .array: "[\((value.array.map(Array.init) ?? []).map(words).joined(separator: ","))]"
        case .table: value.table.map(words) ?? ""
        }
    }

    private static func words(_ table: TOMLKit.TOMLTable) -> String {
        let keys = table.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return "{\(keys.map { key in "\(key):\(table[key].map(words) ?? "")" }.joined(separator: ","))}"
    }

    private static func date(_ date: TOMLKit.TOMLDate) -> String { "\(date.year)-\(date.month)-\(date.day)" }

    private static func time(_ time: TOMLKit.TOMLTime) -> String {
        "\(time.hour):\(time.minute):\(time.second).\(time.nanoSecond / 1000)"
    }
}
