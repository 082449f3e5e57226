import Testing
import Wire

@Suite struct ShownTextTests {
    /// UAX #9 §2: every character whose only work is to turn the direction of what stands around it.
    private static let bidirectional: [Unicode.Scalar] =
        ["\u{61C}", "\u{200E}", "\u{200F}"] + (0x202A...0x202E).compactMap { Unicode.Scalar($0) }
        + (0x2066...0x2069).compactMap { Unicode.Scalar($0) }

    @Test func `nothing that steers a terminal, breaks a line or turns its direction is printable`() {
        let controls = (0..<0x20).compactMap { Unicode.Scalar($0) } + (0x7F..<0xA0).compactMap { Unicode.Scalar($0) }
        let others: [Unicode.Scalar] = ["\u{2028}", "\u{2029}", "\u{FEFF}", "\u{AD}", "\u{200B}", "\u{E0041}"]
        for scalar in Self.bidirectional + controls + others {
            #expect(!ShownText.isPrintable(scalar), "\(String(scalar.value, radix: 16))")
            #expect(!ShownText.isPrintable("a\(scalar)b"))
            #expect(ShownText.cleaned("a\(scalar)b") == "a b")
            #expect(ShownText.cleaned("a\(scalar)b", limit: 2, replacing: nil) == "ab")
            #expect(ShownText.line("a\(scalar)b", bytes: 9) == "a b")
            #expect(ShownText.ascii("a\(scalar)b", limit: 9) == "a?b")
        }
    }

    @Test(arguments: ["", " ", "a~", "Haustür", "日本の玄関", "\u{A0}", "👩‍👩‍👧‍👦", "می\u{200C}خواهم", "e\u{301}", "שלום"])
    func `what people write is`(text: String) {
        #expect(ShownText.isPrintable(text))
        #expect(ShownText.cleaned(text) == text)
    }

    @Test func `limits count what is kept`() {
        #expect(ShownText.cleaned("a\nbcd", limit: 3, replacing: "?") == "a?b")
        #expect(ShownText.cleaned("\n\n", limit: 0) == "")
        #expect(ShownText.ascii("a ü\nb", limit: 4) == "a???")
        #expect(ShownText.ascii("a ü\nbc", limit: 2, replacing: nil) == "ab")
    }

    @Test func `a line is cut between two scalars, and may say so`() {
        #expect(ShownText.line("aää", bytes: 5, mark: "…") == "aää")
        #expect(ShownText.line("aää", bytes: 4, mark: "…") == "aä…")
        #expect(ShownText.line("aää", bytes: 0) == "")
    }
}
