import TOML
import TestSupport
import Testing

struct LimitTests {
    private func error(_ text: String) throws -> TOMLError {
        try #require(#expect(throws: TOMLError.self) { try TOMLReader.read(text) })
    }

    @Test(arguments: [TOMLReader.depthLimit + 1, 10_000, 80_000])
    func `deep nesting is refused with its place`(depth: Int) throws {
        let texts = [
            "a = " + String(repeating: "[", count: depth),
            "a = " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth),
            "a = " + String(repeating: "{a=", count: depth),
            "a = " + String(repeating: "[{a=", count: depth / 2), String(repeating: "a.", count: depth) + "a = 1",
            "[" + String(repeating: "a.", count: depth) + "a]",
            "a = {" + String(repeating: "a.", count: depth) + "a = 1}",
            String(repeating: "\"\".", count: depth) + "x = 1",
        ]
        for text in texts where text.utf8.count <= TOMLReader.sizeLimit {
            let error = try error(text)
            #expect(error.reason == .tooDeep(limit: TOMLReader.depthLimit), "\(text.prefix(60))")
            #expect(error.position.line == 1)
        }
        #expect(try error(String(repeating: "[", count: depth)).reason == .keyMissing)
    }

    @Test func `nesting up to the limit is read`() throws {
        let limit = TOMLReader.depthLimit
        let lists = String(repeating: "[", count: limit - 1) + "1" + String(repeating: "]", count: limit - 1)
        let dots = (1..<limit).map { "p\($0)" }.joined(separator: ".")
        let half = (0..<limit / 2).map { "h\($0)" }.joined(separator: ".")
        for text in [
            "a = \(lists)", "\(dots).x = 1", "[\(dots)]\nx = 1", "[\(half)]\n\(half) = 1", "[[a]]\n[a.\(half)]",
        ] {
            #expect(throws: Never.self) { try TOMLReader.read(text) }
        }
        for text in ["a = [\(lists)]", "[\(half)]\n\(half).x = 1", "[\(dots)]\nx.y = 1", "[\(dots)]\nx = [1]"] {
            #expect(try error(text).reason == .tooDeep(limit: limit))
        }
    }

    @Test func `text is read up to its limit`() throws {
        let fill = "a = 1\n" + String(repeating: "#", count: TOMLReader.sizeLimit - 6)
        #expect(try TOMLReader.read(fill).keys == ["a"])
        #expect(try error(fill + "#").reason == .tooLong(limit: TOMLReader.sizeLimit))
    }

    @Test func `keys and elements are counted`() throws {
        let limit = TOMLReader.keyLimit
        #expect(try TOMLReader.read((0..<limit).map { "k\($0)=1\n" }.joined()).entries.count == limit)
        #expect(try error((0...limit).map { "k\($0)=1\n" }.joined()).reason == .tooManyKeys(limit: limit))
        #expect(try error("a=[" + String(repeating: "0,", count: limit) + "]").reason == .tooManyKeys(limit: limit))
        let tables = String(repeating: "[[a]]\n", count: 40_000)
        #expect(try error(tables).reason == .tooManyKeys(limit: limit))
        guard case .array(let read)? = try TOMLReader.read(tables, keyLimit: 40_001)["a"]?.value else {
            Issue.record("no list")
            return
        }
        #expect(read.count == 40_000)
    }

    @Test func `long numbers and strings are read or refused`() throws {
        let digits = String(repeating: "1", count: 200_000)
        #expect(try error("a = \(digits)").reason == .numberOutOfRange)
        #expect(try error("a = \(digits).0").reason == .numberOutOfRange)
        #expect(try Words.of("a = 0.\(digits)") == "{a:\(1.0 / 9)}")
        #expect(try Words.of("a = '\(digits)'") == "{a:'\(digits)'}")
        #expect(try error("a = 1e\(digits)").reason == .numberOutOfRange)
    }

    /// Bytes are taken out, put in, doubled and replaced; every answer is a table, or an error inside the text.
    @Test(arguments: UInt64(0)..<40)
    func `a mutated document never traps`(seed: UInt64) throws {
        var mutator = Mutator(seed: seed)
        for base in Mutator.corpus(seed: seed) {
            for _ in 0..<50 {
                let text = mutator.mutate(base)
                do throws(TOMLError) {
                    _ = try TOMLReader.read(text)
                } catch {
                    let lines = text.utf8.count { $0 == 0x0A } + 1
                    #expect((1...lines).contains(error.position.line) && error.position.column >= 1)
                    #expect((1...200).contains(error.reason.description.utf8.count))
                }
            }
        }
    }

    @Test(arguments: UInt64(0)..<4)
    func `each beginning of a document is read or refused`(seed: UInt64) {
        for base in Mutator.corpus(seed: seed) {
            let bytes = Array(base.utf8)
            for count in bytes.indices { _ = try? TOMLReader.read(String(decoding: bytes[..<count], as: UTF8.self)) }
        }
    }
}
