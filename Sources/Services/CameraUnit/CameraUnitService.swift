public import CameraModel
public import ControlAPI
public import ErrorCatalog
internal import Glibc
internal import Platform
internal import PrometheusText
public import ServiceLifecycle
internal import Synchronization
public import Systemd

/// What a camera's process does besides its frame path: reports its state to systemd, and answers on its own socket.
public final class CameraUnitService: Service {
    /// What it needs of the camera; closures, so that it knows nothing of the pipeline.
    public struct Camera: Sendable {
        public var statistics: @Sendable () async -> CameraStatistics
        public var requestKeyFrame: @Sendable () -> Void
        public var rotateKey: @Sendable () -> Void
        /// Throws when the source cannot do it; then nothing is different.
        public var change: @Sendable (VideoChange) async throws(CodedError) -> Void
        /// The newest frame as JPEG; no wider than so many pixels, nil: as large as it is.
        public var snapshot: @Sendable (_ maxWidth: Int?) async throws(CodedError) -> [UInt8]
        /// What can be set at the camera itself.
        public var controls: @Sendable () async throws(CodedError) -> CameraControlsDocument
        /// Nil: it is not on the network.
        public var network: (any NetworkSourceControl)?
        /// What it shows the key access server from now on. Throws when it is not a token, or this camera has none.
        public var replaceToken: @Sendable (_ token: String) throws(CodedError) -> Void
        /// What happens now is to be recorded; nil: for as long as after any event. False: it is recorded all the time. Throws when the
        /// camera is not recorded.
        public var mark: @Sendable (_ seconds: Double?) throws(CodedError) -> Bool
        /// A page of what is recorded of it. Never asked for two at once.
        public var recordings: @Sendable (RecordingsQuery) async throws(CodedError) -> RecordingsDocument.Camera

        /// Without the last six: of a source that plays what is encoded already.
        public init(
            statistics: @escaping @Sendable () async -> CameraStatistics,
            requestKeyFrame: @escaping @Sendable () -> Void, rotateKey: @escaping @Sendable () -> Void,
            change: @escaping @Sendable (VideoChange) async throws(CodedError) -> Void = Self.cannotChange,
            snapshot: @escaping @Sendable (_ maxWidth: Int?) async throws(CodedError) -> [UInt8] = Self.hasNoFrame,
            controls: @escaping @Sendable () async throws(CodedError) -> CameraControlsDocument = Self.hasNoControls,
            network: (any NetworkSourceControl)? = nil,
            replaceToken: @escaping @Sendable (_ token: String) throws(CodedError) -> Void = Self.hasNoToken,
            mark: @escaping @Sendable (_ seconds: Double?) throws(CodedError) -> Bool = Self.isNotRecorded,
            recordings: @escaping @Sendable (RecordingsQuery) async throws(CodedError) -> RecordingsDocument.Camera =
                Self.hasNoRecordings
        ) {
            self.statistics = statistics
            self.requestKeyFrame = requestKeyFrame
            self.rotateKey = rotateKey
            self.change = change
            self.snapshot = snapshot
            self.controls = controls
            self.network = network
            self.replaceToken = replaceToken
            self.mark = mark
            self.recordings = recordings
        }

        @Sendable public static func hasNoRecordings(
            _ query: RecordingsQuery
        ) async throws(CodedError) -> RecordingsDocument.Camera {
            throw CodedError(
                .badRequest, "this camera has no recordings", hint: "Record it: watchboxctl recording on CAMERA")
        }

        @Sendable public static func isNotRecorded(_ seconds: Double?) throws(CodedError) -> Bool {
            throw CodedError(
                .badRequest, "this camera is not recorded",
                hint: "Record it around events: watchboxctl recording on CAMERA --events")
        }

        @Sendable public static func hasNoToken(_ token: String) throws(CodedError) {
            throw CodedError(
                .badRequest, "this camera has no token that could be replaced",
                hint: "Start it again: watchboxctl stream restart")
        }

        @Sendable public static func cannotChange(_ change: VideoChange) async throws(CodedError) {
            throw CodedError(
                .badRequest, "this source cannot be changed while it publishes", why: "its media are encoded already",
                hint: "Change its settings: watchboxctl camera edit, which restarts it")
        }

        @Sendable public static func hasNoControls() async throws(CodedError) -> CameraControlsDocument {
            throw CodedError(
                .badRequest, "this source has no controls", why: "it is no camera of this machine",
                hint: "Ask this of a camera whose source is v4l2:/dev/… or csi:…")
        }

        @Sendable public static func hasNoFrame(_ maxWidth: Int?) async throws(CodedError) -> [UInt8] {
            throw CodedError(
                .badRequest, "this source gives no single frame", why: "its media are encoded already",
                hint: "Play the stream: watchboxctl play")
        }
    }

    let camera: Camera
    let tests = OneAtATime()
    private let listings = OneAtATime()
    private let notifier: Notifier
    private let watchdogInterval: Duration?
    private let version: String
    private let rates = Mutex(CameraRates())

    /// - Parameter watchdogInterval: what systemd waits for a ping (`WatchdogSec=`); nil: it does not.
    public init(camera: Camera, notifier: Notifier, watchdogInterval: Duration?, version: String) {
        self.camera = camera
        self.notifier = notifier
        self.watchdogInterval = watchdogInterval
        self.version = version
    }

