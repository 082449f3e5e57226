import ServiceLifecycle
import Systemd

/// Reports to systemd that a server lives, by asking it: the ping follows the answer, so that a hung one is restarted.
struct UnitSupervision: Service {
    let notifier: Notifier
    /// Asks the server for one line about itself.
    let status: @Sendable () async -> String

    func run() async throws {
        guard notifier.isActive else {
            try? await gracefulShutdown()
            return
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let text = await status()
                notifier.status(text)
                notifier.watchdog()
                try? await Task.sleep(for: .seconds(4))
            }
        }
        notifier.stopping()
    }
}
