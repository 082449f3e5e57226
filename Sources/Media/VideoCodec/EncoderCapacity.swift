internal import Media

/// A measurement that says how fast a software encoder is here.
public struct EncoderTrial: Equatable, Sendable {
    /// FFmpeg's name.
    public var encoder: String
    /// Empty: the encoder has none.
    public var preset: String
    public var width: Int
    public var height: Int
    public var rate: Double
    public var bitsPerSecond: Int
    /// Seconds that it may take.
    public var seconds: Double

    /// Encodes frames that move until the time is over, as a camera would.
    ///
    /// - Returns: frames per second.
    /// - Throws: when the encoder does not open.
    public func run() throws(VideoCodecError) -> Double {
        var configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: rate, bitsPerSecond: bitsPerSecond)
        configuration.encoders = [encoder]
        if !preset.isEmpty { configuration.preset = preset }
        let begin = SourceClock.now
        let encoder = try VideoEncoder(configuration)
        let scene = MovingScene(width: width, height: height)
        let end = begin &+ UInt64((seconds * 1e9).clamped(to: 0...60e9))
        var frames = 0
        // At least two, of which the first is a key frame and the second is not.
        while frames < 2 || (SourceClock.now < end && frames < Self.maxFrames) {
            let time = MediaTime(seconds: Double(frames) / rate)
            _ = try encoder.encode(scene.frame(frames), at: time)
            frames += 1
        }
        return Double(frames) * 1e9 / Double(max(1, encoder.encodeNanoseconds.total))
    }

    private static let maxFrames = 60
}

/// Fits what was asked for to what a software encoder holds on this machine.
public struct EncoderCapacity: Equatable, Sendable {
    public var preset: String
    public var width: Int
    public var height: Int
    /// Frames per second.
    public var rate: Double
    /// The finding as text.
    public var text: String
    /// What was asked for, what is held, and why; nil: all as asked.
    public var limit: String?

    /// Best frame first.
    static let presets = ["veryfast", "superfast", "ultrafast"]
    /// The encoder must leave time for everything else.
    static let reserve = 1.3
    /// Frames per second below which a smaller frame is better.
    static let minRate = 10.0
    /// Seconds for all measurements together.
    static let budget = 0.4

    /// - Throws: what `measure` throws, for the first measurement.
    static func plan(
        _ encoder: String, _ request: EncoderRequest, now: Double, memory: inout EncoderCache,
        measure: (EncoderTrial) throws(VideoCodecError) -> Double
    ) throws(VideoCodecError) -> EncoderCapacity {
        let presets = EncoderTraits(name: encoder).hasPresets ? presets : [""]
        var last = (preset: "", speed: 0.0)
        for preset in presets {
            let trial = EncoderTrial(
                encoder: encoder, preset: preset, width: request.width, height: request.height, rate: request.rate,
                bitsPerSecond: request.bitsPerSecond, seconds: budget / Double(presets.count))
            let speed: Double
            if let known = memory.capacity(of: trial, needed: request.rate * reserve, now: now) {
                speed = known
            } else {
                speed = try measure(trial)
                memory.note(speed, of: trial, now: now)
            }
            last = (preset, speed)
            if speed >= request.rate * reserve { break }
        }
        return fitting(request, encoder, preset: last.preset, speed: last.speed)
    }

    /// What was asked for where `speed`, in frames of that size a second, is enough for it; else less.
    static func fitting(
        _ request: EncoderRequest, _ encoder: String, preset: String, speed: Double
    ) -> EncoderCapacity {
        let speed = speed.isFinite ? max(0, speed) : 0
        guard speed >= request.rate * reserve else {
            return reduced(request, encoder, preset: preset, speed: speed)
        }
        return EncoderCapacity(
            preset: preset, width: request.width, height: request.height, rate: request.rate,
            text: "encodes \(text(speed)) frames of \(request.width)x\(request.height) a second here"
                + (preset.isEmpty ? "" : " (preset \(preset))"))
    }

    /// A lower rate, or a smaller frame at a lower rate.
    private static func reduced(
        _ request: EncoderRequest, _ encoder: String, preset: String, speed: Double
    ) -> EncoderCapacity {
        let needed = min(request.rate, minRate)
        var chosen = (width: request.width, height: request.height, rate: 0.0)
        for (numerator, denominator) in [(1, 1), (3, 4), (1, 2)] {
            let width = max(16, request.width * numerator / denominator / 2 * 2)
            let height = max(16, request.height * numerator / denominator / 2 * 2)
            let pixels = Double(request.width) * Double(request.height) / (Double(width) * Double(height))
            let held = (speed * pixels / reserve).rounded(.down)
            chosen = (width, height, min(request.rate, max(1, held)))
            if chosen.rate >= needed { break }
        }
        let size = "\(request.width)x\(request.height)"
        let found = "\(encoder) encodes \(text(speed)) frames of \(size) a second on this machine"
        return EncoderCapacity(
            preset: preset, width: chosen.width, height: chosen.height, rate: chosen.rate,
            text: found + (preset.isEmpty ? "" : " with its fastest preset (\(preset))"),
            limit: limit(
                request, width: chosen.width, height: chosen.height, rate: chosen.rate,
                why: "\(found), and must leave time for everything else"))
    }

    /// What is held, what was asked for, and why.
    static func limit(_ request: EncoderRequest, width: Int, height: Int, rate: Double, why: String) -> String {
        "\(width)x\(height) at \(text(rate)) frames a second instead of \(request.width)x\(request.height) at "
            + "\(text(request.rate)): \(why)"
    }

    /// With one digit behind the point where that says something.
    static func text(_ rate: Double) -> String {
        let tenths = Int((rate * 10).rounded().clamped(to: 0...1e9))
        return tenths >= 1000 || tenths % 10 == 0 ? "\((tenths + 5) / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
