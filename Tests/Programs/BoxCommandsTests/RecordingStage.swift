import Archive
import Cryptography
import Foundation
import Glibc
import Media
import MediaFile
import NanoTDF
import Synchronization
import TDF
import TestSupport
import VideoCodec

/// What a camera would have recorded: a pattern of our own, sealed into archives as a recorder does it, a segment for each fragment.
final class RecordingStage {
    static let key = try! RSAPrivateKey.generate(bits: 2048)

    let directory: String
    /// Of one camera.
    let camera: String

    init(camera: String = "front") throws {
        directory = NSTemporaryDirectory() + "watchbox-recordings-" + UUID().uuidString
        self.camera = camera
        try FileManager.default.createDirectory(
            atPath: "\(directory)/recordings/\(camera)", withIntermediateDirectories: true)
        try write(Array(try Self.key.privateKeyPEM().utf8), "kas.key.pem")
    }

    /// Of the camera's directory while somebody records into it.
    private var lock: Int32?

    /// What a recorder does for as long as it lives.
    func beginRecording() throws {
        let descriptor = open(path("recordings/\(camera)"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw CocoaError(.fileLocking) }
        lock = descriptor
    }

    func endRecording() {
        if let lock { close(lock) }
        lock = nil
    }

    deinit {
        endRecording()
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    /// Beside the recordings.
    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
    }

    var recordings: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path("recordings/\(camera)")).sorted() }
    }

    // MARK: - Films

    /// Events of 25 frames per second with a key frame each second, and of audio.
    static func pattern(
        seconds: Int, width: Int = 160, height: Int = 90, hasAudio: Bool = true, encoder: String = "libx264"
    ) throws -> [MediaEvent] {
        var video = VideoEncoderConfiguration(width: width, height: height, frameRate: 25, bitsPerSecond: 300_000)
        video.preset = "ultrafast"
        video.encoders = [encoder]
        video.keyFrameInterval = 1
        var configuration = TestPatternConfiguration(
            video: video, audio: hasAudio ? AudioEncoderConfiguration(channels: 2, bitsPerSecond: 64_000) : nil)
        configuration.frameLimit = seconds * 25
        configuration.isRealTime = false
        let events = Mutex<[MediaEvent]>([])
        try TestPatternSource(configuration).run { event in events.withLock { $0.append(event) } }
        return events.withLock { $0 }
    }

    /// Events of a file, as fast as it can be read.
    static func events(of path: String) throws -> [MediaEvent] {
        let events = Mutex<[MediaEvent]>([])
        try MediaFileSource(MediaFileConfiguration(path: path, pace: .unthrottled)).run { event in
            events.withLock { $0.append(event) }
        }
        return events.withLock { $0 }
    }

    /// The part of a film from one second of its video to another, and the formats in front of it; the first part has all that is before.
    static func part(_ events: [MediaEvent], _ from: Int64, _ to: Int64) -> [MediaEvent] {
        let zero = events.units.first { $0.track.isVideo }?.decodeTime.nanoseconds ?? 0
        let begin = from == 0 ? Int64.min : zero + from * 1_000_000_000
        let end = zero + to * 1_000_000_000
        return events.filter {
            guard case .accessUnit(let unit) = $0 else { return true }
            return (begin..<end).contains(unit.decodeTime.nanoseconds)
        }
    }

    /// A fragmented MP4 in its parts: the first with what is in front of the first fragment, as the recorder seals them.
    func fragments(_ events: [MediaEvent]) throws -> [[UInt8]] {
        let path = path("film.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = MediaWriter(.fragmentedMP4, to: .file(path: path))
        for event in events { try writer.write(event) }
        try writer.finish()
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        var parts: [[UInt8]] = [[]]
        var hasFragment = false
        var offset = 0
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            let kind = String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self)
            if kind == "moof" {
                if hasFragment { parts.append([]) }
                hasFragment = true
            }
            parts[parts.count - 1] += bytes[offset..<(offset + size)]
            offset += size
        }
        return parts
    }

    /// A transport stream, whose clock says something of its own: it is so many seconds ahead.
    func transportStream(_ events: [MediaEvent], ahead seconds: UInt64) throws -> [UInt8] {
        let path = path("film.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = MediaWriter(.mpegTS, to: .file(path: path))
        for event in events { try writer.write(event) }
        try writer.finish()
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        for packet in stride(from: 0, to: bytes.count, by: 188) where bytes[packet + 1] & 0x40 != 0 {
            let hasAdaptation = bytes[packet + 3] & 0x20 != 0
            let start = packet + 4 + (hasAdaptation ? 1 + Int(bytes[packet + 4]) : 0)
            // The start of a PES packet, and whether it has one time or two.
            guard start + 19 <= packet + 188, bytes[start..<(start + 3)] == [0, 0, 1] else { continue }
            let times = [0, 0, 1, 2][Int(bytes[start + 7] >> 6)]
            for index in 0..<times {
                Self.advance(&bytes, at: start + 9 + index * 5, by: seconds * 90_000)
            }
        }
        return bytes
    }

    /// A time of 33 bits in five bytes, with marks in between.
    private static func advance(_ bytes: inout [UInt8], at place: Int, by ticks: UInt64) {
        let parts = bytes[place..<(place + 5)].map(UInt64.init)
        let time =
            (parts[0] >> 1 & 7) << 30 | parts[1] << 22 | (parts[2] >> 1) << 15 | parts[3] << 7 | parts[4] >> 1
        let later = time + ticks
        bytes[place] = UInt8(parts[0] & 0xF1 | (later >> 30 & 7) << 1)
        bytes[place + 1] = UInt8(later >> 22 & 0xFF)
        bytes[place + 2] = UInt8((later >> 15 & 0x7F) << 1 | 1)
        bytes[place + 3] = UInt8(later >> 7 & 0xFF)
        bytes[place + 4] = UInt8((later & 0x7F) << 1 | 1)
    }

    // MARK: - Archives

    /// Seals parts into a recording of the camera.
    @discardableResult
    func record(
        _ sequence: UInt64, at begin: Int64, _ parts: [[UInt8]], milliseconds: UInt32, isPinned: Bool = false,
        stream: String? = nil, for key: RSAPrivateKey = key
    ) throws -> String {
        let name = RecordingName(sequence: sequence, begin: begin, duration: milliseconds, isPinned: isPinned)
        let path = path("recordings/\(camera)/\(name.fileName)")
        try seal(parts, path, stream: stream, for: key)
        return path
    }

    /// The same of a film.
    @discardableResult
    func record(
        _ sequence: UInt64, at begin: Int64, _ events: [MediaEvent], isPinned: Bool = false,
        for key: RSAPrivateKey = key
    ) throws -> String {
        let times = events.compactMap { event -> Int64? in
            guard case .accessUnit(let unit) = event, unit.track.isVideo else { return nil }
            return unit.decodeTime.milliseconds
        }
        let length = (times.last ?? 0) - (times.first ?? 0) + 40
        return try record(
            sequence, at: begin, fragments(events), milliseconds: UInt32(length), isPinned: isPinned,
            for: key)
    }

    /// - Parameter stream: that the policy names; nil: the camera's.
    func seal(
        _ parts: [[UInt8]], _ path: String, stream: String? = nil, for key: RSAPrivateKey = key
    ) throws {
        let writer = try ArchiveWriter(
            path,
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try key.publicKey.spkiPEM()),
            policy: PlaintextPolicy(stream: stream ?? camera), segmentSize: TDFSegmentEntry.maxClearSize)
        for part in parts {
            try writer.write(part[...])
            try writer.endSegment()
        }
        try writer.finish(at: 1_795_863_600)
    }

    // MARK: - The program

    /// `watchboxctl archive`, in this directory, where clocks are an hour ahead.
    func run(_ arguments: [String], variables: [String: String] = [:]) async throws -> ProgramRun {
        try await ProgramRun(
            "watchboxctl", ["archive"] + arguments, in: directory, variables: ["TZ": "CET-1"].merging(variables) { $1 })
    }
}

extension [MediaEvent] {
    var units: [AccessUnit] {
        compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    var videoData: [[UInt8]] { units.filter(\.track.isVideo).map(\.data) }
    var audioData: [[UInt8]] { units.filter { !$0.track.isVideo }.map(\.data) }
    /// Milliseconds.
    var videoTimes: [Int64] { units.filter(\.track.isVideo).map(\.decodeTime.milliseconds) }
    var audioTimes: [Int64] { units.filter { !$0.track.isVideo }.map(\.decodeTime.milliseconds) }
}
