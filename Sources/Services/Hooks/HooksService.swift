public import ControlAPI
internal import ControlClient
internal import ErrorCatalog
public import Logging
public import ServiceLifecycle
internal import Settings

/// `watchboxd hooks`: follows what control says happens on the box, and reports it to the receivers that the configuration names.
///
/// Not in the frame path, and no part of control: it talks to hosts of anybody's choice, and knows of the box no more
/// than its events and the secrets of its own hooks.
public final class HooksService: Service {
    /// Between two attempts to follow the events.
    private static let pause = Duration.seconds(1)

    private let runners: [HookRunner]
    private let keeper: HookKeeper
    private let client: ControlClient
    private let topics: [String]
    private let clock: HookClock
    private let logger: Logger
    private let onRunning: @Sendable () -> Void

    /// - Parameters:
    ///   - stateDirectory: keeps where each hook is.
    ///   - eventsSocket: where control publishes events.
    ///   - secret: the text of the secret of this name; nil when there is none.
    ///   - onRunning: called once it works.
    public init(
        settings: HookServiceSettings, stateDirectory: String, eventsSocket: String,
        secret: (_ name: String) -> String?, logger: Logger, clock: HookClock = .system,
        onRunning: @escaping @Sendable () -> Void = {}
    ) {
        let memory = HookMemory(directory: stateDirectory)
        let places = memory.load()
        runners = settings.hooks.map { hook in
            let receiver = Result { () throws(CodedError) in
                try HookReceiver(hook, box: settings.box, secret: secret)
            }
            return HookRunner(
                hook, receiver: receiver, place: places[hook.name] ?? HookPlace(), clock: clock, logger: logger)
        }
        keeper = HookKeeper(memory: memory, runners: runners, saved: places, logger: logger)
        // Control has up to 30 s for its boot; a stream shows a sign of life every 15 s.
        client = ControlClient(socketPath: eventsSocket, readTimeout: .seconds(35))
        let requested = Set(settings.hooks.flatMap(\.events))
        topics = requested.map { $0 == HookTopic.motion.rawValue ? HookTopic.camera.rawValue : $0 }.sorted()
        self.clock = clock
        self.logger = logger
        self.onRunning = onRunning
    }

    /// For the socket at which control asks how hooks stand.
    public var router: APIRouter {
        APIRouter([
            APIRoute(.get, APIPath.hooks(), "The state of each hook", response: "HookStatesDocument") { [self] _ in
                .document(HookStatesDocument(hooks: await states))
            },
            APIRoute(
                .post, APIPath.hooks("{name}", "test"), "Sends one message now and reports the result",
                response: "HookTestDocument"
            ) { [self] request in
                let name = request.parameters["name"] ?? ""
                guard let runner = runners.first(where: { $0.name == name }) else {
                    throw CodedError(
                        .notFound, "there is no hook of that name here", hint: "Run: watchboxctl hook list")
                }
                return .document(try await runner.test())
            },
        ])
    }

    private var states: [String: HookState] {
        get async {
            var states: [String: HookState] = [:]
            for runner in runners { states[runner.name] = await runner.state }
            return states
        }
    }

    /// One line for systemd.
    public var summary: String {
        get async {
            let failing = await states.values.count(where: \.isFailing)
            let hooks = "\(runners.count) hook\(runners.count == 1 ? "" : "s")"
            return failing == 0 ? hooks : "\(hooks), \(failing) not delivered to"
        }
    }

    /// Until graceful shutdown or cancellation.
    public func run() async throws {
        onRunning()
        let summary = await summary
        logger.notice("hooks run: \(summary)")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow() }
            group.addTask { await self.deliver() }
            group.addTask { try? await gracefulShutdown() }
            await group.next()
            group.cancelAll()
        }
        await keeper.save()
    }

    private func deliver() async {
        await withTaskGroup(of: Void.self) { [keeper] group in
            for runner in runners {
                group.addTask { await runner.run(keep: { await keeper.save() }) }
            }
            // One that cannot run at all ends at once; the others go on.
            await group.waitForAll()
        }
        while (try? await Task.sleep(for: .seconds(3600))) != nil {}
    }

    private func follow() async {
        var reported = ""
        while !Task.isCancelled {
            do {
                let newest = try await client.get(EventPositionDocument.self, APIPath.events("latest")).id
                for runner in runners { await runner.began(at: newest) }
                await keeper.save()
                let position = await position
                for try await event in client.events(topics: topics, lastEventID: position.map { "\($0)" }) {
                    reported = ""
                    guard let document = try? JSONDocument.decode(EventDocument.self, from: Array(event.data.utf8))
                    else { continue }
                    let happened = HookLetter.cleaned(document.reportedByHooks)
                    for runner in runners { await runner.happened(happened) }
                }
            } catch {
                let why = "\(error)"
                // Once for each reason: control may be away for long.
                if why != reported, !Task.isCancelled {
                    logger.warning("the box's events cannot be followed, which is tried again every second: \(why)")
                }
                reported = why
            }
            try? await clock.sleep(Self.pause)
        }
    }

    /// The oldest of what the hooks have yet to see; each ignores what it has seen.
    private var position: Int64? {
        get async {
            var positions: [Int64] = []
            for runner in runners { if let position = await runner.position { positions.append(position) } }
            return positions.min()
        }
    }
}
