import CameraModel
import Foundation
import Logging
import Media
import TestSupport
import Testing
import VideoCodec

@testable import RTSPIngest

/// A `NetworkSource` at work, and its outcome.
final class RunningSource: Sendable {
    struct Seen: Sendable, CustomStringConvertible {
        var formats: [VideoFormat] = []
        var audioFormats: [AudioFormat] = []
        var frames: [AccessUnit] = []
        var audio: [AccessUnit] = []
        /// Whether the first event of a kind was its format.
        var isOrderly = true
        /// Greatest distance of two frames in the stream, and steps back in decoding order.
        var longestGap = MediaTime.zero
        var stepsBack = 0
        /// The longest time without a frame, as they came.
        var longestWait = Duration.zero
        var frameAt: ContinuousClock.Instant?
        var end: Result<Void, MediaSourceError>?

        var description: String {
            "\(formats.count) formats, \(frames.count) frames, \(audio.count) audio, end \(String(describing: end))"
        }

        var keyFrames: Int { frames.count { $0.isKeyFrame } }
        /// Seconds from the first frame to the last.
        var duration: Double {
            guard let first = frames.first, let last = frames.last else { return 0 }
            return Double((last.decodeTime - first.decodeTime).nanoseconds) / 1e9
        }
    }

    let source: NetworkSource
    let passwordFile: String?
    let seen = Watched(Seen())
    let log = Watched<[String]>([])

    init(
        _ network: CameraConfiguration.Network, durationLimit: Double? = nil,
        program: DecoderProgram = DecoderProgram(executable: BuiltProgram.path("watchboxd"), deadline: .seconds(30)),
        bootLoginPause: UInt64 = PullSupervision.bootLoginPause
    ) {
        passwordFile = network.passwordFile
        source = NetworkSource(
            network, camera: "porch", durationLimit: durationLimit, program: program,
            bootLoginPause: bootLoginPause,
            logger: Logger(label: "test") { [log] _ in Listening(log: log) })
        let thread = Thread { [source, seen] in
            var end = Result<Void, MediaSourceError>.success(())
            do throws(MediaSourceError) {
                try source.run { event in seen.change { $0.took(event) } }
            } catch {
                end = .failure(error)
            }
            let result = end
            seen.change { $0.end = result }
        }
        thread.start()
    }

    deinit { source.stop() }

    @discardableResult
    func wait(
        _ what: String, seconds: Double = 90, until isDone: @escaping @Sendable (Seen) -> Bool
    ) async throws -> Seen {
        do {
            return try await seen.wait(what, seconds: seconds, until: isDone)
        } catch {
            let capture = source.capture
            throw Failure(
                text: "\(error); state \(capture.state), \(capture.code.map { "\($0)" } ?? "-"): "
                    + "\(capture.reason ?? "-")")
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    /// Looks at the statistics until they are so.
    @discardableResult
    func waitForStatistics(
        _ what: String, seconds: Double = 90, until isDone: (CaptureStatistics) -> Bool
    ) async throws -> CaptureStatistics {
        let begin = ContinuousClock.now
        while true {
            let capture = source.capture
            if isDone(capture) { return capture }
            guard ContinuousClock.now - begin < .seconds(seconds) else {
                throw Failure(text: "waited in vain for \(what): \(capture)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Keeps what is logged.
    private struct Listening: LogHandler {
        let log: Watched<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(log: Watched<[String]>) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.message) \(event.metadata ?? [:])"
            log.change { $0.append(line) }
        }
    }

    /// The password must be nowhere but in its file.
    private func checkSecrets() throws {
        guard let passwordFile, let content = try? String(contentsOfFile: passwordFile, encoding: .utf8) else { return }
        let password = content.trimmingCharacters(in: .newlines)
        guard password.count > 3 else { return }
        let status = try String(decoding: JSONEncoder().encode(source.capture), as: UTF8.self)
        for text in log.value + [status] where text.contains(password) {
            throw Failure(text: "the password is in: \(text.replacing(password, with: "***"))")
        }
    }

    /// Ends it, and gives all that came.
    func stop() async throws -> Seen {
        source.stop()
        let seen = try await wait("the end of run") { $0.end != nil }
        try checkSecrets()
        guard case .success = seen.end else { throw Failure(text: "run failed: \(String(describing: seen.end))") }
        return seen
    }
}

extension RunningSource.Seen {
    mutating func took(_ event: MediaEvent) {
        switch event {
        case .videoFormat(let format): formats.append(format)
        case .audioFormat(let format): audioFormats.append(format)
        case .accessUnit(let unit) where unit.track.isVideo:
            if formats.isEmpty { isOrderly = false }
            let now = ContinuousClock.now
            if let frameAt { longestWait = max(longestWait, now - frameAt) }
            frameAt = now
            if let last = frames.last {
                longestGap = max(longestGap, unit.decodeTime - last.decodeTime)
                if unit.decodeTime <= last.decodeTime { stepsBack += 1 }
            }
            if unit.presentationTime < unit.decodeTime { stepsBack += 1 }
            frames.append(unit)
        case .accessUnit(let unit):
            if audioFormats.isEmpty { isOrderly = false }
            if let last = audio.last, unit.decodeTime <= last.decodeTime { stepsBack += 1 }
            audio.append(unit)
        }
    }
}
