import ErrorCatalog
import FoundationEssentials
import Testing

@Suite struct CatalogTests {
    @Test func `every entry is whole`() {
        for entry in Catalog.entries {
            for (name, text) in [
                ("title", entry.title), ("cause", entry.cause), ("selfHealing", entry.selfHealing),
                ("next", entry.hint),
            ] {
                #expect(!text.isEmpty, "\(entry.code) \(name)")
                #expect(!text.contains("\n") && !text.contains("TODO"), "\(entry.code) \(name)")
            }
            #expect(!entry.title.hasSuffix("."), "\(entry.code)")
            #expect(
                entry.messageID.utf8.count == 32
                    && entry.messageID.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }, "\(entry.code)")
        }
    }

    @Test func `no number and no message ID is used twice, and retired ones stay retired`() {
        let numbers = Catalog.entries.map(\.code.rawValue)
        #expect(Set(numbers).count == numbers.count)
        #expect(Set(Catalog.entries.map(\.messageID)).count == numbers.count)
        #expect(Set(numbers).isDisjoint(with: Catalog.retired))
        #expect(numbers == numbers.sorted())
    }

    /// Journals and scripts keep the numbers.
    @Test func `the codes of capture, encoder and audio have their numbers`() {
        let codes: [(ErrorCode, UInt16)] = [
            (.deviceMissing, 2201), (.deviceNotPermitted, 2202), (.deviceUnusable, 2203), (.formatRefused, 2204),
            (.deviceFaults, 2205), (.badFrames, 2206), (.encoderHung, 2301), (.hardwareEncoderOff, 2302),
            (.noEncoder, 2303), (.encoderLimited, 2304), (.audioMissing, 2401),
        ]
        for (code, number) in codes {
            #expect(code.rawValue == number)
            #expect(code.entry?.code == code)
        }
    }

    @Test(arguments: ["WB-2107", "wb-2107", "2107"])
    func `a code is read in every form that a person types`(text: String) {
        #expect(ErrorCode(text) == .loginRefused)
        #expect(ErrorCode(text)?.entry?.code == .loginRefused)
    }

    @Test(arguments: ["", "WB-", "WB-12", "WB-0999", "WB-9000", "WB-21077", "WB-2i07", "２１０７", "-2107", "+210"])
    func `what is not a code is refused`(text: String) {
        #expect(ErrorCode(text) == nil)
    }

    @Test func `a code travels as its name`() throws {
        let data = try JSONEncoder().encode([ErrorCode.loginRefused])
        #expect(String(decoding: data, as: UTF8.self) == "[\"WB-2107\"]")
        #expect(try JSONDecoder().decode([ErrorCode].self, from: data) == [.loginRefused])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ErrorCode].self, from: Data("[\"2107 \"]".utf8))
        }
    }

    @Test func `an error says what, why and next, in the catalog's text where it has none of its own`() {
        let error = CodedError(.noSuchGeneration, "generation 12 is not kept")
        #expect(
            error.description
                == "WB-1008 generation 12 is not kept. Only the last ten generations of the configuration are kept. Next: List them: watchboxctl config history"
        )
        #expect(
            CodedError(.badRequest, "x", why: "y", hint: "z").description == "WB-8006 x. y. Next: z")
    }

    @Test(arguments: [
        ("docs/ref/errors.md", Catalog.markdown()), ("units/watchbox.catalog", Catalog.journalCatalog()),
    ])
    func `the written copies are those of the code`(path: String, expected: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
        #expect(text == expected, "write it again: watchboxctl explain --all --format markdown|journal > \(path)")
    }

    @Test func `a next step names the camera and its relay, and leaves a person's part open`() throws {
        for entry in Catalog.entries {
            let words = entry.hint(camera: "front", relay: "main").split { !$0.isLetter && $0 != "-" }
            #expect(!words.contains("ID"), "\(entry.code): \(words)")
        }
        func next(_ code: ErrorCode) throws -> String { try #require(code.entry).hint(camera: "front", relay: "main") }
        #expect(
            try next(.loginNeeded)
                == "Run: watchboxctl camera edit front --user NAME, then: watchboxctl camera password front")
        #expect(try next(.relayRefused) == "Check the URL and the key: watchboxctl relay show main")
        #expect(try #require(ErrorCode.relayRefused.entry).hint(camera: "a").hasSuffix("relay show NAME"))
    }
}
