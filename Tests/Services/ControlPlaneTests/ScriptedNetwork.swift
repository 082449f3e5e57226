import CameraModel
import ControlAPI
import Discovery
import ErrorCatalog
import ONVIF
import Synchronization

@testable import ControlPlane

/// A network on which happens what a test says, and nothing else.
final class ScriptedNetwork: Sendable {
    /// A search or a test that control has begun, in the hands of a test.
    final class Job<Progress: Sendable, Outcome: Sendable>: Sendable {
        private struct State {
            var outcome: Outcome?
            var waiting: CheckedContinuation<Outcome, Never>?
            var isCancelled = false
            var watchers: [CheckedContinuation<Void, Never>] = []
        }

        let progress: @Sendable (Progress) -> Void
        private let state = Mutex(State())

        init(_ progress: @escaping @Sendable (Progress) -> Void) {
            self.progress = progress
        }

        func end(_ outcome: Outcome) {
            let waiting = state.withLock { state in
                if state.outcome == nil { state.outcome = outcome }
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: outcome)
        }

        /// Until `end`; also when its task is cancelled, as something that takes its time.
        func outcome() async -> Outcome {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let outcome = state.withLock { state in
                        if state.outcome == nil { state.waiting = continuation }
                        return state.outcome
                    }
                    if let outcome { continuation.resume(returning: outcome) }
                }
            } onCancel: {
                let watchers = state.withLock { state in
                    state.isCancelled = true
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for watcher in watchers { watcher.resume() }
            }
        }

        /// Returns when its task has been cancelled.
        func isCancelled() async {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if !state.isCancelled { state.watchers.append(continuation) }
                    return state.isCancelled
                }
                if isCancelled { continuation.resume() }
            }
        }
    }

    typealias Search = Job<NetworkTools.SearchProgress, Result<[FoundCameraDocument], CodedError>>
    typealias Test = Job<StreamTestReport, StreamTestReport>

    private struct State {
        var refusal: CodedError?
        var requests: [DiscoveryRequest] = []
        var tests: [CameraTestRequest] = []
        var near: [[String]] = []
        var sightings: [Sighting] = []
        var asked: [String] = []
        var identities: [String: DeviceIdentity] = [:]
    }

    private let state = Mutex(State())
    private let searches = AsyncStream.makeStream(of: Search.self)
    private let begunTests = AsyncStream.makeStream(of: Test.self)
    private let heard = AsyncStream.makeStream(of: Announcement.self)

    /// Of searches that began.
    var requests: [DiscoveryRequest] { state.withLock { $0.requests } }
    var testRequests: [CameraTestRequest] { state.withLock { $0.tests } }

    /// From here on, no search can be made.
    func refuse(_ error: CodedError?) { state.withLock { $0.refusal = error } }

    /// The next search that control begins.
    func nextSearch() async -> Search? {
        var iterator = searches.stream.makeAsyncIterator()
        return await iterator.next(isolation: nil)
    }

    func nextTest() async -> Test? {
        var iterator = begunTests.stream.makeAsyncIterator()
        return await iterator.next(isolation: nil)
    }

    /// The last addresses of every look around.
    var near: [[String]] { state.withLock { $0.near } }
    /// Addresses whose device was asked who it is.
    var asked: [String] { state.withLock { $0.asked } }

    /// From here on these devices are there.
    func show(_ sightings: [Sighting]) { state.withLock { $0.sightings = sightings } }

    func answer(_ identity: DeviceIdentity, at address: String) {
        state.withLock { $0.identities[address] = identity }
    }

    func announce(_ announcement: Announcement) { heard.continuation.yield(announcement) }

    var tools: NetworkTools {
        NetworkTools(
            search: { [self] request in
                if let refusal = state.withLock({ $0.refusal }) { throw refusal }
                return { [self] progress in
                    let job = Search(progress)
                    state.withLock { $0.requests.append(request) }
                    searches.continuation.yield(job)
                    return try await job.outcome().get()
                }
            },
            test: { [self] request, progress in
                let job = Test(progress)
                state.withLock { $0.tests.append(request) }
                begunTests.continuation.yield(job)
                return await job.outcome()
            },
            sightings: { [self] near in
                state.withLock {
                    $0.near.append(near)
                    return $0.sightings
                }
            },
            identity: { [self] address in
                state.withLock {
                    $0.asked.append(address)
                    return $0.identities[address]
                }
            },
            announcements: { [self] in heard.stream })
    }
}
