internal import ErrorCatalog
internal import NIOCore
internal import RTMP
internal import Synchronization

/// Decides where a camera goes that its relay sends away (`RedirectRule`), and tells the monitor of what is refused.
final class Redirects: Sendable {
    private struct State {
        var rule: RedirectRule
        /// The last one of the present connection.
        var refusal: CodedError?
    }

    private let state: Mutex<State>
    private let monitor: CameraMonitor

    init(_ rule: RedirectRule, monitor: CameraMonitor) {
        state = Mutex(State(rule: rule))
        self.monitor = monitor
    }

    /// Nil: stay where you are.
    func destination(of tcURL: String?, from current: RTMPURL, home: RTMPURL) -> RedirectRule.Destination? {
        let now = NIODeadline.now().uptimeNanoseconds
        let decision = state.withLock { state in
            let decision = state.rule.asked(toMoveTo: tcURL, from: current, home: home, at: now)
            if case .refuse(let error, _) = decision { state.refusal = error }
            return decision
        }
        switch decision {
        case .move(let destination): return destination
        case .refuse(let error, let isNews):
            monitor.redirectRefused(error, isNews: isNews)
            return nil
        }
    }

    /// See `RedirectRule.renewed`.
    func renewed(_ target: RTMPURL, home: RTMPURL) -> RTMPURL? {
        state.withLock { $0.rule.renewed(target, home: home) }
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
