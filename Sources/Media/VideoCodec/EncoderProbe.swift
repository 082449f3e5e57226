internal import Media

/// What a probe of an encoder found.
public struct EncoderProbeResult: Codable, Equatable, Sendable {
    /// FFmpeg's name.
    public var encoder: String
    public var works: Bool
    /// The finding as text.
    public var reason: String
    /// Units that came out.
    public var packets: Int
    /// Frames per second, as fast as they went.
    public var fps: Double

    public init(encoder: String, works: Bool, reason: String, packets: Int = 0, fps: Double = 0) {
        self.encoder = encoder
        self.works = works
        self.reason = reason
        self.packets = packets
        self.fps = fps
    }
}

/// Finds out whether an encoder really encodes: drivers are there and say yes, and then give nothing, or garbage.
///
/// To be run in a process of its own (`EncoderProbeChild`), because a driver that does not answer holds it for ever.
public enum EncoderProbe {
    /// Encodes frames that move for up to `seconds` of the stream's time, decodes what comes out, and compares.
    ///
    /// - Throws: for a size or a rate that no encoder takes; what the encoder does wrong is in the result.
    public static func run(
        encoder: String, width: Int, height: Int, rate: Double, seconds: Double = 1
    ) throws(VideoCodecError) -> EncoderProbeResult {
        var configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: rate,
            bitsPerSecond: Int((Double(width) * Double(height) * rate * bitsPerPixel).clamped(to: 300_000...20_000_000))
        )
        configuration.encoders = [encoder]
        try configuration.validate()
        let scene = MovingScene(width: width, height: height)
        do throws(VideoCodecError) {
            let coder = try VideoEncoder(configuration)
            let requested = Int((rate * seconds).clamped(to: 8...60))
            let run = try code(scene, coder, frames: requested, seconds: seconds)
            return try evaluate(run, scene, coder)
        } catch .noEncoder(let rejections) {
            let reason = rejections.map(\.reason).joined(separator: "; ")
            return EncoderProbeResult(encoder: encoder, works: false, reason: "does not open: \(reason)")
        } catch {
            return EncoderProbeResult(encoder: encoder, works: false, reason: "\(error)")
        }
    }

    private struct Run {
        var sent: Int
        var units: [AccessUnit] = []
        var fps = 0.0
    }

    /// Until enough frames are encoded, or the time is over and a few are.
    ///
    /// The end is not drained: drivers may hang there, and a camera never does it.
    private static func code(
        _ scene: MovingScene, _ coder: VideoEncoder, frames: Int, seconds: Double
    ) throws(VideoCodecError) -> Run {
        var run = Run(sent: 0)
        let end = SourceClock.now &+ UInt64((seconds * 1e9).clamped(to: 0...60e9))
        while run.sent < frames, run.sent < minFrames || SourceClock.now < end {
            let frame = try scene.frame(run.sent)
            for event in try coder.encode(frame, at: time(run.sent, coder)) {
                if case .accessUnit(let unit) = event { run.units.append(unit) }
            }
            run.sent += 1
        }
        run.fps = Double(run.sent) * 1e9 / Double(max(1, coder.encodeNanoseconds.total))
        return run
    }

    private static func evaluate(
        _ run: Run, _ scene: MovingScene, _ coder: VideoEncoder
    ) throws(VideoCodecError) -> EncoderProbeResult {
        let size = "\(coder.configuration.width)x\(coder.configuration.height)"
        func result(_ works: Bool, _ reason: String) -> EncoderProbeResult {
            EncoderProbeResult(
                encoder: coder.choice.encoder, works: works, reason: reason, packets: run.units.count, fps: run.fps)
        }
        guard let format = coder.format, run.units.first?.isKeyFrame == true else {
            return result(false, "gave no frame that a decoder can begin with, of \(run.sent) of \(size)")
        }
        guard run.units.count * 2 >= run.sent else {
            return result(false, "gave \(run.units.count) of \(run.sent) frames of \(size)")
        }
        let numbers = Dictionary(
            (0..<run.sent).map { (time($0, coder), $0) }, uniquingKeysWith: { first, _ in first })
        let decoder = try VideoDecoder(format)
        var worst = 99.0
        var seen = 0
        func compare(_ frame: borrowing VideoFrame, _ time: MediaTime) throws(VideoCodecError) {
            seen += 1
            // Some are enough, and a slow machine has a deadline.
            guard seen % 5 == 1 || seen == run.units.count else { return }
            guard let number = numbers[time] else {
                worst = 0
                return
            }
            worst = min(worst, try scene.likeness(of: frame, to: number))
        }
        for unit in run.units { try decoder.decode(unit, compare) }
        try decoder.finish(compare)
        let verdict = decoder.verdict
        guard verdict.errors == 0, verdict.damagedFrames == 0, verdict.frames == run.units.count else {
            let text = decoder.lastError.map { ": \($0)" } ?? ""
            return result(
                false, "its stream does not decode: \(verdict.frames) of \(run.units.count) frames\(text)")
        }
        guard worst >= minLikeness else {
            return result(
                false,
                "the frames that come out are not those that went in (\(EncoderCapacity.text(worst)) dB at \(size))")
        }
        return result(
            true,
            "\(run.units.count) frames of \(size), \(EncoderCapacity.text(run.fps)) a second, came out as they went in"
        )
    }

    private static func time(_ number: Int, _ coder: VideoEncoder) -> MediaTime {
        MediaTime(seconds: Double(number) / coder.configuration.frameRate)
    }

    private static let bitsPerPixel = 0.15
    private static let minFrames = 8
    /// Decibels. Coding at this rate leaves more than 30, rows of the wrong length less than 16.
    private static let minLikeness = 22.0
}
