import Testing
import Wire

@Suite struct NamesTests {
    @Test(arguments: ["a", "0", "front-door", "a-b-c", "123456"])
    func `single hyphens stand between letters and digits`(name: String) {
        #expect(Names.isHyphenated(name, limit: 10))
        #expect(!Names.isHyphenated(name, limit: name.utf8.count - 1))
    }

    @Test(arguments: ["", "-", "-a", "a-", "a--b", "A", "a_b", "ä", "a b", "a/b", ".", "a\n", "e\u{301}"])
    func `and nowhere else`(name: String) {
        #expect(!Names.isHyphenated(name, limit: 10))
    }

    @Test func `a plain name has letters, digits and its own signs`() {
        #expect(Names.isPlain("aZ09._-", limit: 7))
        #expect(Names.isPlain("a@b", limit: 3, signs: "@"))
        #expect(Names.isStreamName(String(repeating: "a", count: 128)))
        #expect(!Names.isStreamName(String(repeating: "a", count: 129)))
        for name in ["", "a b", "a/b", "ä", "a\n", "a@", "e\u{301}"] { #expect(!Names.isPlain(name, limit: 7)) }
    }
}
