import BoxView
import Console
import ControlAPI
import ControlClient
import ErrorCatalog

/// The daemon's search of the network, shown while it goes on.
struct NetworkSearch {
    private static let path = APIPath.discovery()
    let output: OutputOptions

    /// Until it ends, or until Ctrl-C ends it.
    func run(_ request: DiscoveryRequest) async throws(CommandFailure) -> NetworkSearchDocument {
        let client = output.client
        let what = "the network was not searched"
        // Before there is a search: whoever is quick must not leave one behind.
        let interruption = Interruption()
        defer { interruption.end() }
        var document: NetworkSearchDocument
        do throws(ControlClientError) {
            document = try await client.send(.post, Self.path, body: request, as: NetworkSearchDocument.self)
        } catch {
            throw failure(error, what)
        }
        let number = document.number
        let progress = ProgressLine()
        var reported: Set<String> = []
        while document.state == .running {
            report(document, &reported, progress)
            try? await Task.sleep(for: .milliseconds(200))
            do throws(ControlClientError) {
                document =
                    interruption.isThere
                    ? try await client.send(.delete, Self.path, as: NetworkSearchDocument.self)
                    : try await client.get(NetworkSearchDocument.self, Self.path)
            } catch {
                progress.clear()
                throw failure(error, "the search of the network is lost")
            }
            guard document.number == number else {
                progress.clear()
                throw CommandFailure(
                    what: "the search of the network is lost", why: "somebody else has begun another",
                    hint: "run it again", status: .conflict)
            }
        }
        progress.clear()
        return document
    }

    func cancel() async throws(CommandFailure) -> NetworkSearchDocument {
        try await output.client.send(.delete, Self.path, as: NetworkSearchDocument.self, or: "no search was ended")
    }

    /// A bar on a terminal; elsewhere a line for each camera.
    private func report(_ document: NetworkSearchDocument, _ reported: inout Set<String>, _ progress: ProgressLine) {
        guard !output.quiet else { return }
        for found in document.found where reported.insert("\(found.source) \(found.address)").inserted {
            let maker = [found.manufacturer, found.hardware].compactMap(\.self).joined(separator: " ")
            progress.step(Style.oneLine("found \(found.source)\(maker.isEmpty ? "" : ", \(maker)")"))
        }
        let cameras = Quantity.count(document.found.count, "camera")
        let elapsed = document.elapsedSeconds / max(1, (document.request.timeoutSeconds ?? 5) + 1)
        guard document.total > 0 else {
            return progress.update("\(cameras), listening", fraction: elapsed)
        }
        let asked = "\(document.probed) of \(document.total) ports asked"
        progress.update("\(cameras), \(asked)", fraction: Double(document.probed) / Double(max(1, document.total)))
    }

    private func failure(_ error: ControlClientError, _ what: String) -> CommandFailure {
        var failure = CommandFailure(error, what: what)
        switch error {
        case .unreachable, .timedOut, .denied:
            guard output.box.chosen == nil else { break }
            failure.hint += "; for the devices of this machine alone: watchboxctl discover --local"
        case .problem(let problem) where problem.code == .scanTooLarge:
            failure.hint = "name a smaller network such as 192.168.1.0/24, or add --yes for up to 65536 addresses"
        default: break
        }
        return failure
    }
}
