import FoundationEssentials
import Glibc
import VideoCodec

/// A try-out of an encoder: in this process, and in a child of it that may hang.
enum ProbeRun {
    /// As a child of `child`: prints what `EncoderProbeChild` reads.
    static func inside(_ arguments: inout Arguments) throws {
        guard let encoder = try arguments.option("--encoder"), let text = try arguments.option("--size") else {
            throw UsageError("name an encoder and a size")
        }
        let rate = try arguments.number("--rate") ?? 15
        let size = try Arguments.size(text)
        try arguments.end()
        let result = try EncoderProbe.run(encoder: encoder, width: size.width, height: size.height, rate: rate)
        Report.write(String(decoding: try JSONEncoder().encode(result), as: UTF8.self), to: STDOUT_FILENO)
    }

    static func child(_ arguments: inout Arguments) throws {
        let encoder = try arguments.next("an encoder")
        let size = try Arguments.size(try arguments.next("a size"))
        let rate = try arguments.number("--rate") ?? 15
        let deadline = try arguments.number("--deadline") ?? 5
        try arguments.end()
        let begin = monotonicNanoseconds()
        let result = EncoderProbeChild(deadline: .seconds(deadline))
            .run(encoder: encoder, width: size.width, height: size.height, rate: rate)
        Report.say(
            "probe",
            [
                "encoder": .text(result.encoder), "works": .bool(result.works), "reason": .text(result.reason),
                "packets": .number(result.packets), "fps": .real(result.fps),
                "seconds": .real(EncodeRun.seconds(since: begin)),
            ])
    }
}
