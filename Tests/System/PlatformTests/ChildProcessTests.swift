import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.ownThread, .timeLimit(.minutes(15))) struct ChildProcessTests {
    private func descriptors(_ connection: ChildProcess.Connection) throws -> [String] {
        let child = try ChildProcess("/bin/ls", ["ls", "/proc/self/fd"], connection: connection)
        guard case .ended(let status?, let bytes) = child.output(limit: 4096, within: .seconds(60)) else {
            Issue.record("ls did not end")
            return []
        }
        #expect(status == 0)
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a child has no descriptor but its own`() throws {
        // As libraries open them, without close-on-exec.
        let stray = fcntl(STDERR_FILENO, F_DUPFD, 100)
        try #require(stray >= 100)
        defer { close(stray) }
        // The last is the directory that it looks into.
        #expect(try descriptors(.stream) == ["0", "1", "2", "3"])
        #expect(try descriptors(.messages(memory: nil)) == ["0", "1", "2", "3"])
        #expect(try descriptors(.messages(memory: stray)) == ["0", "1", "2", "3", "4"])
    }

    @Test func `how a child ended is known even when its end takes longer than that of its socket`() throws {
        let script = "exec 0<&- 1>&-; sleep 0.5; kill -11 $$"
        let child = try ChildProcess("/bin/sh", ["sh", "-c", script], connection: .messages(memory: nil))
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(child.receive(into: &buffer, within: .seconds(60)) { false } == nil)
        #expect(child.ending(within: .seconds(600)) == "signal 11")
    }

    @Test func `a child that goes on is not waited for`() throws {
        let child = try ChildProcess("/bin/sleep", ["sleep", "600"], connection: .messages(memory: nil))
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(child.receive(into: &buffer, within: .milliseconds(1)) { false } == nil)
        // Or it would be waited for.
        #expect(child.ending(within: .seconds(600)) == nil)
    }

    private func start(_ words: [String]) throws -> pid_t {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        try #require(posix_spawn(&process, words[0], nil, nil, &arguments, environ) == 0)
        return process
    }

    private func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

    @Test func `killed children that the kernel keeps are reaped when it lets them go, and none waits for another`()
        throws
    {
        // Those that are not killed yet stand for those that are kept.
        let (first, second) = (try start(["/bin/sleep", "600"]), try start(["/bin/sleep", "600"]))
        AbandonedChildren.add(first)
        AbandonedChildren.add(second)
        for process in [second, first] {
            #expect(!isGone(process))
            kill(process, SIGKILL)
            while !isGone(process), !Task.isCancelled { usleep(5000) }
        }
    }
}
