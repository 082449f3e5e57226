import ArgumentParser
import Console
import Glibc
import VideoCodec

/// Started by camera processes: an encoder that hangs hangs here, and is killed.
struct EncoderProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoder-probe", abstract: "Try out an encoder and print the result as JSON.",
        shouldDisplay: false)

    @Option var encoder: String
    @Option var size: String
    @Option var rate: Double

    func run() throws {
        let parts = size.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2 else { throw ValidationError("--size is WIDTHxHEIGHT, for instance 1280x720.") }
        // A child whose parent is gone must not hang for ever in its place.
        alarm(10)
        StandardOutput.writeJSON(
            try EncoderProbe.run(encoder: encoder, width: parts[0], height: parts[1], rate: rate))
    }
}
