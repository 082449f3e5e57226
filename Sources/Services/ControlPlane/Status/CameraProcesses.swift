internal import CameraModel
internal import ControlAPI
internal import ControlClient
internal import Synchronization

/// Asks the cameras' processes on their sockets.
final class CameraProcesses: Sendable {
    /// At once.
    private static let concurrency = 16
    /// Of one JPEG; 1920x1920 without any compression has 5.5 MB.
    static let frameBytes = 8 << 20

    private let paths: ControlPaths
    private let deadlines: ProcessDeadlines
    /// Somebody who asks while everybody is being asked gets the same answers.
    private let current = Mutex<(users: [String: UInt32], task: Task<[String: CameraStatusDocument], Never>)?>(nil)

    init(paths: ControlPaths, deadlines: ProcessDeadlines) {
        self.paths = paths
        self.deadlines = deadlines
    }

    /// Those that answer in time.
    ///
    /// - Parameter users: of each camera's unit, by ID: nobody else's socket is asked.
    func statuses(of users: [String: UInt32]) async -> [String: CameraStatusDocument] {
        let task = current.withLock { current in
            if let current, users.allSatisfy({ current.users[$0.key] == $0.value }) { return current.task }
            let task = Task { [paths, deadline = deadlines.status] in
                let answers = await Self.ask(users, paths: paths, within: deadline)
                return answers
            }
            current = (users, task)
            return task
        }
        let answers = await task.value
        current.withLock { current in if current?.task == task { current = nil } }
        return answers
    }

    /// - Parameter user: of the camera's unit.
    func requestKeyFrame(of id: String, user: UInt32) async throws(ControlClientError) {
        try await client(id, user).send(.post, APIPath.keyFrame())
    }

    /// - Parameter user: of the camera's unit.
    func rotateKey(of id: String, user: UInt32) async throws(ControlClientError) {
        try await client(id, user).send(.post, APIPath.rotateKey())
    }

    /// - Parameter user: of the camera's unit.
    func change(_ change: VideoChange, of id: String, user: UInt32) async throws(ControlClientError) {
        try await client(id, user, changes: deadlines.change).send(.patch, APIPath.video(), body: change)
    }

    /// The token that it shows the key access server from now on.
    ///
    /// - Parameter user: of the camera's unit.
    func replaceToken(_ token: String, of id: String, user: UInt32) async throws(ControlClientError) {
        try await client(id, user, changes: deadlines.change).send(
            .put, APIPath.keyAccessToken(), body: SecretRequest(secret: token))
    }

    /// The newest frame as JPEG.
    ///
    /// - Parameters:
    ///   - user: of the camera's unit.
    ///   - width: nil: as wide as it is published.
    ///   - limit: bytes that it may have.
    func snapshot(
        of id: String, user: UInt32, width: Int? = nil, limit: Int = CameraProcesses.frameBytes
    ) async throws(ControlClientError) -> [UInt8] {
        var client = client(id, user, reads: deadlines.frame)
        client.maximumAnswerBytes = limit
        let frame = try await client.bytes(APIPath.snapshot(), query: width.map { [("width", "\($0)")] } ?? [])
        guard frame.starts(with: [0xFF, 0xD8, 0xFF]) else {
            throw .invalidAnswer(path: client.socketPath, why: "it is not a JPEG image")
        }
        return frame
    }

    /// - Parameter user: of the camera's unit.
    func controls(of id: String, user: UInt32) async throws(ControlClientError) -> CameraControlsDocument {
        try await client(id, user, reads: deadlines.device).get(CameraControlsDocument.self, APIPath.controls())
    }

    /// - Parameter user: of the camera's unit.
    func mark(
        _ request: RecordingMarkRequest, _ id: String, user: UInt32
    ) async throws(ControlClientError) -> RecordingMarkDocument {
        try await client(id, user, changes: deadlines.change).send(
            .post, APIPath.recording("mark"), body: request, as: RecordingMarkDocument.self)
    }

    /// - Parameter user: of the camera's unit.
    func recordings(
        _ query: RecordingsQuery, _ id: String, user: UInt32
    ) async throws(ControlClientError) -> RecordingsDocument.Camera {
        var client = client(id, user, reads: deadlines.disk)
        client.maximumAnswerBytes = RecordingsQuery.maximumAnswerBytes
        return try await client.get(RecordingsDocument.Camera.self, APIPath.recordings(), query: query.items)
    }

    // MARK: Network cameras

    /// Everything from the first packet to the first key frame, with the password that the process has.
    ///
    /// - Parameter user: of the camera's unit.
    func test(_ id: String, user: UInt32) async throws(ControlClientError) -> StreamTestReport {
        try await client(id, user, changes: deadlines.test).send(.post, APIPath.test(), as: StreamTestReport.self)
    }

    /// - Parameter user: of the camera's unit.
    func move(_ command: PTZCommand, _ id: String, user: UInt32) async throws(ControlClientError) {
        try await client(id, user, changes: deadlines.device).send(.post, APIPath.ptz(), body: command)
    }

    /// - Parameter user: of the camera's unit.
    func presets(of id: String, user: UInt32) async throws(ControlClientError) -> PTZPresetListDocument {
        try await client(id, user, reads: deadlines.device).get(PTZPresetListDocument.self, APIPath.presets())
    }

    /// - Parameter user: of the camera's unit.
    func encoders(of id: String, user: UInt32) async throws(ControlClientError) -> CameraEncoderListDocument {
        try await client(id, user, reads: deadlines.device).get(CameraEncoderListDocument.self, APIPath.encoders())
    }

    /// - Parameter user: of the camera's unit.
    func configure(
        _ change: CameraEncoder.Change, of id: String, user: UInt32
    ) async throws(ControlClientError) {
        try await client(id, user, changes: deadlines.device).send(.patch, APIPath.encoders(), body: change)
    }

    /// - Parameter user: of the camera's unit.
    func announce(_ request: AnnouncedRequest, to id: String, user: UInt32) async throws(ControlClientError) {
        // Nobody waits for it.
        try await client(id, user, changes: deadlines.device).send(.post, APIPath.announced(), body: request)
    }

    /// Times that are nil are as `ControlClient` has them.
    private func client(
        _ id: String, _ user: UInt32, reads: Duration? = nil, changes: Duration? = nil
    ) -> ControlClient {
        var client = ControlClient(
            socketPath: paths.cameraSocket(id), maximumAnswerBytes: ControlClient.cameraAnswerBytes, socketOwner: user)
        if let reads { client.readTimeout = reads }
        if let changes { client.changeTimeout = changes }
        return client
    }

    private static func ask(
        _ users: [String: UInt32], paths: ControlPaths, within deadline: Duration
    ) async -> [String: CameraStatusDocument] {
        await withTaskGroup(of: (String, CameraStatusDocument?).self) { group in
            var answers: [String: CameraStatusDocument] = [:]
            var waiting = users.sorted { $0.key < $1.key }[...]
            func askNext() {
                guard let (id, user) = waiting.popFirst() else { return }
                let socket = paths.cameraSocket(id)
                group.addTask {
                    let client = ControlClient(
                        socketPath: socket, readTimeout: deadline, maximumAnswerBytes: ControlClient.cameraAnswerBytes,
                        socketOwner: user)
                    return (id, try? await client.get(CameraStatusDocument.self, APIPath.status()))
                }
            }
            for _ in 0..<concurrency { askNext() }
            while let (id, answer) = await group.next() {
                // A process says which camera it is; another's answer is not believed.
                if let answer, answer.statistics.camera == id { answers[id] = answer }
                askNext()
            }
            return answers
        }
    }
}
