import ControlAPI
import Foundation
import Testing

@testable import BoxView

struct ShellVariablesTests {
    private struct Document: Codable {
        var name: String
        var bitsPerSecond = 2.5
        var isLive = true
        var count = 3
        var list: [String] = []
        var none: String?
    }

    @Test func `names, numbers, lists and what is missing`() {
        let lines = ShellVariables.lines(JSONDocument.text(Document(name: "front", list: ["a", "b c"])))
        #expect(
            lines == [
                "WATCHBOX_BITS_PER_SECOND=2.5", "WATCHBOX_COUNT=3", "WATCHBOX_IS_LIVE=1", "WATCHBOX_LIST_COUNT=2",
                "WATCHBOX_LIST_0='a'", "WATCHBOX_LIST_1='b c'", "WATCHBOX_NAME='front'",
            ])
        #expect(ShellVariables.lines("no JSON").isEmpty)
    }

    /// A real shell reads back what was meant, and runs nothing.
    @Test func `hostile strings come out of a shell as they went in`() throws {
        let texts = [
            "", "plain", "it's", "'", "''", "\"; touch /tmp/x; \"", "$(reboot)", "`reboot`", "${HOME}", "a\\", "\\'",
            "a\nb", "\n", "\t",
            "; rm -rf /", "&& true", "| cat", "# comment", "*", "~", "!", "日本 🎥", "'$(echo hi)'", "\u{1B}[31m", "-n",
            "a'b\"c`d$e\\f",
            "\r", "%s%n", "=", "x=y; y=z", String(repeating: "'", count: 200),
        ]
        let lines = ShellVariables.lines(JSONDocument.text(Document(name: "x", list: texts)))
        // The x after it keeps a line feed at the end from being dropped by the shell's own quoting of results.
        let script =
            lines.joined(separator: "\n") + "\n"
            + texts.indices.map { "printf '%s\\0' \"$WATCHBOX_LIST_\($0)\"" }.joined(separator: "\n")
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-eu", "-c", "eval \"$1\"", "sh", script]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let data = try #require(try output.fileHandleForReading.readToEnd())
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        let found = data.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(Array(found.dropLast()) == texts)
    }

    @Test func `a key that is not a name cannot become a command`() throws {
        let lines = ShellVariables.lines(#"{"a; reboot #":1,"$(x)":"y","ünï":true,"0":2}"#)
        for line in lines {
            let name = line.prefix { $0 != "=" }
            #expect(name.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }, "\(line)")
        }
        #expect(lines.count == 4)
    }

    @Test func `a NUL, which no variable can hold, is left out`() {
        #expect(ShellVariables.lines(#"{"name":"a\u0000b"}"#) == ["WATCHBOX_NAME='ab'"])
    }
}
