import ArgumentParser
import Console
import FoundationEssentials
import Glibc
import Player
import RTMP
import RTMPTransport

struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Open a stream: into MP4, MPEG-TS, an image, or figures.",
        discussion: """
            Without --output and --snapshot it shows statistics. The key comes from the KAS that you name here, whatever the \
            stream says. What is older than --max-age is opened and not shown, unless with --allow-recording. Ends with 12 \
            when it was old, 13 when it was another stream's, 14 when frames came in another order, 15 when an end is missing, \
            16 when the device of --publisher has not signed for it.

              watchboxctl play rtmp://relay/live/door --kas https://kas/kas --kas-token-file alice.token --output door.mp4
              watchboxctl play rtmp://relay/live/door --kas https://kas/kas --kas-token-file alice.token --output - | ffplay -
              watchboxctl play rtmp://relay/live/door --kas https://kas/kas --kas-token-file alice.token --snapshot door.png
            """)

    @Argument(help: "rtmp://host/app/stream or rtmps://…")
    var url: String?

    @Option(help: "File that holds the URL, when it is a secret.")
    var urlFile: String?

    @Option(help: "PEM file of the authorities to trust for the relay instead of the system's.")
    var relayCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the relay that is accepted, beside its certificates.", valueName: "sha256//…"))
    var relayPin: String?

    @Option(help: "Host that the relay may send the viewer to, HOST or HOST:PORT; may be repeated.")
    var relayRedirectHost: [String] = []

    @OptionGroup var keyAccess: KeyAccessOptions

    @Option(name: .shortAndLong, help: "film.mp4, film.ts, or - for MPEG-TS on standard output.")
    var output: String?

    @Option(help: "PNG file: the latest key frame; on its own, the first frame that comes.")
    var snapshot: String?

    @Option(help: "Stop after so many seconds of playing.")
    var duration: Double?

    @Flag(help: "Stop when the publisher leaves, instead of waiting for the next one.")
    var untilEnd = false

    @Flag(help: "Show a stream that is not encrypted, too.")
    var allowClear = false

    @Flag(help: "Show an old stream, too: a recording that is played again.")
    var allowRecording = false

    @Option(help: "Seconds; what was sealed longer ago is old.")
    var maxAge = 15.0

    @Option(help: "The name that the stream is registered under at the KAS, when the URL has another.")
    var stream: String?

    @Option(
        help: ArgumentHelp(
            "The device key that must have signed for the stream; what another one or none signed is not shown.",
            valueName: "sha256//…"))
    var publisher: String?

    @Flag(help: "Ask for no key: only record what the relay has.")
    var keyless = false

    @Option(help: "FLV file: the relay's copy, as it came, still sealed.")
    var record: String?

    @Option(help: "One line of JSON for each opened access unit goes to this file.")
    var frameLog: String?

    @Flag(help: "Print events as JSON lines, the statistics last (on standard error with --output -).")
    var json = false

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    private struct StateLine: Encodable {
        var schema = "watchbox.viewer.event/1"
        var event = "state"
        var state: ViewerStatistics.State
        var reason: String?
        var verdict: ViewerStatistics.Verdict?
        var verdictReason: String?
        /// Milliseconds.
        var age: Int64?
        /// `sha256//…` of the device key that signed.
        var publisher: String?
    }

    private struct FinalLine: Encodable {
        var schema = "watchbox.viewer.event/1"
        var event = "final"
        var statistics: ViewerStatistics
    }

    func validate() throws {
        guard (url == nil) != (urlFile == nil) else { throw ValidationError("Name a URL, or a file with --url-file.") }
        if let url, url.contains("@") || url.contains("?") {
            throw ValidationError(
                "This URL holds a secret, and others can read command lines. Put it into a file: --url-file.")
        }
        if let duration, !(duration > 0 && duration < 1e7) {
            throw ValidationError("--duration is a number of seconds.")
        }
        guard maxAge >= 1, maxAge < 1e7 else {
            throw ValidationError("--max-age is a number of seconds, 1 or more.")
        }
        if let publisher, !publisher.hasPrefix("sha256//") || publisher.utf8.count != 52 {
            throw ValidationError("--publisher is sha256//… as watchboxctl device key shows it.")
        }
        if publisher != nil, allowClear {
            throw ValidationError(
                "--publisher cannot hold with --allow-clear, since what is clear is not signed: leave one out.")
        }
        if publisher != nil, keyless {
            throw ValidationError("--publisher cannot hold with --keyless, which opens nothing: leave one out.")
        }
        if keyless, output != nil || snapshot != nil || frameLog != nil {
            throw ValidationError("--keyless opens nothing: it goes with --record only.")
        }
    }

    func run() async throws {
        let configuration = try settings()
        let lines = output == "-" ? StandardError.writeLine : StandardOutput.writeLine
        let progress = ProgressLine()
        let isJSON = json
        let viewer: Viewer
        do throws(ViewerError) {
            viewer = try Viewer(
                configuration: configuration, sinks: try sinks(),
                logger: LogSetup.logger(label: "watchboxctl", verbose: verbose),
                onState: { statistics in
                    if isJSON {
                        lines(
                            JSONLine.text(
                                StateLine(
                                    state: statistics.state, reason: statistics.reason, verdict: statistics.verdict,
                                    verdictReason: statistics.verdictReason, age: statistics.age,
                                    publisher: statistics.publisher)))
                    } else {
                        progress.update(Self.message(statistics))
                    }
                })
        } catch {
            throw Self.failure(error)
        }
        let signals = SignalWatch { viewer.stop() }
        let ticker = Task { await Self.showProgress(viewer, progress, isJSON: isJSON) }
        defer {
            ticker.cancel()
            signals.cancel()
        }
        let statistics: ViewerStatistics
        do {
            statistics = try await viewer.run()
        } catch {
            progress.clear()
            throw Self.failure(error)
        }
        ticker.cancel()
        progress.clear()
        if signals.isSignalled, !Self.hasRoom(output == "-" ? STDERR_FILENO : STDOUT_FILENO) { return }
        if json {
            lines(JSONLine.text(FinalLine(statistics: statistics)))
        } else if output == nil, snapshot == nil {
            for line in Self.table(statistics) { lines(line) }
        }
        if let finding = Self.finding(statistics) { throw finding }
    }

    /// What was wrong with the stream itself, at any time.
    private static func finding(_ statistics: ViewerStatistics) -> CommandFailure? {
        switch statistics.finding {
        case .notThisStream:
            CommandFailure(
                what: "this is not the stream that was asked for",
                why: "the key access server knows \(statistics.notThisStream) of its keys as another stream's",
                hint:
                    "ask who runs the relay; if the stream has another name at the KAS than in the URL: --stream NAME",
                status: .otherStream)
        case .notThisPublisher:
            CommandFailure(
                what: "the device that was asked for has not signed for this stream",
                why: statistics.verdict == .notThisPublisher
                    ? statistics.verdictReason ?? "\(statistics.notThisPublisher) of its collections lack its signature"
                    : "\(statistics.notThisPublisher) of its collections lack its signature",
                hint:
                    "ask the owner of the camera for its device key (watchboxctl device key), and whether the KAS has it",
                status: .otherPublisher)
        case .stale:
            CommandFailure(
                what: "what was played is old", why: "\(statistics.stale) frames were sealed too long ago to be shown",
                hint: "ask who runs the relay; to see a recording: --allow-recording", status: .staleStream)
        case .disordered:
            CommandFailure(
                what: "the order of the stream was changed",
                why: "\(statistics.disordered) frames came behind others that were sealed after them",
                hint: "ask who runs the relay", status: .disorderedStream)
        case .truncated:
            CommandFailure(
                what: "the stream is not whole",
                why: "the end of it, or of a part of it, never came, \(statistics.truncated) times",
                hint: "look whether the camera lost its connection then; if not, ask who runs the relay",
                status: .truncatedStream)
        case nil, .live, .unverified, .recording: nil
        }
    }

    /// Whoever was asked to end does not wait for a reader that has stopped reading.
    private static func hasRoom(_ descriptor: CInt) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, 500) != 0
    }

    private func settings() throws -> ViewerConfiguration {
        let url: RTMPURL
        do {
            let text = try self.url ?? TextFile.firstLine(of: urlFile ?? "")
            url = try RTMPURL(text)
        } catch let error as RTMPURLError {
            throw CommandFailure(
                what: "nothing can be played", why: "the URL is not understood: \(error)",
                hint: "use rtmp://host/app/stream or rtmps://host/app/stream", status: .usage)
        }
        let tls: RTMPClientTLS
        do { tls = try RTMPClientTLS(authorityFile: relayCA, pin: relayPin) } catch {
            throw CommandFailure(what: "nothing can be played", why: error.why, hint: error.hint, status: .usage)
        }
        let provider = KASKeyProvider(keyAccess.configuration)
        var configuration = ViewerConfiguration(
            url: url, tls: tls,
            mode: keyless ? .keyless : allowClear ? .sealedOrClear(provider) : .sealed(provider),
            recordingPath: record, untilStreamEnds: untilEnd)
        configuration.duration = duration.map { UInt64($0 * 1_000_000_000) }
        configuration.judging.mostAge = Int64(maxAge * 1000)
        configuration.judging.allowsRecording = allowRecording
        if let stream { configuration.judging.stream = stream }
        configuration.judging.publisher = publisher
        configuration.redirectHosts = relayRedirectHost
        return configuration
    }

    private func sinks() throws(ViewerError) -> sending [any MediaSink] {
        var sinks: [any MediaSink] = []
        if let output { sinks.append(MovieSink(output == "-" ? .standardOutput : .file(path: output))) }
        if let snapshot {
            sinks.append(SnapshotSink(path: snapshot, takesFirst: output == nil && duration == nil && !untilEnd))
        }
        if let frameLog { sinks.append(try FrameLogSink(path: frameLog)) }
        return sinks
    }

    private static func showProgress(_ viewer: Viewer, _ progress: ProgressLine, isJSON: Bool) async {
        while !isJSON, !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            if Task.isCancelled { return }
            progress.update(message(await viewer.report()))
        }
    }

    private static func message(_ statistics: ViewerStatistics) -> String {
        let reason = statistics.reason.map { ": \($0)" } ?? ""
        return switch statistics.state {
        case .connecting: "connecting"
        case .waitingForStream: "waiting for the stream\(quality(statistics))\(reason)"
        case .waitingForKey: "waiting for the key\(reason)"
        case .playing:
            "playing\(quality(statistics)): \(statistics.video.units) frames, \(statistics.audio.units) audio frames, "
                + "\(statistics.rewraps) keys, \(statistics.gaps) lost"
        case .waitingToReconnect: "the relay is gone, trying again\(reason)"
        case .ended: "ended\(reason)"
        }
    }

    /// ` (live, 0.3 s old)`.
    private static func quality(_ statistics: ViewerStatistics) -> String {
        guard let verdict = statistics.verdict else { return "" }
        let name =
            switch verdict {
            case .notThisStream: "another stream"
            case .notThisPublisher: "another publisher"
            case .disordered: "out of order"
            case .truncated: "not whole"
            case .live, .unverified, .recording, .stale: verdict.rawValue
            }
        let age = statistics.age.map { ", \(Double(max($0, 0) / 100) / 10) s old" } ?? ""
        return " (\(name)\(age))"
    }

    private static func table(_ statistics: ViewerStatistics) -> [String] {
        let publisher = statistics.publisher.map { "device \($0)" } ?? "no device signed, so far as the KAS says"
        let rows: [(String, String)] = [
            (
                "video frames",
                "\(statistics.video.units) (\(statistics.video.keyFrames) key frames, \(statistics.video.bytes) bytes)"
            ),
            ("audio frames", "\(statistics.audio.units) (\(statistics.audio.bytes) bytes)"),
            ("opened", "\(statistics.opened)"),
            ("without key", "\(statistics.noKey)"),
            ("not authentic", "\(statistics.authenticationFailed)"),
            ("came twice", "\(statistics.replayed)"),
            ("lost on the way", "\(statistics.gaps)"),
            (
                "verdict",
                (statistics.verdict?.rawValue ?? "none") + (statistics.verdictReason.map { ": \($0)" } ?? "")
            ),
            ("publisher", publisher),
            ("too old", "\(statistics.stale)"),
            ("another stream's", "\(statistics.notThisStream) keys"),
            ("another device's", "\(statistics.notThisPublisher) keys"),
            ("out of order", "\(statistics.disordered)"),
            ("ends missing", "\(statistics.truncated)"),
            ("headers refused", "\(statistics.headersIgnored + statistics.headersInvalid)"),
            ("malformed", "\(statistics.malformed + statistics.unreadable)"),
            ("keys", "\(statistics.rewraps) of \(statistics.collections), \(statistics.rewrapFailures) refusals"),
            ("reconnects", "\(statistics.reconnects)"),
        ]
        return rows.map { label, value in label + String(repeating: " ", count: 18 - label.count) + value }
    }

    private static func failure(_ error: ViewerError) -> CommandFailure {
        let status: ExitStatus =
            switch error {
            case .denied: .notPermitted
            case .relay: .remoteUnreachable
            case .clearStream, .output, .formatChanged: .failed
            }
        return CommandFailure(what: error.what, why: error.why, hint: error.hint, status: status)
    }
}
