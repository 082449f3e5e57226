import Testing

@testable import BoxView

struct ManualPageTests {
    private static let toolInfo = #"""
        {"serializationVersion":0,"command":{"commandName":"watchboxctl","abstract":"Run a WatchBox.",
        "discussion":"Begin with status.\n\n  watchboxctl status\n  .hidden -x\n\nThen go on.",
        "arguments":[{"kind":"flag","shouldDisplay":true,"isOptional":true,"isRepeating":false,"parsingStrategy":"default",
          "names":[{"kind":"short","name":"h"},{"kind":"long","name":"help"}],"abstract":"Show help."}],
        "subcommands":[
          {"commandName":"doctor","abstract":"Examine the box.","discussion":"Looks only.\n\n  watchboxctl doctor",
           "arguments":[
             {"kind":"positional","shouldDisplay":true,"isOptional":true,"isRepeating":true,"parsingStrategy":"default","valueName":"checks","abstract":"Only these."},
             {"kind":"option","shouldDisplay":true,"isOptional":true,"isRepeating":false,"parsingStrategy":"default",
              "names":[{"kind":"short","name":"o"},{"kind":"long","name":"format"}],"valueName":"format","defaultValue":"table","abstract":"A \"word\" with \\ in it."},
             {"kind":"flag","shouldDisplay":false,"isOptional":true,"isRepeating":false,"parsingStrategy":"default","names":[{"kind":"long","name":"secret-flag"}]}]},
          {"commandName":"manual","shouldDisplay":false,"abstract":"Hidden."},
          {"commandName":"help","abstract":"Show help."}]}}
        """#

    @Test func `a page with its commands, options and examples`() throws {
        let page = try ManualPage.roff(Self.toolInfo, section: 1, version: "0.2.0", date: "2026-11-21")
        #expect(page.hasPrefix(".TH \"WATCHBOXCTL\" 1 \"2026\\-11\\-21\" \"WatchBox 0.2.0\" \"WatchBox\"\n"))
        for part in [
            ".SH NAME\nwatchboxctl \\- Run a WatchBox.\n", ".nf\nwatchboxctl status\n\\&.hidden \\-x\n",
            ".fi\n.RE\n.PP\nThen go on.",
            ".SS \"doctor [<checks>...]\"\nExamine the box.\n", ".B \"\\-o <format>, \\-\\-format <format>\"\n",
            "A \"word\" with \\e in it. Default: table.", ".SH EXIT STATUS\n",
        ] { #expect(page.contains(part), "\(part)\n\(page)") }
        for part in ["Hidden", "secret\\-flag", "Show help"] { #expect(!page.contains(part), "\(part)") }
    }

    @Test func `another form is refused, not guessed at`() {
        for text in ["", "{}", "[]", #"{"serializationVersion":1,"command":{"commandName":"x"}}"#] {
            #expect(throws: ManualPage.Failure.notUnderstood) {
                try ManualPage.roff(text, section: 1, version: "1", date: "")
            }
        }
    }
}
