internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Settings
internal import UplinkRate

/// One document of the API with every field filled: the example in OpenAPI, and what tests hold the schema against.
struct DocumentSample: Sendable {
    /// As in `APIRoute.requestDocument`: the type's name.
    let name: String
    let value: OpenAPIValue
    /// Not for what holds a secret.
    let isShown: Bool
    /// Adds the type's schema; gives the reference to it.
    let addSchema: @Sendable (inout OpenAPISchemas) throws -> OpenAPIValue
    /// Bytes of the document made from these bytes, for round trips.
    let reencode: @Sendable ([UInt8]) throws -> [UInt8]

    init<Document: Codable & Sendable>(_ document: Document, isShown: Bool = true) {
        let bytes = JSONDocument.bytes(document)
        name = OpenAPISchemas.name(Document.self)
        value = (try? JSONDocument.decode(OpenAPIValue.self, from: bytes)) ?? .null
        self.isShown = isShown
        addSchema = { try $0.schema(of: Document.self) }
        reencode = { JSONDocument.bytes(try JSONDocument.decode(Document.self, from: $0)) }
    }

    /// Made on each use: a daemon that nobody asks for its OpenAPI document holds none of it.
    static var all: [DocumentSample] { box + network + hooks }

    private static var box: [DocumentSample] {
        [
            Self(status), Self(VersionDocument(version: "0.2.0")), Self(camera),
            Self(CameraListDocument(cameras: [camera])),
            Self(cameraRequest),
            Self(VideoChange(bitrate: 1_000_000, frameRate: 15, gopSeconds: 2.5, width: 1280, height: 720)),
            Self(
                CameraControlsDocument(
                    camera: "front", device: "csi:/base/soc/i2c0mux/i2c@1/imx708@1a", card: "imx708",
                    controls: [
                        VideoControlDocument(
                            name: "af_mode", kind: "menu", minimum: 0, maximum: 2, step: 1, defaultValue: 0, value: 2,
                            menu: ["0": "Manual", "1": "Auto", "2": "Continuous"])
                    ])),
            Self(RecordingMarkRequest(seconds: 60)), Self(RecordingMarkDocument(isMarked: true)),
            Self(recordings),
            Self(CameraOrderRequest(ids: ["front", "yard"])),
            Self(CameraRenameRequest(id: "yard", stream: "yard", password: "…"), isShown: false), Self(stream),
            Self(StreamListDocument(streams: [stream])), Self(cameraStatus), Self(key),
            Self(KeyListDocument(keys: [key])),
            Self(relay), Self(RelayListDocument(relays: [relay])),
            Self(
                RelayRequest(
                    url: "rtmps://live.example.net/live", certificateAuthorityFile: "/etc/watchbox/ca.pem",
                    publicKeyPin: pin, profile: "keeps-metadata", redirectHosts: ["relay2.example.net"])),
            Self(keyAccess), Self(device),
            Self(SecretRequest(secret: "…"), isShown: false),
            Self(HandOverRequest(secrets: ["kas-token": "…"]), isShown: false),
            Self(
                EventDocument(
                    id: 812, time: 1_790_000_000_000_000, topic: "camera", object: "front", code: .noFrames,
                    text: "front delivers no frames",
                    sensorEvent: SensorEvent(kind: .motion, isActive: true, source: "VideoSource_1"))),
            Self(LogDocument(lines: [logLine])), Self(logLine),
            Self(health),
            Self(HealthHistoryDocument(events: [healthEvent])), Self(healthEvent), Self(issue),
            Self(
                ValidationDocument(isValid: false, files: ["watchbox.toml", "conf.d/10-cams.toml"], issues: [issue])),
            Self(
                ConfigurationDiff(
                    fromGeneration: 27, toGeneration: 28, changes: [change], confirmWithinSeconds: 60,
                    keptSecrets: ["relay-main"])),
            Self(ApplyRequest(confirmSeconds: 60, generation: 26)), Self(generations),
            Self(
                ConfigurationDocument(
                    generation: 27, toml: "version = 1\n", origins: ["camera.front": "conf.d/10-cams.toml:4"],
                    files: ["watchbox.toml", "conf.d/10-cams.toml"], quarantined: [quarantined])),
            Self(quarantined),
            Self(ImportRequest(toml: "version = 1\n", replace: true, ifGeneration: 3)),
            Self(
                Problem(
                    status: 404, title: "There is no such object", detail: "there is no camera frnot", code: .notFound,
                    hint: "List what there is: watchboxctl camera list", object: "frnot")),
        ]
    }

