internal import ErrorCatalog
internal import NIOCore
internal import RTMP
internal import Synchronization

/// Decides where a camera goes that its relay sends away (`RedirectRule`), and reports to the monitor what is refused.
final class Redirects: Sendable {
    private struct State {
        var rule: RedirectRule
        /// The last one of the present connection.
        var refusal: CodedError?
    }

    private let state: Mutex<State>
    private let monitor: CameraMonitor
    private let camera: String

    init(_ rule: RedirectRule, camera: String, monitor: CameraMonitor) {
        self.camera = camera
        state = Mutex(State(rule: rule))
        self.monitor = monitor
    }

    /// Nil: stay where you are.
    func destination(of tcURL: String?, from current: RTMPURL, home: RTMPURL) -> RedirectRule.Destination? {
        let now = NIODeadline.now().uptimeNanoseconds
        let decision = state.withLock { state in
            let decision = state.rule.asked(toMoveTo: tcURL, from: current, home: home, at: now)
            if case .refuse(let why, _) = decision { state.refusal = refusal(why) }
            return decision
        }
        switch decision {
        case .move(let destination): return destination
        case .refuse(let why, let isNews):
            monitor.redirectRefused(refusal(why), isNews: isNews)
            return nil
        }
    }

    private func refusal(_ why: String) -> CodedError {
        CodedError(
            .relayRedirects, "The relay sends this camera elsewhere, which is not followed", why: why, object: camera)
    }

    /// See `RedirectRule.renewed`.
    func renewed(_ target: RTMPURL, home: RTMPURL) -> RTMPURL? {
        state.withLock { $0.rule.renewed(target, home: home) }
    }

    /// See `RedirectRule.ended`.
    func ended(_ retry: RetryClass, at target: RTMPURL?, after stay: UInt64, goodStream: UInt64) -> RetryClass {
        let now = NIODeadline.now().uptimeNanoseconds
        return state.withLock {
            $0.rule.ended(retry, at: target, after: stay, goodStream: goodStream, now: now)
        }
    }

    func failed(_ target: RTMPURL) {
        let now = NIODeadline.now().uptimeNanoseconds
        state.withLock { $0.rule.failed(target, at: now) }
    }

    /// What was refused since the last call.
    func takeRefusal() -> CodedError? {
        state.withLock { state in
            defer { state.refusal = nil }
            return state.refusal
        }
    }
}
