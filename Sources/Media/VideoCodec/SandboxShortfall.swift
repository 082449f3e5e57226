internal import Synchronization

/// What this process's decoders lack of their sandbox: to be reported once, whoever starts the first of them.
public enum SandboxShortfall {
    private struct State {
        var lack: String?
        var isReported = false
    }

    private static let state = Mutex(State())

    static func note(_ report: DecoderSandbox.Report) {
        guard let lack = report.lack else { return }
        state.withLock { $0.lack = $0.lack ?? lack }
    }

    /// For a log line, the first time alone; nil: nothing lacks, no decoder was started, or it was reported.
    public static func take() -> String? {
        state.withLock { state in
            guard !state.isReported, let lack = state.lack else { return nil }
            state.isReported = true
            return lack
        }
    }
}