    private static var recordings: RecordingsDocument.Camera {
        var page = RecordingsDocument.Camera(
            camera: "front",
            recordings: [
                .init(
                    file: "00000123-20261128T192201040Z-60040.tdf", from: "2026-11-28T19:22:01.040Z",
                    to: "2026-11-28T19:23:01.080Z", bytes: 30_020_000, pinned: false)
            ])
        page.recordsNow = true
        page.unfinished = 1
        page.seconds = 60.04
        page.bytes = 30_020_000
        page.files = 1
        page.from = "2026-11-28T19:22:01.040Z"
        page.to = "2026-11-28T19:23:01.080Z"
        page.spans = [
            .init(
                from: "2026-11-28T19:22:01.040Z", to: "2026-11-28T19:23:01.080Z", seconds: 60.04, bytes: 30_020_000,
                files: 1)
        ]
        page.gaps = [.init(from: "2026-11-28T18:00:00.000Z", to: "2026-11-28T19:22:01.040Z", seconds: 4921.04)]
        page.notLive = [.init(from: "2026-11-28T19:22:10.000Z", to: "2026-11-28T19:22:31.500Z", seconds: 21.5)]
        page.clockSteps = [.init(from: "2026-11-28T19:23:01.080Z", to: "2026-11-28T18:23:01.100Z")]
        page.next = "00000123-20261128T192201040Z-60040.tdf"
        return page
    }

    private static var statistics: CameraStatistics {
        var statistics = CameraStatistics(camera: "front", stream: "front")
        statistics.state = .publishing
        statistics.reason = "publishing to live.example.net"
        statistics.video.delivered = 25_000
        statistics.video.sealed = 24_990
        statistics.video.dropped = 14
        statistics.video.late = 4
        statistics.audio.late = 0
        statistics.video.lastCaptured = 987_150_000_000
        statistics.video.unchangedFrames = 3
        statistics.audio.unchangedFrames = 0
        statistics.audio.lastCaptured = 987_160_000_000
        statistics.code = .relayUnreachable
        statistics.collection = "9f86d081"
        statistics.roundTripNanoseconds = 41_000_000
        statistics.lastAcknowledged = 987_000_000_000
        statistics.lastSent = 987_100_000_000
        statistics.clock = .system
        var recording = RecordingStatistics()
        recording.state = .recording
        recording.reason = "the disk is full: recordings go before their time"
        recording.code = .recordingShortened
        recording.oldest = 1_790_000_000_000
        recording.newest = 1_790_000_060_000
        recording.lastEvent = .init(cause: .motion, time: 1_790_000_030_000)
        recording.causes = [.motion, .tamper, .digitalInput, .mark]
        recording.recoveryKey = "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="
        statistics.recording = recording
        statistics.uplink = UplinkStatistics(
            target: 850_000, least: 350_000, most: 3_500_000, measured: 940_000, delayMilliseconds: 40, drops: 21,
            changes: 7, reason: .congestion, lastChange: 986_000_000_000, congestionControl: "bbr",
            history: [.init(target: 3_500_000, measured: 3_450_000), .init(target: 850_000, measured: 940_000)])
        statistics.capture = capture
        return statistics
    }

