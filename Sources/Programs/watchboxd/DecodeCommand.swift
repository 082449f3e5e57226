import ArgumentParser
import Glibc
import VideoCodec

/// Started by camera processes, and lives as long as they need frames or audio from it.
struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Decode what a camera sent, in a sandbox.", shouldDisplay: false)

    @Option(help: "Bytes of the memory at descriptor 3.") var frames: Int?
    @Option(help: "FFmpeg's name and rate.") var audio: String?

    func run() throws {
        let role: DecoderRole
        if let frames {
            role = .frames(memory: frames)
        } else if let coding = audio.flatMap(AudioEncoding.init(rawValue:)) {
            role = .audio(coding)
        } else {
            throw ValidationError("Nothing to decode.")
        }
        // Straight away, in both cases: what libraries do at their end is not on the list of system calls.
        do { try DecoderService.run(role) } catch { _exit(1) }
        _exit(0)
    }
}

/// Enters the sandbox of a decoder and tries to get out of it. Run by tests, one attempt in each process.
struct SandboxCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox-check", abstract: "Try to get out of the sandbox of decoders.", shouldDisplay: false)

    @Option(name: .customLong("try"), help: "What to try.") var attempt: String
    @Option(help: "The part of the sandbox that has to refuse it; all without.") var layer: [String] = []
    @Option(help: "After which it is ended.") var seconds: UInt32 = 15

    func run() throws {
        guard let attempt = SandboxAttempt(rawValue: attempt) else { throw ValidationError("No such attempt.") }
        let layers = layer.compactMap(DecoderSandbox.Layer.init(rawValue:))
        guard layers.count == layer.count else { throw ValidationError("No such layer.") }
        let report = try DecoderSandbox.enter(
            DecoderSandbox.Limits(seconds: seconds, niceness: 10),
            layers: layers.isEmpty ? Set(DecoderSandbox.Layer.allCases) : Set(layers))
        write(report.line)
        write(Array((attempt.run().map { "refused \($0)\n" } ?? "done\n").utf8))
    }

    private func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
