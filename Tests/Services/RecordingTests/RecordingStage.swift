import CameraModel
import Cryptography
import Foundation
import Media
import MediaFile
import NanoTDF
import Platform
import Synchronization
import TDF
import TDFCryptography
import Testing
import VideoCodec

@testable import Archive
@testable import Recording

/// A directory of recordings, a clock that stands still, and the RSA key of a KAS.
final class RecordingStage: Sendable {
    /// An RSA key takes a while to make.
    static let key = try! RSAPrivateKey.generate(bits: 2048)

    static func recipient() throws -> TDFRecipient {
        TDFRecipient(url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try key.publicKey.spkiPEM())
    }

    struct Clock: Sendable {
        /// Nanoseconds.
        var monotonic: UInt64 = 1_000_000_000_000
        /// Milliseconds since 1970 when `monotonic` was 1000 s.
        var wall: Int64 = 1_800_000_000_000
        var isRight = true
        var free: Int64? = 1 << 40
        /// What clocks on the wall show.
        var week: (day: Int, minute: Int)?
    }

    let directory: String
    private let touches = Atomic(0)
    let clock = Mutex(Clock())

    init() throws {
        directory = NSTemporaryDirectory() + "watchbox-recording-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }
    var names: [RecordingName] { files.compactMap { RecordingName($0) } }

    var system: RecordingSystem {
        RecordingSystem(
            // No two readings are the same.
            monotonic: {
                self.clock.withLock { clock in
                    clock.monotonic += 1
                    return clock.monotonic
                }
            },
            wall: { self.clock.withLock { $0.wall + Int64($0.monotonic / 1_000_000) - 1_000_000 } },
            isClockRight: { self.clock.withLock { $0.isRight } }, weekTime: { self.clock.withLock { $0.week } },
            free: { _ in self.clock.withLock { $0.free } })
    }

    func settings(
        maxBytes: Int64 = 1 << 30, maxAge: Int64 = 86_400_000, minFree: Int64 = 0, length: Int64 = 3000,
        occasions: RecordingWriter.Occasions? = nil
    ) -> RecordingWriter.Settings {
        RecordingWriter.Settings(
            directory: RecordingDirectory(directory), policy: PlaintextPolicy(stream: "door"),
            retention: Retention(maxBytes: maxBytes, maxAge: maxAge, minFree: minFree), occasions: occasions,
            length: MediaTime(milliseconds: length))
    }

    /// A writer that has begun and has a key, of a camera whose stream gets to its relay.
    func writer(_ settings: RecordingWriter.Settings? = nil) throws -> RecordingWriter {
        let writer = RecordingWriter(settings ?? self.settings(), system: system)
        writer.live.published(true, from: clock.withLock { $0.monotonic })
        writer.recipient = try Self.recipient()
        writer.start()
        return writer
    }

    /// Shows it events as they would come, a tick for each half second.
    func show(_ events: [MediaEvent], to writer: RecordingWriter) {
        let begin = clock.withLock { $0.monotonic }
        var first: MediaTime?
        var ticked = begin
        for event in events {
            if case .accessUnit(let unit) = event {
                let zero = first ?? unit.decodeTime
                first = zero
                let instant = begin + UInt64(max(0, (unit.decodeTime - zero).milliseconds)) * 1_000_000
                let now = clock.withLock { clock in
                    clock.monotonic = max(clock.monotonic, instant)
                    return clock.monotonic
                }
                writer.take(event)
                if now - ticked >= 500_000_000 {
                    ticked = now
                    writer.tick()
                }
            } else {
                writer.take(event)
            }
        }
    }

    /// Pins all recordings, or lets them go, as a command does beside the recorder.
    @discardableResult
    func pin(_ isPinned: Bool) throws -> [RecordingName] {
        for name in names {
            var other = name
            other.isPinned = isPinned
            guard other != name else { continue }
            try FileManager.default.moveItem(
                atPath: "\(directory)/\(name.fileName)", toPath: "\(directory)/\(other.fileName)")
        }
        touch()
        return names
    }

    /// A moment later, as the file system counts: its clock stands still for some milliseconds.
    func touch() {
        var times = [
            timespec(), timespec(tv_sec: time(nil) + Int(touches.add(1, ordering: .relaxed).newValue), tv_nsec: 0),
        ]
        times[0].tv_nsec = 1_073_741_822
        utimensat(AT_FDCWD, directory, &times, 0)
    }

    func pass(seconds: Double) {
        clock.withLock { $0.monotonic += UInt64(seconds * 1e9) }
    }

    // MARK: What there is

    /// What is in an archive, verified as a command does.
    static func content(_ path: String) throws -> [UInt8] {
        let archive = try ArchiveReader(path)
        try archive.verifyStructure()
        let key = try key.archiveKey(from: archive.manifest.encryptionInformation.keyAccess[0])
        var plaintext: [UInt8] = []
        try archive.opened(key).read(nil) { (bytes) throws(ArchiveError) in plaintext += bytes }
        return plaintext
    }

    /// The frames of all recordings, in their order.
    func frames() throws -> [AccessUnit] {
        try names.sorted { $0.sequence < $1.sequence }.flatMap { try frames(of: $0) }
    }

    func frames(of name: RecordingName) throws -> [AccessUnit] {
        let film = "\(directory)-film-\(name.sequence).mp4"
        defer { try? FileManager.default.removeItem(atPath: film) }
        try Data(try Self.content("\(directory)/\(name.fileName)")).write(to: URL(filePath: film))
        let units = Mutex<[AccessUnit]>([])
        try MediaFileSource(MediaFileConfiguration(path: film, pace: .unthrottled)).run { event in
            if case .accessUnit(let unit) = event { units.withLock { $0.append(unit) } }
        }
        return units.withLock { $0 }
    }

    /// All that is on the disk, as it is there.
    func everything() throws -> [UInt8] {
        try files.flatMap { Array(try Data(contentsOf: URL(filePath: "\(directory)/\($0)"))) }
    }
}

extension Array where Element == MediaEvent {
    var units: [AccessUnit] { compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } } }
    var video: [AccessUnit] { units.filter(\.track.isVideo) }
    var audio: [AccessUnit] { units.filter { !$0.track.isVideo } }

    /// Bytes of media.
    var size: Int { units.reduce(0) { $0 + $1.data.count } }

    /// The same, later.
    func later(by time: MediaTime) -> [MediaEvent] {
        map { event in
            guard case .accessUnit(var unit) = event else { return event }
            unit.decodeTime = unit.decodeTime + time
            unit.presentationTime = unit.presentationTime + time
            return .accessUnit(unit)
        }
    }
}

