import Testing

@testable import Platform

struct ToolRunTests {
    @Test func `status and output of a program`() throws {
        #expect(
            try ToolRun.run("sh", ["-c", "printf '%s' \"$1\"; exit 3", "sh", "a b"], seconds: 60)
                == ToolRun.Outcome(status: 3, output: Array("a b".utf8)))
    }

    @Test func `it reads nothing of ours`() throws {
        #expect(try ToolRun.run("cat", [], seconds: 60).output.isEmpty)
    }

    @Test func `more than a pipe holds`() throws {
        let outcome = try ToolRun.run("sh", ["-c", "head -c 300000 /dev/zero"], seconds: 60)
        #expect(outcome.output.count == 300_000)
    }

    @Test func `what writes for ever is ended`() {
        #expect(throws: ToolRun.Failure.tooMuchOutput(limit: 1000)) {
            try ToolRun.run("yes", [], atMost: 1000, seconds: 60)
        }
    }

    @Test func `what never ends is ended`() {
        #expect(throws: ToolRun.Failure.tooLong(seconds: 1)) { try ToolRun.run("sleep", ["600"], seconds: 1) }
    }

    @Test func `what closes its output and goes on is ended, too`() {
        #expect(throws: ToolRun.Failure.tooLong(seconds: 1)) {
            try ToolRun.run("sh", ["-c", "exec >&-; exec sleep 600"], seconds: 1)
        }
    }

    @Test func `a signal is told as a shell tells it`() throws {
        #expect(try ToolRun.run("sh", ["-c", "kill -TERM $$"], seconds: 60).status == 143)
    }

    @Test func `a program that is not there`() {
        #expect(throws: ToolRun.Failure.notStarted(ToolRun.noSuchProgram)) {
            try ToolRun.run("there-is-no-such-program", [], seconds: 60)
        }
    }

    @Test func `shown output is not kept, and its end is waited for`() throws {
        let outcome = try ToolRun.run("sh", ["-c", "exit 4"], isShown: true, seconds: 60)
        #expect(outcome == ToolRun.Outcome(status: 4, output: []))
    }
}
