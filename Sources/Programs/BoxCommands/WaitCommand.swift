import ArgumentParser
import Console
import ControlAPI
import ControlClient

/// Waits for streams to be live, saying what it waits for.
enum Publishing {
    /// - Throws: exit status 7 with the camera's own reason when it is not live in time.
    static func wait(for id: String, client: ControlClient, timeout: Duration) async throws {
        try await Waiting.until("\(id) to publish", timeout: timeout) {
            let stream = try await client.get(StreamDocument.self, APIPath.streams(id))
            return stream.state == .live
                ? nil : [stream.state.rawValue, stream.reason].compactMap { $0 }.joined(separator: ": ")
        }
    }
}

/// Asks until something holds; progress on a terminal.
enum Waiting {
    /// Shows that something goes on, until it ends.
    static func during<Value, Failure: Error>(
        _ what: String, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let progress = ProgressLine()
        let ticking = Task {
            while !Task.isCancelled {
                progress.update(what)
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
        ticking.cancel()
        await ticking.value
        progress.clear()
        return try result.get()
    }

    /// - Parameter look: nil when it holds, else why it does not yet.
    static func until(
        _ what: String, timeout: Duration, look: () async throws -> String?
    ) async throws {
        let progress = ProgressLine()
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var reason = "nothing was heard yet"
        var pauses = LookPauses()
        while true {
            do {
                guard let why = try await look() else { return progress.clear() }
                reason = why
            } catch let error as ControlClientError {
                // A daemon that restarts is waited for as well; a refusal is an answer.
                guard error.exitStatus == 5 || error.exitStatus == 1 else {
                    progress.clear()
                    throw CommandFailure(error, what: "waiting for \(what) ended")
                }
                reason = "\(error)"
            }
            guard clock.now < deadline else {
                progress.clear()
                throw CommandFailure(
                    what: "waited for \(what) in vain", why: reason, hint: "watchboxctl status",
                    status: .remoteUnreachable)
            }
            progress.update("waiting for \(what): \(reason)")
            try await Task.sleep(for: min(pauses.next(), max(deadline - clock.now, .milliseconds(10))))
        }
    }
}

/// Between two looks at something that is waited for. Each look asks every camera's process: often while something is
/// about to happen, seldom when it takes long.
struct LookPauses {
    private var pause = Duration.milliseconds(100)

    mutating func next() -> Duration {
        defer { pause = min(pause * 1.25, .seconds(2)) }
        return pause
    }
}

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until something holds, for scripts and units.",
        discussion: """
            Ends with 7 when it does not hold in time.

              watchboxctl wait online
              watchboxctl wait publishing front --timeout 30
              watchboxctl wait healthy
            """)

    enum Condition: String, CaseIterable, ExpressibleByArgument {
        /// The daemon answers.
        case online
        /// One camera, or every active one, is live.
        case publishing
        /// Nothing is degraded.
        case healthy
    }

    @Argument(help: "online, publishing or healthy.")
    var condition: Condition

    @Argument(help: "Of publishing: this camera alone.", completion: CameraNames.completion)
    var camera: String?

    @Option(help: "Seconds.")
    var timeout = 60.0

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard timeout.isFinite, (0...86_400).contains(timeout) else {
            throw ValidationError("--timeout is 0 to 86400.")
        }
        guard camera == nil || condition == .publishing else {
            throw ValidationError("Only publishing is waited for by camera.")
        }
    }

    func run() async throws {
        let client = output.client
        let limit = Duration.seconds(timeout)
        switch condition {
        case .online:
            try await Waiting.until("the daemon", timeout: limit) {
                _ = try await client.get(VersionDocument.self, APIPath.version())
                return nil
            }
        case .publishing:
            if let camera {
                try await Publishing.wait(for: camera, client: client, timeout: limit)
            } else {
                try await Waiting.until("all cameras to publish", timeout: limit) {
                    let cameras = try await client.get(CameraListDocument.self, APIPath.cameras()).cameras
                    let silent = cameras.filter { $0.isActive && $0.stream.state != .live }.map(\.id)
                    return silent.isEmpty ? nil : "\(silent.joined(separator: ", ")) not yet"
                }
            }
        case .healthy:
            try await Waiting.until("the box to be well", timeout: limit) {
                let status = try await client.get(BoxStatus.self, APIPath.status())
                return status.state == .ok ? nil : status.reason ?? "degraded"
            }
        }
        output.report("\(condition.rawValue)", Done(object: condition.rawValue, action: "holds"))
    }
}
