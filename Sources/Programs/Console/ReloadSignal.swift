public import ServiceLifecycle
internal import UnixSignals

/// Does something at each SIGHUP, which `systemctl reload` sends through `ExecReload=`.
public struct ReloadSignal: Service {
    private let reload: @Sendable () async -> Void

    public init(_ reload: @escaping @Sendable () async -> Void) {
        self.reload = reload
    }

    /// Until graceful shutdown.
    public func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { await reload() }
    }
}
