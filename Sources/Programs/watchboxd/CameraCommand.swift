import APIServer
import ArgumentParser
import CameraModel
import CameraPipeline
import CameraUnit
import Console
import ControlAPI
import Doctor
import ErrorCatalog
import FoundationEssentials
import KeyAccessClient
import Logging
import Platform
import Recording
import ServiceLifecycle
import Settings
import Systemd

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera",
        abstract: "Publish one camera: encode, seal every frame, send it to a relay.",
        discussion: """
            A relay URL that holds a user, a password or a token, or whose stream name is a key, comes from a file.

              watchboxd camera door --source pattern --relay rtmp://127.0.0.1:1935/live/door \\
                  --kas http://127.0.0.1:9443/kas --kas-token-file box.token
              watchboxd camera yard --source v4l2:/dev/v4l/by-id/usb-Maker_Camera_1234-video-index0 --relay-url-file relay.url \\
                  --kas https://kas.example.net/kas
              watchboxd camera gate --source rtsp://192.0.2.7/stream1 --user viewer --password-file gate.password \\
                  --relay-url-file relay.url --kas https://kas.example.net/kas
              watchboxd camera door --source holiday.mp4 --loop --relay-url-file relay.url --kas https://kas.example.net/kas
              watchboxd camera door --config door.json

            As watchbox-camera@door.service it needs no option: settings and secrets come as systemd credentials, and it \
            answers on /run/watchbox/camera/door.sock.
            """)

    @Argument(help: "Name of the camera: a-z, 0-9 and single hyphens, at most 24 characters.")
    var id: String

    @Option(help: "JSON file with every setting; then no other option but --json and --verbose is read.")
    var config: String?

    @Option(help: "Answer on this socket: status, metrics, key-frame request. As a unit: /run/watchbox/camera/ID.sock.")
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where the frames come from: `pattern`, v4l2:/dev/… or csi: for a camera of this machine, rtsp://, rtsps://, onvif://, http:// or https:// for one on the network, or a media file.",
            valueName: "pattern|v4l2:device|csi:|url|file"))
    var source = "pattern"

    @Option(help: "User name at a network camera.")
    var user: String?

    @Option(help: "File that holds the password at a network camera and nothing else.")
    var passwordFile: String?

    @Option(help: "How a network camera's media come: tcp, udp or multicast.")
    var transport = "tcp"

    @Option(help: "Which clock counts for a network camera's frames and audio: camera, arrival or auto.")
    var timestamps = "auto"

    @Flag(help: "Show a network camera the password in a form that everybody on its network can read, if need be.")
    var allowBasic = false

    @Option(
        help: ArgumentHelp(
            "Pin of the network camera's certificate; that of the first one shown unless given.",
            valueName: "sha256//…"))
    var pin: String?

    @Option(help: "Frames that an http:// camera is asked for in a second, when it sends one at a time.")
    var snapshotRate = 2.0

    @Option(help: "Stream of an onvif:// camera: main, sub or a profile's token; main unless given.")
    var profile: String?

    @Option(help: "Host of an onvif:// camera's stream, when it is another one; the login goes there.")
    var rtspHost: String?

    @Option(help: "Port of an onvif:// camera's stream, when it is another one.")
    var rtspPort: Int?

    @Option(help: "rtmp://host/app/stream or rtmps://…, without anything secret.")
    var relay: String?

    @Option(help: "File that holds the relay's URL and nothing else.")
    var relayURLFile: String?

    @Option(help: "PEM file of the authorities to trust for the relay instead of the system's.")
    var relayCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the relay that is accepted, beside its certificates.", valueName: "sha256//…"))
    var relayPin: String?

    @Option(help: "Host that the relay may send the camera to, HOST or HOST:PORT; may be repeated.")
    var relayRedirectHost: [String] = []

    @Option(
        help:
            "Does the relay keep onMetaData (keeps-metadata), rebuild it (drops-metadata), or parse frames (parses-avcc)?"
    )
    var relayProfile = "keeps-metadata"

    @OptionGroup var keyAccess: KeyAccessOptions

    @Option(help: "PEM file of the P-256 key that signs what is registered at the KAS.")
    var deviceKeyFile: String?

    @Option(help: "Name of the stream at the KAS; the camera's name unless given.")
    var stream: String?

    @Option(help: ArgumentHelp("Size of the video of a camera or of the test pattern.", valueName: "width>x<height"))
    var size = "1280x720"

    @Option(help: "Frames per second of a camera or of the test pattern.")
    var rate = 30

    @Option(help: "Bits per second of the video of a camera or of the test pattern.")
    var bitrate = 2_000_000

    @Flag(help: "Leave the bitrate as it is, whatever the way to the relay bears.")
    var noAdapt = false

    @Option(help: "Bits per second below which it does not fall; a tenth of --bitrate unless given.")
    var minBitrate: Int?

    @Option(help: "Seconds between key frames of a camera or of the test pattern.")
    var gop = 1.0

    @Flag(help: "No tone with the test pattern, no audio of a network camera.")
    var noAudio = false

    @Flag(help: "Begin the file again at its end.")
    var loop = false

    @Option(help: "real-time, or unthrottled: as fast as the relay takes it.")
    var pace = "real-time"

    @Option(help: "Stop after so many seconds of media.")
    var duration: Double?

    @Option(help: "Seconds under one key.")
    var rotateSeconds = 60.0

    @Flag(help: "A new key at each key frame, as Arkavo's app does.")
    var rotateEveryKeyframe = false

    @Option(help: "Attribute URI that viewers must hold; may be repeated.")
    var attribute: [String] = []

    @Option(help: "Subject that may view; may be repeated; none: every one with a token for the stream.")
    var dissem: [String] = []

    @Option(help: "One line of JSON for each sealed access unit goes to this file.")
    var frameLog: String?

    @Option(
        help: ArgumentHelp(
            "Record into this directory as well, sealed for the key access server: 8 GB, 30 days, 1 GB left free.",
            valueName: "directory"))
    var record: String?

    @Flag(help: .hidden)
    var clearForTests = false

    @Flag(help: "Print events as JSON lines on standard output, the statistics last.")
    var json = false

    @Flag(name: .shortAndLong, help: "Log what only a developer reads.")
    var verbose = false

    private struct StateLine: Encodable {
        var schema = "watchbox.camera.event/1"
        var event = "state"
        var state: CameraStatistics.State
        var reason: String?
        /// CLOCK_MONOTONIC, nanoseconds.
        var instant = Clocks.monotonic
    }

    private struct FinalLine: Encodable {
        var schema = "watchbox.camera/1"
        var event = "final"
        var statistics: CameraStatistics
    }

    func run() async throws {
        do {
            try await publish()
        } catch let end as End {
            // Of a process that has gone systemd keeps the status, and control reads it there.
            if let reason = end.reason { Notifier.environment.lastStatus(reason.endLine) }
            throw end.failure
        }
    }

    /// Why there is nothing more to do, for systemd and for whoever sees standard error.
    private struct End: Error {
        var reason: CodedError?
        var failure: any Error
    }

    private func publish() async throws {
        ProgramPages.release()
        var configuration = try settings()
        // Under systemd the file stays as it was at the start; control reports what changed since.
        var token: HeldAccessToken?
        if isUnit, case .file(let path) = configuration.kas.token {
            let held = HeldAccessToken(file: path)
            configuration.kas.token = .held(held)
            token = held
        }
        let logger = LogSetup.logger(label: "watchbox-camera", verbose: verbose)
        if isUnit { Self.forgetFormer(configuration, logger) }
        let clock = StreamClock()
        let recorder: Recorder?
        let service: CameraService
        do {
            recorder =
                clearForTests
                ? nil
                : try configuration.recording.map { try Recorder($0, of: configuration, clock: clock, logger: logger) }
            service =
                clearForTests
                ? try CameraService(
                    clearForTests: configuration, environment: ProcessInfo.processInfo.environment, logger: logger)
                : try CameraService(
                    configuration: configuration, logger: logger, observer: recorder, clock: clock,
                    mustEnd: { error in
                        // The last log lines: nothing that could wait for a hung encoder may follow.
                        logger.critical("\(error)", metadata: ["code": "\(error.code)"])
                        Notifier.environment.lastStatus(error.endLine)
                        CameraService.endProcess(error)
                    })
        } catch {
            throw Self.end(error)
        }
        if let recorder { service.network?.observeSensors { recorder.sensed($0) } }
        let isJSON = json
        let events = Task {
            for await event in service.events {
                guard case .stateChanged(let state, let reason) = event else { continue }
                // The KAS was asked: what that took is not needed for frames.
                if state == .connecting { ProgramPages.release() }
                guard isJSON else { continue }
                StandardOutput.writeJSON(StateLine(state: state, reason: reason))
            }
        }
        var failure: (any Error)?
        do {
            try await ServiceGroup.untilSignalled(
                // The last one that is started is the first to stop: the recorder has the last frames of its source.
                (recorder.map { [$0] } ?? []) + [service]
                    + unit(
                        of: service, recorder, RecordingsReader(camera: id, directory: recordings(configuration)),
                        token: token, logger: logger) + [StartPages()], logger: logger)
        } catch {
            failure = error
        }
        await events.value
        let statistics = await Self.statistics(service, recorder)
        if json { StandardOutput.writeJSON(FinalLine(statistics: statistics)) }
        if let failure { throw Self.end(failure, statistics) }
    }

    private static func statistics(_ service: CameraService, _ recorder: Recorder?) async -> CameraStatistics {
        var statistics = await service.statistics()
        statistics.recording = recorder?.statistics
        return statistics
    }

    /// What a camera under systemd, or one with a socket, does beside its frame path.
    private func unit(
        of service: CameraService, _ recorder: Recorder?, _ recordings: RecordingsReader, token: HeldAccessToken?,
        logger: Logger
    ) -> [any Service] {
        let path = socket ?? (isUnit ? "/run/watchbox/camera/\(id).sock" : nil)
        guard path != nil || Notifier.environment.isActive else { return [] }
        let unit = CameraUnitService(
            camera: .init(
                statistics: { await Self.statistics(service, recorder) },
                requestKeyFrame: { service.requestKeyFrame() }, rotateKey: { service.rotateKey() },
                change: { (change) throws(CodedError) in try service.change(change) },
                snapshot: { (maxWidth) async throws(CodedError) in try await service.snapshot(maxWidth: maxWidth) },
                controls: { [id] () async throws(CodedError) in
                    CameraControlsDocument(camera: id, try await service.controls())
                },
                network: service.network,
                replaceToken: { (newer) throws(CodedError) in
                    guard let token else { return try CameraUnitService.Camera.hasNoToken(newer) }
                    do throws(KeyAccessError) {
                        try token.replace(with: newer)
                    } catch {
                        throw CodedError(.badRequest, error.what, why: error.why)
                    }
                },
                mark: { (seconds) throws(CodedError) in
                    guard let recorder else { return try CameraUnitService.Camera.isNotRecorded(seconds) }
                    return recorder.mark(for: seconds.map { .seconds($0) })
                }, recordings: { (query) async throws(CodedError) in try await recordings.page(query) }),
            notifier: .environment,
            watchdogInterval: Notifier.watchdogInterval(
                environment: ProcessInfo.processInfo.environment,
                processIdentifier: ProcessInfo.processInfo.processIdentifier), version: Version.current)
        guard let path else { return [unit] }
        // The group comes from the directory (setgid): control and health may connect, another camera may not.
        let server = PersistentAPIServer(logger: logger) {
            APIServer(
                configuration: .init(listener: .unixSocket(path: path, mode: 0o660, group: nil)), router: unit.router,
                logger: logger)
        }
        return [unit, server]
    }

    /// Where its recordings are, also while it is not recorded; nil: nowhere.
    private func recordings(_ configuration: CameraConfiguration) -> String? {
        if let recording = configuration.recording { return recording.directory }
        // The second one of a unit's, after its memory.
        guard isUnit, let directories = ProcessInfo.processInfo.environment["STATE_DIRECTORY"] else { return nil }
        return directories.split(separator: ":").dropFirst().first.map(String.init)
    }

    /// What an earlier camera of this ID has learned is none of this one's business.
    private static func forgetFormer(_ configuration: CameraConfiguration, _ logger: Logger) {
        guard let instance = configuration.instance else { return }
        for name in ["STATE_DIRECTORY", "RUNTIME_DIRECTORY"] {
            // The first one: what was recorded is the user's, whoever has the name now.
            guard let directories = ProcessInfo.processInfo.environment[name], directories.hasPrefix("/"),
                let directory = directories.split(separator: ":").first.map(String.init)
            else { continue }
            do {
                guard try KeptState.claim(directory, for: instance) else { continue }
                logger.notice("forgot what another camera of this name has left in \(directory)")
            } catch {
                logger.warning(
                    "what another camera of this name may have left in \(directory) cannot be removed: \(error)")
            }
        }
    }

    /// Started by systemd with its settings as a credential.
    private var isUnit: Bool {
        config == nil && relay == nil && relayURLFile == nil && CredentialDirectory.environment.path("config") != nil
    }

    private static func end(_ error: any Error, _ statistics: CameraStatistics? = nil) -> End {
        guard let reason = CameraService.reason(of: error, statistics: statistics) else {
            return End(
                failure: CommandFailure(
                    what: "the camera does not run", why: "it was stopped while it started", hint: "Start it again"))
        }
        return End(reason: reason, failure: CommandFailure(reason, what: "the camera does not run"))
    }

    private func settings() throws -> CameraConfiguration {
        guard isUnit, let path = CredentialDirectory.environment.path("config") else { return try ownSettings(config) }
        do {
            return try CredentialReferences.resolve(try ownSettings(path), in: .environment)
        } catch let error as CodedError {
            throw Self.end(error)
        } catch let failure as CommandFailure {
            throw End(
                reason: CodedError(.unreadableFile, failure.what, why: failure.why, hint: failure.hint),
                failure: failure)
        }
    }

    private func ownSettings(_ config: String?) throws -> CameraConfiguration {
        if let config {
            do {
                let configuration = try CameraConfiguration.decode(try Data(contentsOf: URL(filePath: config)))
                guard configuration.id == id else {
                    throw CommandFailure(
                        what: "the camera does not run",
                        why: "\(config) is for the camera \(configuration.id), not \(id)",
                        hint: "name the right file", status: .invalidConfiguration)
                }
                return configuration
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                throw CommandFailure(
                    what: "cannot read the settings in \(config)", why: "\(error)", hint: "correct the file",
                    status: .invalidConfiguration)
            }
        }
        guard let pace = CameraConfiguration.Pace(rawValue: pace) else {
            throw ValidationError("--pace is real-time or unthrottled.")
        }
        guard let profile = CameraConfiguration.RelayProfile(rawValue: relayProfile) else {
            throw ValidationError("--relay-profile is keeps-metadata, drops-metadata or parses-avcc.")
        }
        let media: CameraConfiguration.Source
        let parts = size.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2 else { throw ValidationError("--size is WIDTHxHEIGHT, for instance 1280x720.") }
        if let path = CameraConfiguration.Device.path(ofSource: source) {
            media = .device(
                .init(
                    path: path, width: parts[0], height: parts[1],
                    frameRate: rate, bitrate: bitrate, gopSeconds: gop))
        } else if let network = try networkSource() {
            media = .network(network)
        } else if source == "pattern" {
            media = .testPattern(
                .init(
                    width: parts[0], height: parts[1], frameRate: rate, bitrate: bitrate, gopSeconds: gop,
                    audio: !noAudio))
        } else {
            media = .file(.init(path: source, loop: loop, pace: pace))
        }
        var kas = keyAccess.configuration
        kas.signingKeyFile = deviceKeyFile
        return CameraConfiguration(
            id: id, streamName: stream, source: media,
            relay: .init(
                url: relay, urlFile: relayURLFile, caFile: relayCA, publicKeyPin: relayPin,
                redirectHosts: relayRedirectHost.isEmpty ? nil : relayRedirectHost),
            kas: kas,
            policy: .init(dataAttributes: attribute, dissem: dissem),
            rotation: .init(seconds: rotateSeconds, everyKeyFrame: rotateEveryKeyframe), relayProfile: profile,
            frameLog: frameLog, duration: duration,
            recording: record.map { .init(directory: URL(filePath: $0).path(percentEncoded: false)) },
            uplink: noAdapt || minBitrate != nil ? .init(adapt: !noAdapt, minBitrate: minBitrate) : nil)
    }

    /// Nil when the source is none of the network.
    private func networkSource() throws -> CameraConfiguration.Network? {
        guard let end = source.firstRange(of: "://")?.lowerBound,
            CameraConfiguration.Network.schemes.contains(source[..<end].lowercased())
        else { return nil }
        guard let transport = CameraConfiguration.Network.Transport(rawValue: transport) else {
            throw ValidationError("--transport is tcp, udp or multicast.")
        }
        guard let timestamps = CameraConfiguration.Network.Timestamps(rawValue: timestamps) else {
            throw ValidationError("--timestamps is camera, arrival or auto.")
        }
        return CameraConfiguration.Network(
            url: source[..<end].lowercased() + source[end...], user: user, passwordFile: passwordFile,
            transport: transport, timestamps: timestamps, audio: !noAudio, allowsBasic: allowBasic, pin: pin,
            snapshotRate: snapshotRate, profile: profile, rtspHost: rtspHost, rtspPort: rtspPort,
            transcoding: .init(bitrate: bitrate, gopSeconds: gop))
    }
}
