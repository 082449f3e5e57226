import ErrorCatalog
import Testing

@Suite struct EndLineTests {
    @Test(arguments: [
        CodedError(
            .sourceUnreadable, "cannot open /root/film.mp4", why: "Permission denied",
            hint: "Allow this user to read it."),
        CodedError(.noEncoder, "no encoder"), CodedError(.invalidValue, "a. b", why: "c. d", hint: "e. f"),
    ])
    func `what a process leaves is what is read`(error: CodedError) throws {
        let read = try #require(CodedError(endLine: error.endLine))
        #expect(read.code == error.code)
        #expect(read.what == (error.why.map { "\(error.what): \($0)" } ?? error.what))
        #expect(read.hint == error.hint)
        #expect(read.why == nil)
    }

    @Test func `the line is for a person, too`() {
        let error = CodedError(
            .sourceUnreadable, "cannot open film.mp4", why: "Permission denied", hint: "Allow this user to read it.")
        #expect(
            error.endLine
                == "cannot run: WB-2005 cannot open film.mp4: Permission denied. Next: Allow this user to read it.")
    }

    @Test func `long texts lose their end, and the next step stays`() throws {
        let path = String(repeating: "ä", count: 4000)
        let line = CodedError(.sourceUnreadable, path, why: path, hint: "Check it").endLine
        #expect(line.utf8.count <= 512)
        let read = try #require(CodedError(endLine: line))
        #expect(read.what.hasPrefix("ää") && read.what.hasSuffix("…"))
        #expect(read.hint == "Check it")
        let longest = CodedError(.sourceUnreadable, path, why: path, hint: path).endLine
        #expect(longest.utf8.count <= 512)
        #expect(CodedError(endLine: longest) != nil)
    }

    /// Line ends would be further assignments to systemd.
    @Test func `it is one line`() throws {
        let line = CodedError(.sourceUnreadable, "a\nREADY=1\u{1b}[2J", why: "b\r\nc\u{2028}d\u{202E}e").endLine
        #expect(line == "cannot run: WB-2005 a READY=1 [2J: b  c d e.")
    }

    @Test(arguments: [
        "", "25.0 fps", "cannot run:", "cannot run: ", "cannot run: WB-2005", "cannot run: WB-2005 ",
        "cannot run: WB-2005 .", "cannot run: WB-2005  Next: x", "cannot run: 2005 it is not a code",
        "cannot run: WB-8999 a code of nothing", "cannot run: WB-99999 x", "CANNOT RUN: WB-2005 x",
        "waits: cannot run: WB-2005 x", "cannot run: WB-2005 " + String(repeating: "x", count: 2000),
    ])
    func `other text is not such a line`(text: String) {
        #expect(CodedError(endLine: text) == nil)
    }

    @Test func `an untrusted line is bounded, and harmless on a terminal`() throws {
        let read = try #require(
            CodedError(endLine: "cannot run: WB-2005 \u{1b}[2J" + String(repeating: "é", count: 480)))
        #expect(read.what.utf8.count <= 520)
        #expect(!read.what.contains("\u{1b}"))
    }
}
