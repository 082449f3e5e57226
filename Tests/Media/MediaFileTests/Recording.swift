import Foundation
import Media
import MediaFile
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

    /// Our own pattern, encoded by our own encoder.
    static func pattern(
        frames: Int = 50, width: Int = 320, height: Int = 180, hasAudio: Bool = true, encoder: String = "libx264"
    ) throws -> Recording {
        var video = VideoEncoderConfiguration(width: width, height: height, frameRate: 25, bitsPerSecond: 400_000)
        video.preset = "ultrafast"
        video.encoders = [encoder]
        video.keyFrameInterval = 1
        var configuration = TestPatternConfiguration(
            video: video, audio: hasAudio ? AudioEncoderConfiguration(channels: 2, bitsPerSecond: 96_000) : nil)
        configuration.frameLimit = frames
        configuration.isRealTime = false
        let recording = Recording()
        try TestPatternSource(configuration).run { recording.append($0) }
        return recording
    }

    /// A file, as fast as it can be read.
    static func file(
        _ path: String, isLooped: Bool = false, durationLimit: Double? = nil,
        transcoding: MediaFileConfiguration.Transcoding? = nil
    ) throws(MediaSourceError) -> Recording {
        let recording = Recording()
        let source = MediaFileSource(
            MediaFileConfiguration(
                path: path, pace: .unthrottled, isLooped: isLooped, durationLimit: durationLimit,
                transcoding: transcoding))
        try source.run { recording.append($0) }
        return recording
    }

    func write(_ container: MediaWriter.Container, _ name: String) throws -> (path: String, MediaWriter.Summary) {
        let path = Scratch.path(name)
        let writer = MediaWriter(container, to: .file(path: path), tracks: [])
        for event in events { try writer.write(event) }
        return (path, try writer.finish())
    }
}

/// Files that ffmpeg makes, each once.
enum Sample {
    private static let inputs = [
        "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-f", "lavfi", "-i",
        "sine=frequency=440:sample_rate=48000",
        "-t", "2",
    ]
    private static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p"]
    private static let reordered = ["-bf", "3", "-b_strategy", "0", "-flags", "+cgop"]
    private static let aac = ["-c:a", "aac", "-b:a", "64k"]

    private static func made(_ arguments: [String], _ name: String) -> Result<String, any Error> {
        Result {
            let path = Scratch.path(name)
            try Tool.make(arguments, path)
            return path
        }
    }

    private static let all: [String: @Sendable () -> Result<String, any Error>] = [
        "plain.mp4": { made(inputs + x264 + aac, "plain.mp4") },
        // Edit lists, so decode times begin below zero.
        "reordered.mp4": { made(inputs + x264 + reordered + aac, "reordered.mp4") },
        "reordered.mkv": { made(inputs + x264 + reordered + aac, "reordered.mkv") },
        "reordered.ts": { made(inputs + x264 + reordered + aac, "reordered.ts") },
        "reordered.flv": { made(inputs + x264 + reordered + aac, "reordered.flv") },
        "fragmented.mp4": {
            made(inputs + x264 + aac + ["-movflags", "frag_keyframe+empty_moov+delay_moov"], "fragmented.mp4")
        },
        "hevc.mp4": {
            made(
                inputs + ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=25"]
                    + aac, "hevc.mp4")
        },
        "hevc.ts": {
            made(
                inputs + ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=25"]
                    + aac, "hevc.ts")
        },
        "raw.h264": { made(inputs + x264 + ["-bf", "0", "-an"], "raw.h264") },
        "sound.aac": { made(inputs + ["-vn"] + aac, "sound.aac") },
        "sound.m4a": { made(inputs + ["-vn"] + aac, "sound.m4a") },
        "old.avi": { made(inputs + ["-c:v", "mpeg4", "-c:a", "mp3", "-ar", "44100", "-ac", "2"], "old.avi") },
        "pcm.mkv": { made(inputs + x264 + ["-c:a", "pcm_s16le", "-ac", "1"], "pcm.mkv") },
        "old.flv": { made(inputs + ["-c:v", "flv1", "-c:a", "mp3", "-ar", "44100"], "old.flv") },
    ]

    private static let cache = Mutex<[String: Result<String, any Error>]>([:])

    /// The path of a sample; made when it is first asked for.
    static func path(_ name: String) throws -> String {
        try cache.withLock { cache in
            if let known = cache[name] { return known }
            let result = all[name]?() ?? .failure(Tool.Failed(description: "no sample \(name)"))
            cache[name] = result
            return result
        }.get()
    }
}
