internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import ONVIF
internal import Synchronization

/// Searches of the network and tests of cameras that somebody asked for: they go on by themselves, and whoever wants to
/// know asks again how far they are.
actor NetworkJobs {
    /// At the same time.
    static let testLimit = 8
    /// Of tests that have ended.
    static let keptTests = 64
    static let testLifetime = Duration.seconds(300)

    /// What a job says of itself, from whatever thread.
    private final class Board<Value: Sendable>: Sendable {
        private let state: Mutex<Value>
        init(_ value: Value) { state = Mutex(value) }
        var value: Value { state.withLock { $0 } }
        func set(_ value: Value) { state.withLock { $0 = value } }
    }

    private struct SearchJob {
        var number: Int
        var request: DiscoveryRequest
        var startedAt: Duration
        var endedAt: Duration?
        var state = NetworkSearchDocument.State.running
        var problem: Problem?
        let board = Board(NetworkTools.SearchProgress())
        /// Nil when it has ended; one that was cancelled may need a moment.
        var task: Task<Void, Never>?
    }

    private struct TestJob {
        var source: String
        let board: Board<StreamTestReport>
        var startedAt: Duration
        var endedAt: Duration?
        var task: Task<Void, Never>?
    }

    private let tools: NetworkTools
    private let clock: ControlClock
    private let hub: EventHub
    private var search: SearchJob?
    private var tests: [String: TestJob] = [:]
    private var isClosed = false

    init(tools: NetworkTools, clock: ControlClock, hub: EventHub) {
        self.tools = tools
        self.clock = clock
        self.hub = hub
    }

    // MARK: Search

    func startSearch(_ request: DiscoveryRequest) async throws -> NetworkSearchDocument {
        // One that was cancelled needs a moment, and is not a search that somebody waits for.
        if let search, search.state != .running, let ending = search.task { await ending.value }
        try requireOpen()
        guard search?.task == nil else {
            throw CodedError(.discoveryRunning, "a search for cameras runs already")
        }
        try request.check()
        let run = try tools.search(request)
        let number = (search?.number ?? 0) + 1
        var job = SearchJob(number: number, request: request, startedAt: clock.sinceBoot())
        let board = job.board
        job.task = Task.detached {
            let result: Result<[FoundCameraDocument], any Error>
            do {
                result = .success(try await run { board.set($0) })
            } catch {
                result = .failure(error)
            }
            await self.ended(number, result)
        }
        search = job
        return try currentSearch()
    }

    func currentSearch() throws(CodedError) -> NetworkSearchDocument {
        guard let search else {
            throw CodedError(
                .notFound, "no one has searched the network since the daemon started",
                hint: "Run: watchboxctl discover")
        }
        let progress = search.board.value
        let elapsed = (search.endedAt ?? clock.sinceBoot()) - search.startedAt
        return NetworkSearchDocument(
            number: search.number, state: search.state, request: search.request,
            elapsedSeconds: max(0, elapsed / .seconds(1)), probed: progress.probed, total: progress.total,
            found: progress.found, remarks: progress.remarks, problem: search.problem)
    }

    /// What was found stays.
    func cancelSearch() throws(CodedError) -> NetworkSearchDocument {
        if search?.state == .running {
            search?.state = .cancelled
            search?.endedAt = clock.sinceBoot()
        }
        search?.task?.cancel()
        return try currentSearch()
    }

    private func ended(_ number: Int, _ result: Result<[FoundCameraDocument], any Error>) {
        guard search?.number == number else { return }
        search?.task = nil
        if case .success(let found) = result, let board = search?.board {
            var progress = board.value
            progress.found = found
            board.set(progress)
        }
        guard search?.state == .running else { return }
        search?.endedAt = clock.sinceBoot()
        switch result {
        case .success(let found):
            search?.state = .done
            hub.publish(.system, "a search of the network found \(found.count) camera\(found.count == 1 ? "" : "s")")
        case .failure(let error):
            search?.state = .failed
            let error = CodedError(of: error)
            search?.problem = Problem(error)
            hub.publish(.system, code: error.code, "a search of the network failed: \(error.why ?? error.what)")
        }
    }

    /// What the last search found of a device with this source: most report their endpoint reference there and nowhere
    /// else.
    func seen(_ source: String) -> DeviceIdentity? {
        let found = search?.board.value.found.first { $0.source == source }
        return found.map { DeviceIdentity(endpoint: $0.endpoint, serial: $0.serial) }
    }

    // MARK: Tests

    func startTest(_ request: CameraTestRequest) throws -> String {
        try requireOpen()
        try request.check()
        forgetTests()
        guard tests.values.count(where: { $0.task != nil }) < Self.testLimit else {
            throw CodedError(
                .tooMuch, "\(Self.testLimit) cameras are being tested already", hint: "Wait for one of them to end")
        }
        // No client can guess another's.
        let id = String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
        let board = Board(StreamTestReport(url: request.source))
        let test = tools.test
        var job = TestJob(source: request.source, board: board, startedAt: clock.sinceBoot())
        job.task = Task.detached {
            var report = await test(request) { board.set($0) }
            report.isDone = true
            await self.ended(id, report)
        }
        tests[id] = job
        return id
    }

    /// How far it is.
    func test(_ id: String) throws(CodedError) -> StreamTestReport {
        forgetTests()
        guard let job = tests[id] else {
            throw CodedError(
                .notFound, "there is no such test of a camera", why: "a test is forgotten 5 minutes after its end",
                hint: "Test it again: watchboxctl camera test URL")
        }
        return job.board.value
    }

    /// Nobody waits for its end any more.
    func cancelTest(_ id: String) throws(CodedError) {
        _ = try test(id)
        tests[id]?.task?.cancel()
    }

    /// What a test of this source found out.
    func finding(_ id: String, source: String?) throws(CodedError) -> StreamTestReport {
        let report = try test(id)
        guard report.isDone else {
            throw CodedError(.busy, "the test of the camera has not ended", hint: "Wait for its end")
        }
        guard tests[id]?.source == source else {
            throw CodedError(.badRequest, "the test was of another source", hint: "Test this one")
        }
        return report
    }

    private func ended(_ id: String, _ report: StreamTestReport) {
        tests[id]?.board.set(report)
        tests[id]?.task = nil
        tests[id]?.endedAt = clock.sinceBoot()
    }

    private func forgetTests() {
        let now = clock.sinceBoot()
        tests = tests.filter { _, job in job.endedAt.map { now - $0 < Self.testLifetime } ?? true }
        let ended = tests.filter { $0.value.endedAt != nil }.sorted { $0.value.startedAt < $1.value.startedAt }
        for (id, _) in ended.dropLast(Self.keptTests) { tests[id] = nil }
    }

    // MARK: End

    private func requireOpen() throws(CodedError) {
        guard !isClosed else { throw CodedError(.busy, "the daemon is stopping") }
    }

    /// Ends everything; there is nothing new.
    func close() {
        isClosed = true
        search?.task?.cancel()
        for job in tests.values { job.task?.cancel() }
    }

    /// Returns when no job is under way.
    func settled() async {
        while let task = search?.task ?? tests.values.lazy.compactMap(\.task).first { await task.value }
    }
}