/// Our own pattern, 25 frames a second with a key frame in each second, and its tone.
enum Film {
    private static let kept = Mutex<[String: [MediaEvent]]>([:])

    static func pattern(seconds: Int, width: Int = 320, hasAudio: Bool = true) throws -> [MediaEvent] {
        let name = "\(seconds) \(width) \(hasAudio)"
        if let events = kept.withLock({ $0[name] }) { return events }
        var video = VideoEncoderConfiguration(
            width: width, height: width * 9 / 16 / 2 * 2, frameRate: 25, bitsPerSecond: 400_000)
        video.preset = "ultrafast"
        video.keyFrameInterval = 1
        var configuration = TestPatternConfiguration(
            video: video, audio: hasAudio ? AudioEncoderConfiguration(channels: 1, bitsPerSecond: 48_000) : nil)
        configuration.frameLimit = seconds * 25
        configuration.isRealTime = false
        let collected = Mutex<[MediaEvent]>([])
        try TestPatternSource(configuration).run { event in
            var event = event
            if case .accessUnit(var unit) = event {
                unit.captureInstant = nil
                event = .accessUnit(unit)
            }
            collected.withLock { $0.append(event) }
        }
        let events = collected.withLock { $0 }
        kept.withLock { $0[name] = events }
        return events
    }
}
