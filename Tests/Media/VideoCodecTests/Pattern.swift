import Media
import Synchronization
import VideoCodec

/// What a source hands on, kept for a test to look at.
final class Recording: Sendable {
    private let kept = Mutex<[MediaEvent]>([])

    func append(_ event: MediaEvent) { kept.withLock { $0.append(event) } }

    var events: [MediaEvent] { kept.withLock { $0 } }

    var units: [AccessUnit] {
        events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    var videoUnits: [AccessUnit] { units.filter(\.track.isVideo) }
    var audioUnits: [AccessUnit] { units.filter { !$0.track.isVideo } }

    var videoFormats: [VideoFormat] {
        events.compactMap { if case .videoFormat(let format) = $0 { format } else { nil } }
    }

    var audioFormats: [AudioFormat] {
        events.compactMap { if case .audioFormat(let format) = $0 { format } else { nil } }
    }
}

enum Pattern {
    static func configuration(
        width: Int = 320, height: Int = 180, frameRate: Double = 25, bitsPerSecond: Int = 400_000
    ) -> VideoEncoderConfiguration {
        var configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: frameRate, bitsPerSecond: bitsPerSecond)
        configuration.preset = "ultrafast"
        configuration.keyFrameInterval = 1
        return configuration
    }

    /// As fast as it goes, without waiting.
    static func record(
        _ video: VideoEncoderConfiguration = configuration(), frames: Int,
        audio: AudioEncoderConfiguration? = AudioEncoderConfiguration(channels: 2, bitsPerSecond: 96_000)
    ) throws -> Recording {
        var configuration = TestPatternConfiguration(video: video, audio: audio)
        configuration.frameLimit = frames
        configuration.isRealTime = false
        let recording = Recording()
        try TestPatternSource(configuration).run { recording.append($0) }
        return recording
    }

    /// A frame of one grey, with a brighter column that moves with `number`.
    static func frame(_ number: Int, width: Int = 320, height: Int = 180) throws -> VideoFrame {
        var line = [UInt8](repeating: 60, count: width * 3)
        let column = number % (width / 8) * 8
        line.replaceSubrange((column * 3)..<(column * 3 + 24), with: [UInt8](repeating: 220, count: 24))
        let pixels = [[UInt8]](repeating: line, count: height).flatMap { $0 }
        return try Pictures.rgb(pixels, width: width, height: height)
    }
}