    private static var capture: CaptureStatistics {
        var capture = CaptureStatistics(path: "/dev/v4l/by-id/usb-Example_Camera_0042-video-index0")
        capture.state = .streaming
        capture.reason = "the driver said that the device is gone; it is looked for again"
        capture.code = .deviceMissing
        capture.device = "/dev/video2"
        capture.card = "Example Camera"
        capture.usbPort = "1-1.4"
        capture.pixelFormat = "YUYV"
        capture.captureWidth = 1280
        capture.captureHeight = 720
        capture.captureRate = 29.97
        capture.encoder = "libx264"
        capture.encoderReason = "no hardware encoder on this machine"
        capture.isHardwareEncoder = false
        capture.width = 1280
        capture.height = 720
        capture.rate = 15.5
        capture.limit = "30 frames per second were asked for, 15 are what this processor encodes at 1280x720"
        capture.captured = 25_010
        capture.superseded = 10
        capture.encodeDurations.took(8_200_000)
        capture.ownDurations.took(400_000)
        capture.latencyNanoseconds = 21_000_000
        capture.wallClockDriftMilliseconds = 0.25
        capture.audioDriftMilliseconds = -1.5
        capture.audio = "hw:CARD=Camera"
        capture.audioReason = "the audio device is busy"
        capture.network = networkStatistics
        return capture
    }

    private static var stream: StreamDocument {
        StreamDocument(
            camera: "front", stream: "front", state: .waiting, reason: "the relay does not answer",
            code: .relayUnreachable, hint: "Check the relay", relay: "main", framesPerSecond: 25,
            bitsPerSecond: 2_000_000.5,
            acknowledgedSecondsAgo: 0.4, roundTripMilliseconds: 41.5, uplinkChangedSecondsAgo: 12.5, restarts: 1,
            unit: "active",
            statistics: statistics)
    }

    private static var camera: CameraDocument {
        CameraDocument(
            id: "front", name: "Front door", source: "rtsp://192.0.2.7/stream1", user: "admin", hasPassword: true,
            gridPosition: 1, added: 1_780_000_000, lastConnected: 1_790_000_000, manufacturer: "Example",
            model: "IPC-1", firmware: "1.2", endpoint: endpoint, serial: "0042", mac: "00:00:5e:00:53:01",
            address: "192.0.2.7", port: 554,
            settings: [
                "bitrate": .integer(2_000_000), "gop": .real(1.5), "audio": .boolean(true), "size": .string("1280x720"),
            ],
            profiles: [
                .init(
                    name: "main", width: 1280, height: 720, rate: 25, codec: "h264", isDefault: true,
                    token: "Profile_1",
                    bitrate: 2_000_000, gop: 25)
            ],
            origin: "store", stream: stream)
    }

    private static var cameraRequest: CameraRequest {
        CameraRequest(
            id: "front", name: "Front door", source: "test:", user: "admin", isActive: true,
            settings: ["rate": .integer(25), "viewers": .strings(["alice", "bob"])], test: "5yc1z7ep3v0k",
            acceptMove: "onvif://192.0.2.77")
    }

    private static var cameraStatus: CameraStatusDocument {
        CameraStatusDocument(
            statistics: statistics, instant: 987_200_000_000, framesPerSecond: 25, bitsPerSecond: 2_000_000,
            ivUsedRatio: 0.0015, frameUnchangedSeconds: 0.04, watchdogSeconds: 20, version: "0.2.0")
    }

    private static var key: KeyDocument {
        KeyDocument(
            camera: "front", stream: "front", collection: "9f86d081", ivUsed: 24_990, rotations: 3,
            headersRegistered: 4, headersUnregistered: 0)
    }

