import APIServer
import CameraModel
import Console
import ControlAPI
import FoundationEssentials
import Logging
import ServiceLifecycle

/// `/metrics` on TCP while the configuration names an address: off unless an operator asks for it. The address may change
/// while the daemon runs.
struct MetricsListener: Service {
    let settingsFile: String
    let router: APIRouter
    let logger: Logger

    private static let pause = Duration.seconds(5)
    /// Between two attempts to listen: at boot the address may not be there yet.
    private static let retryPause = Duration.seconds(30)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var address: String?
            var server: Task<Void, Never>?
            while !Task.isCancelled {
                let configured = configuredAddress()
                if configured != address {
                    server?.cancel()
                    await server?.value
                    address = configured
                    server = configured.flatMap { ListenAddress($0) }.map { address in
                        Task { await serve(address) }
                    }
                }
                try? await Task.sleep(for: Self.pause)
            }
            server?.cancel()
            await server?.value
        }
    }

    /// Until it is cancelled; what cannot be had now is tried again.
    private func serve(_ address: ListenAddress) async {
        let place = "\(address.host) port \(address.port)"
        var lastReason: String?
        while !Task.isCancelled {
            let server = APIServer(
                configuration: .init(listener: .tcp(host: address.host, port: address.port)), router: router,
                logger: logger, onRunning: { _ in logger.notice("metrics on \(place)") })
            do {
                try await server.run()
                return
            } catch {
                // Said once: it may stay so for days.
                let reason = "\(error)"
                if reason != lastReason, !Task.isCancelled {
                    logger.error(
                        "metrics cannot be served on \(place): \(reason); tried again every \(Self.retryPause.components.seconds) s"
                    )
                }
                lastReason = reason
            }
            try? await Task.sleep(for: Self.retryPause)
        }
    }

    /// Nil as well while there are no settings yet.
    private func configuredAddress() -> String? {
        guard let data = try? Data(contentsOf: URL(filePath: settingsFile)), data.count <= 1 << 20 else { return nil }
        return (try? JSONDecoder().decode(HealthServiceSettings.self, from: data))?.metricsListen
    }
}
