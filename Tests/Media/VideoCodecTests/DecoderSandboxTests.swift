import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import VideoCodec

/// Against `watchboxd` itself: what the sandbox of decoders refuses, layer by layer.
@Suite(.ownThread) struct DecoderSandboxTests {
    static let watchboxd = BuiltProgram.path("watchboxd")

    private struct Outcome {
        var report: DecoderSandbox.Report?
        /// Nil: it ended with a status.
        var signal: Int32?
        var words: String
    }

    private func attempt(_ attempt: SandboxAttempt, layers: [DecoderSandbox.Layer] = [], seconds: Int = 60) throws
        -> Outcome
    {
        let words =
            [Self.watchboxd, "sandbox-check", "--try", attempt.rawValue, "--seconds", "\(seconds)"]
            + layers.flatMap { ["--layer", $0.rawValue] }
        let child = try ChildProcess(Self.watchboxd, words, isSandboxed: true)
        guard case .ended(let status?, var bytes) = child.output(limit: 4096, within: .seconds(90)) else {
            throw VideoCodecError.frameFailed("the check did not end")
        }
        let report = DecoderSandbox.Report(takenFrom: &bytes)
        let signal = status & 0x7F
        return Outcome(
            report: report, signal: signal == 0 ? nil : signal,
            words: bytes.printable.trimmingCharacters(in: .whitespaces))
    }

    @Test(arguments: [
        SandboxAttempt.open, .socket, .execve, .kill, .ptrace, .fork, .executableMemory, .sharedMemory, .growingMemory,
    ])
    func `a system call that no decoder needs ends the process`(call: SandboxAttempt) throws {
        let outcome = try attempt(call)
        try #require(outcome.report?.isFiltered == true, "this kernel filters no system calls")
        #expect(outcome.signal == SIGSYS, "\(outcome.words)")
        // The filter alone does it, whatever else the kernel has.
        #expect(try attempt(call, layers: [.seccomp]).signal == SIGSYS)
    }

    @Test func `what decoders do all day is let through`() throws {
        let outcome = try attempt(.work)
        #expect(outcome.signal == nil)
        #expect(outcome.words == "done")
    }

    @Test(
        .enabled(if: DecoderSandbox.offered.landlock != nil, "this kernel has no landlock"),
        arguments: [SandboxAttempt.open, .execve])
    func `files cannot be reached without the filter either`(call: SandboxAttempt) throws {
        let outcome = try attempt(call, layers: [.landlock])
        #expect(outcome.report?.landlock != nil)
        #expect(outcome.words == "refused \(EACCES)")
    }

    /// Memory that was written and then made read-only no longer counts as data for the kernel.
    @Test(arguments: [SandboxAttempt.memory, .readonlyMemory])
    func `memory has an end below 201 MiB`(kind: SandboxAttempt) throws {
        #expect(try attempt(kind).words == "refused \(ENOMEM)")
        #expect(try attempt(kind, layers: [.limits]).words == "refused \(ENOMEM)")
        // It is the limit that ends it.
        #expect(try attempt(kind, layers: [.seccomp]).words == "done")
    }

    @Test func `where neither of the two holds, nothing is decoded`() throws {
        var bytes = Array("sandbox 0 0\n".utf8)
        #expect(DecoderSandbox.Report(takenFrom: &bytes)?.isHeld == false)
        let script = "printf 'sandbox 0 0\\n'; exec sleep 600"
        let program = DecoderProgram(executable: "/bin/sh", arguments: ["-c", script], deadline: .seconds(30))
        #expect(throws: DecoderFault.lost(try #require(DecoderSandbox.Report(landlock: nil, isFiltered: false).lack))) {
            try FrameDecoder(program, width: 64, height: 64)
        }
    }

    @Test func `time has an end`() throws {
        #expect(try attempt(.time, seconds: 1).signal == SIGALRM)
    }

    @Test func `a line says what the kernel gave`() {
        for report in [
            DecoderSandbox.Report(landlock: 7, isFiltered: true), .init(landlock: nil, isFiltered: true),
            .init(landlock: nil, isFiltered: false),
        ] {
            var bytes = report.line + [1, 2, 3]
            #expect(DecoderSandbox.Report(takenFrom: &bytes) == report)
            #expect(bytes == [1, 2, 3])
        }
        for text in ["", "sandbox", "sandbox 7 1", "sandbox 7\n", "sandbox -1 1\n", "sandbox 7 2\n", "sendbox 7 1\n"] {
            var bytes = Array(text.utf8)
            #expect(DecoderSandbox.Report(takenFrom: &bytes) == nil, "\(text)")
            #expect(bytes == Array(text.utf8))
        }
        #expect(DecoderSandbox.Report(landlock: 1, isFiltered: true).lack == nil)
        #expect(DecoderSandbox.Report(landlock: nil, isFiltered: true).lack?.contains("landlock") == true)
    }
}