    private static let pin = "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private static var relay: RelayDocument {
        RelayDocument(
            name: "main", url: "rtmps://live.example.net/live", hasSecret: true,
            certificateAuthorityFile: "/etc/watchbox/ca.pem", publicKeyPin: pin, profile: "keeps-metadata",
            redirectHosts: ["relay2.example.net"], origin: "watchbox.toml:3",
            cameras: ["front"])
    }

    private static var keyAccess: KeyAccessDocument {
        KeyAccessDocument(
            url: "https://kas.example.net/kas", certificateAuthorityFile: "/etc/watchbox/ca.pem", publicKeyPin: pin,
            keyIdentifiers: "auto", hasToken: true,
            tokenEndsAt: 1_790_600_000, code: .tokenEndsSoon, camerasWithOwnToken: 1, origin: "watchbox.toml:4")
    }

    private static var device: DeviceKeyDocument {
        DeviceKeyDocument(
            publicKey: "-----BEGIN PUBLIC KEY-----\n…", fingerprint: pin,
            nextPublicKey: "-----BEGIN PUBLIC KEY-----\n…",
            nextFingerprint: pin, camerasThatSign: 2)
    }

    private static var logLine: LogLine {
        LogLine(
            time: 1_790_000_000_000_000, unit: "watchbox-camera@front.service", camera: "front", level: "warning",
            code: .relayUnreachable, message: "the relay does not answer", cursor: "s=0639")
    }

    private static var check: HealthCheck {
        HealthCheck(
            check: "publish", object: "front", state: .fail, since: 1_790_000_000,
            evidence: "last acknowledgement 41.2 s ago", code: .relayUnreachable,
            hint: "Run: watchboxctl relay test main",
            isAcknowledged: true)
    }

    private static var health: HealthReport {
        HealthReport(
            state: .fail, time: 1_790_000_041, checks: [check],
            ladder: LadderDocument(steps: [
                .init(
                    level: "L1", action: "restart the camera", used: 1, allowed: 8, windowSeconds: 600,
                    last: 1_790_000_030)
            ]), recoveries: ["L1": 1])
    }

    private static var healthEvent: HealthEvent {
        HealthEvent(
            id: 17, time: 1_790_000_030, kind: "recovery", check: "publish", object: "front", from: .fail, to: .ok,
            level: "L1", text: "restarted front", code: .noFrames)
    }

    private static var issue: ConfigurationIssue {
        ConfigurationIssue(
            code: .unknownKey, file: "conf.d/10-cams.toml", line: 4, column: 3, key: "camera.front.bitrat",
            reason: "is not known, did you mean \"bitrate\"?", hint: "Write bitrate")
    }

    private static var quarantined: QuarantinedObject {
        QuarantinedObject(
            object: "camera.yard", origin: "conf.d/20-yard.toml:2",
            issues: [
                ConfigurationIssue(
                    code: .invalidValue, file: "conf.d/20-yard.toml", line: 4, column: 1, key: "camera.yard.bitrate",
                    reason: "is not within 50000 and 100000000", hint: "Use 50000 to 100000000")
            ],
            hint: "Correct it in conf.d/20-yard.toml, then run: watchboxctl config apply")
    }

    private static var change: ConfigurationChange {
        ConfigurationChange(
            object: "camera.front", kind: .changed, details: ["bitrate: 2000000 → 1000000"], action: .restartCamera,
            affects: ["front"])
    }

    private static var generations: GenerationListDocument {
        GenerationListDocument(generations: [
            .init(number: 27, time: 1_790_000_000, isCurrent: true, cause: "config apply", cameras: 1)
        ])
    }

    private static var status: BoxStatus {
        BoxStatus(
            name: "porch-box", version: "0.2.0", state: .degraded, reason: "1 of 3 cameras is not publishing",
            hint: "Run: watchboxctl stream list", time: 1_790_000_041, uptimeSeconds: 1_051_200,
            isClockSynchronised: true,
            generation: 27, configurationProblem: "conf.d/10-cams.toml:4: camera.front.bitrat is not known",
            cameras: [camera], relays: [relay], keyAccess: keyAccess, health: health, recoveriesToday: 2,
            secretProtection: "tpm2", rebootRequired: true, quarantined: [quarantined])
    }
}