    /// Until graceful shutdown.
    public func run() async throws {
        // A quarter: two pings may be late and the third is still in time.
        let pause = min(Duration.milliseconds(500), (watchdogInterval ?? .seconds(4)) / 4)
        await cancelWhenGracefulShutdown {
            var watchdog = FramePathWatchdog()
            while !Task.isCancelled {
                let statistics = await self.camera.statistics()
                let now = Clocks.monotonic
                let rates = self.rates.withLock { rates in
                    rates.observed(statistics, at: now)
                    return rates
                }
                for action in watchdog.observed(statistics, rates: rates, at: now) {
                    switch action {
                    case .ready: self.notifier.ready()
                    case .alive: self.notifier.watchdog()
                    case .status(let text): self.notifier.status(text)
                    case .extendStart(let seconds): self.notifier.extendTimeout(.seconds(seconds))
                    }
                }
                try? await Task.sleep(for: pause)
            }
        }
        notifier.stopping(status: "closing the stream")
    }

    /// The API of this process: the same shape as control's.
    public var router: APIRouter {
        var routes = [
            APIRoute(.get, APIPath.status(), "State and figures of this camera.", response: "CameraStatusDocument") {
                _ in .document(await self.status())
            },
            APIRoute(.post, APIPath.keyFrame(), "Ask the source for a key frame.") { _ in
                self.camera.requestKeyFrame()
                return .noContent
            },
            APIRoute(.post, APIPath.rotateKey(), "Begin a new key at the next key frame.") { _ in
                self.camera.rotateKey()
                return .noContent
            },
            APIRoute(
                .post, APIPath.recording("mark"),
                "Record what happens now, of a camera that is recorded around events.",
                request: "RecordingMarkRequest", response: "RecordingMarkDocument"
            ) { request in
                .document(RecordingMarkDocument(isMarked: try self.camera.mark(try Self.seconds(request))))
            },
            APIRoute(
                .get, APIPath.recordings(), "What is recorded of this camera, oldest first, a page at a time.",
                response: "RecordingsDocument.Camera", query: RecordingsQuery.parameters
            ) { request in .document(try await self.recordings(try RecordingsQuery(request))) },
            APIRoute(
                .put, APIPath.keyAccessToken(), "The token that it shows the key access server from now on.",
                request: "SecretRequest"
            ) { request in
                try self.camera.replaceToken(try request.decode(SecretRequest.self).secret)
                return .noContent
            },
            APIRoute(
                .patch, APIPath.video(), "Change what the body names while it publishes, without a gap.",
                request: "VideoChange"
            ) { request in
                try await self.camera.change(try Self.change(request))
                return .noContent
            },
            APIRoute(
                .get, APIPath.snapshot(), "The newest frame, with its masks and its text.",
                responseType: Self.imageType, query: ["width": "Of the frame in pixels, at most; 16 to 16384"],
                isForAdministrators: true
            ) { request in
                let maxWidth = try Self.width(request)
                return APIResponse(body: .bytes(try await self.camera.snapshot(maxWidth), type: Self.imageType))
            },
            APIRoute(
                .get, APIPath.controls(), "What can be set at the camera itself, with its current values.",
                response: "CameraControlsDocument", isForAdministrators: true
            ) { _ in .document(try await self.camera.controls()) },
            APIRoute(.get, "/metrics", "Figures for Prometheus.") { _ in
                APIResponse(
                    body: .text(
                        MetricFamily.text(CameraMetrics.families(await self.status())), type: MetricFamily.mediaType))
            },
        ]
        // Of every camera: one that is not on the network says so.
        routes += networkRoutes
        return APIRouter(routes + [.openAPI("openapi-camera.json")])
    }

    /// One at a time: a disk that hangs is to hold one thread.
    private func recordings(_ query: RecordingsQuery) async throws(CodedError) -> RecordingsDocument.Camera {
        guard listings.begin() else {
            throw CodedError(
                .busy, "the recordings of this camera are being read", why: "somebody else has asked for them",
                hint: "Try again in a second")
        }
        defer { listings.end() }
        return try await camera.recordings(query)
    }

    private static let imageType = "image/jpeg"

    private static func width(_ request: APIRequest) throws(CodedError) -> Int? {
        guard let text = request.query["width"] else { return nil }
        guard let width = Int(text), (16...16_384).contains(width) else {
            throw CodedError(.badRequest, "width is not one that a frame can have", hint: "Use 16 to 16384")
        }
        return width
    }

    private static func seconds(_ request: APIRequest) throws(CodedError) -> Double? {
        let mark = try request.decode(RecordingMarkRequest.self)
        guard mark.isPossible else {
            throw CodedError(.invalidValue, "seconds is out of range", hint: "Use 1 to 3600, or leave it out")
        }
        return mark.seconds
    }

    private static func change(_ request: APIRequest) throws(CodedError) -> VideoChange {
        let change = try request.decode(VideoChange.self)
        guard !change.isEmpty else {
            throw CodedError(
                .badRequest, "the change names nothing",
                hint: "Name bitrate, frameRate, gopSeconds, or width and height")
        }
        guard (change.width == nil) == (change.height == nil) else {
            throw CodedError(.badRequest, "a size has a width and a height", hint: "Name both, or none")
        }
        return change
    }

    private func status() async -> CameraStatusDocument {
        let statistics = await camera.statistics()
        let rates = rates.withLock { $0 }
        var document = CameraStatusDocument(
            statistics: statistics, instant: Clocks.monotonic, framesPerSecond: rates.framesPerSecond,
            bitsPerSecond: rates.bitsPerSecond,
            ivUsedRatio: Double(statistics.itemsInCollection) / Double((1 << 24) - 1),
            watchdogSeconds: watchdogInterval.map { $0 / .seconds(1) }, version: version)
        // Without a rate nothing can be said of the time.
        if rates.framesPerSecond >= 0.5, let frames = statistics.video.unchangedFrames {
            document.frameUnchangedSeconds = Double(frames) / rates.framesPerSecond
        }
        return document
    }
}