/// What the kernel says of the children that cameras' processes start.
@Suite(.ownThread) struct DecoderProcessTests {
    private func status(_ process: Int32) throws -> [String: String] {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        var fields: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        return fields
    }

    private func limit(_ name: String, of process: Int32) throws -> String? {
        try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix(name) }.map {
                $0.dropFirst(name.count).split(separator: " ").prefix(2).joined(separator: " ")
            }
    }

    private func check(_ process: Int32, memory: Int, descriptors: Int) throws {
        let fields = try status(process)
        #expect(fields["Seccomp"] == "2")
        #expect(fields["NoNewPrivs"] == "1")
        #expect(fields["Threads"] == "1")
        // With what it has from loading libav: less than 100 MiB of data.
        let data = try #require(try limit("Max data size", of: process)?.split(separator: " ").compactMap { Int($0) })
        #expect(data.count == 2 && data[0] == data[1] && (memory..<(memory + 100 << 20)).contains(data[0]), "\(data)")
        #expect(try limit("Max address space", of: process)?.contains("unlimited") == false)
        // When a unit's memory is at its end, it goes before the frame path does.
        let score = try String(contentsOfFile: "/proc/\(process)/oom_score_adj", encoding: .utf8)
        #expect(score == "1000\n")
        #expect(try limit("Max core file size", of: process) == "0 0")
        #expect(try limit("Max open files", of: process) == "0 0")
        // Of a process that is not dumpable only root sees these.
        if getuid() == 0 {
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count == descriptors)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/2") == "/dev/null")
        }
    }

    @Test func `the child for frames of the list is held before it reads a byte`() throws {
        let watchboxd = DecoderSandboxTests.watchboxd
        let child = try ChildProcess(watchboxd, [watchboxd, "picture"], isSandboxed: true)
        var buffer = [UInt8](repeating: 0, count: 64)
        let line = try #require(child.receive(into: &buffer, within: .seconds(60)) { false })
        #expect(line.starts(with: Array("sandbox ".utf8)))
        try check(child.process, memory: DecoderSandbox.Limits.keyFrame, descriptors: 3)
        let fields = try String(contentsOfFile: "/proc/\(child.process)/stat", encoding: .utf8)
        let afterName = try #require(fields.split(separator: ")").last).split(separator: " ")
        #expect(afterName[16] == "10", "its priority")
        // As descriptors: of a process that is not dumpable only root sees it.
        if getuid() == 0 {
            let environment = try String(contentsOfFile: "/proc/\(child.process)/environ", encoding: .utf8)
            let names = Set(environment.split(separator: "\0").map { $0.prefix { $0 != "=" } })
            // The last is the switch of Tests/Rigs/mutants, which its builds hand on.
            #expect(names.subtracting(["LD_LIBRARY_PATH", "WATCHBOX_FAULT"]) == ["SWIFT_BACKTRACE"])
            // Any of this process's will do for a secret.
            #expect(ProcessInfo.processInfo.environment.keys.contains { !names.contains($0[...]) })
        }
        // It does not wait for ever.
        guard case .ended(let status?, _) = child.output(of: [], limit: 4096, within: .seconds(60)) else {
            Issue.record("it did not end")
            return
        }
        #expect(status == 256)
    }

    @Test func `the child for frames of the list ends by itself when it is given nothing`() throws {
        let watchboxd = DecoderSandboxTests.watchboxd
        let child = try ChildProcess(watchboxd, [watchboxd, "picture"], isSandboxed: true)
        var buffer = [UInt8](repeating: 0, count: 64)
        _ = try #require(child.receive(into: &buffer, within: .seconds(60)) { false })
        // Its own clock says 15 s.
        #expect(child.receive(into: &buffer, within: .seconds(75)) { false } == nil)
        #expect(child.ending() == "signal \(SIGALRM)")
    }

    @Test func `the child for a stream's frames is held as well`() throws {
        let decoder = try FrameDecoder(
            DecoderProgram(executable: DecoderSandboxTests.watchboxd), width: 64, height: 64)
        #expect(decoder.report.isFiltered)
        try check(decoder.process, memory: DecoderSandbox.Limits.frames, descriptors: 3)
    }
}
