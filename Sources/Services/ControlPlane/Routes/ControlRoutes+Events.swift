internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

extension ControlRoutes {
    private static let levels = ["error": 3, "warning": 4, "notice": 5, "info": 6, "debug": 7]
    private static let logLimit = 10_000
    private static let roles = ["control", "health", "relay", "kas", "hooks"]

    /// What the hooks' process is given, at a socket of its own: it may know what happened, and nothing else of the
    /// box. It can wait for the cameras' next turn, so they are asked no more often for it.
    var eventsAlone: [APIRoute] { [happenings(isPatient: true), latestEvent] }

    private func happenings(isPatient: Bool) -> APIRoute {
        APIRoute(
            .get, APIPath.events(), "What happens, as server-sent events; Last-Event-ID resumes",
            response: "EventDocument",
            query: [
                "topics": "some of \(EventTopic.allCases.map(\.rawValue).joined(separator: ",")); all without it"
            ]
        ) { request in
            let topics = try Self.topics(request)
            var after: Int64?
            if let text = request.lastEventID {
                guard let number = Int64(text), number >= 0 else {
                    throw CodedError(.badRequest, "Last-Event-ID is not an event of this box")
                }
                after = number
            }
            return APIResponse(
                body: .events(
                    try await coded { try core.hub.watch(topics: topics, after: after, isPatient: isPatient) }))
        }
    }

    private var latestEvent: APIRoute {
        APIRoute(
            .get, APIPath.events("latest"), "The newest event: where to begin for what comes from now on",
            response: "EventPositionDocument"
        ) { _ in .document(EventPositionDocument(id: core.hub.latestID)) }
    }

    var events: [APIRoute] {
        [
            happenings(isPatient: false), latestEvent,
            APIRoute(
                .get, APIPath.logs(),
                "Lines of the journal, oldest first; Last-Event-ID resumes behind that line",
                response: "LogDocument",
                query: [
                    "unit": "control, health, relay, kas, hooks, or a unit's whole name",
                    "camera": "one camera's lines",
                    "n": "how many, 1 to 10000; 100 without it", "since": "seconds since 1970",
                    "level": "error, warning, notice, info or debug: that and worse",
                    "follow": "1: go on with what comes, as server-sent events",
                ]
            ) { request in
                let query = try Self.query(request, cameras: await core.cameraOrder())
                guard request.query["follow"] == "1" else {
                    let entries = try await coded { try await journal.read(query) }
                    return .document(LogDocument(lines: entries.suffix(query.last).map { LogLine($0) }))
                }
                return APIResponse(body: .events(try await coded { try follow(query) }))
            },
        ]
    }

    private static func topics(_ request: APIRequest) throws(CodedError) -> Set<String>? {
        guard let text = request.query["topics"], !text.isEmpty else { return nil }
        let topics = Set(text.split(separator: ",").map(String.init))
        let known = Set(EventTopic.allCases.map(\.rawValue))
        if let unknown = topics.subtracting(known).min() {
            throw CodedError(
                .badRequest, "there is no topic \"\(Printable.text(unknown, limit: 32))\"",
                hint: "Use some of \(known.sorted().joined(separator: ", "))")
        }
        return topics
    }

    private static func query(
        _ request: APIRequest, cameras: [String]
    ) throws(CodedError) -> JournalQuery {
        var query = JournalQuery()
        query.last = try request.number("n", in: 1...logLimit, default: 100)
        if let since = request.query["since"] {
            guard let seconds = UInt64(since), seconds < 1 << 40 else {
                throw CodedError(.badRequest, "since is not a time", hint: "Give seconds since 1970")
            }
            query.sinceMicroseconds = seconds * 1_000_000
        }
        query.afterCursor = request.lastEventID
        if let level = request.query["level"] {
            guard let priority = levels[level] else {
                throw CodedError(
                    .badRequest, "there is no level \"\(Printable.text(level, limit: 32))\"",
                    hint: "Use error, warning, notice, info or debug")
            }
            query.maximumPriority = priority
        }
        if let camera = request.query["camera"] { query.camera = try CameraIdentifier.check(camera) }
        if let unit = request.query["unit"] {
            query.units = [try Self.unit(unit)]
        } else if query.camera == nil {
            // The journal takes 64 names at most, and no patterns.
            query.units = Self.roles.map { "watchbox-\($0).service" }
            query.units += cameras.prefix(59).map { UnitName.camera($0) }
        }
        return query
    }

    /// Only units of WatchBox: the rest of the journal is not for this API.
    private static func unit(_ name: String) throws(CodedError) -> String {
        if roles.contains(name) { return "watchbox-\(name).service" }
        let isPlain =
            name.utf8.count <= 128
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || (48...57).contains(scalar.value)
                        || "-@.".unicodeScalars.contains(scalar))
            }
        guard isPlain, name.hasPrefix("watchbox-"), name.hasSuffix(".service") else {
            throw CodedError(
                .badRequest, "\"\(Printable.text(name, limit: 64))\" is not a unit of WatchBox",
                hint: "Use \(roles.joined(separator: ", ")), or watchbox-camera@ID.service")
        }
        return name
    }

    /// One of the watchers' places; the reader of the journal ends with its client.
    private func follow(_ query: JournalQuery) throws -> AsyncStream<ServerEvent> {
        let hub = core.hub
        let place = try hub.enter()
        let entries = journal.follow(query)
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerEvent.self, bufferingPolicy: .bufferingOldest(EventHub.bufferLimit))
        let pump = Task {
            defer {
                continuation.finish()
                hub.leave(place)
            }
            do {
                for try await entry in entries {
                    let line = LogLine(entry)
                    let event = ServerEvent(id: entry.cursor, event: "log", data: JSONDocument.text(line))
                    // One that is slower than the journal comes back for the rest.
                    guard case .enqueued = continuation.yield(event) else { return }
                }
            } catch {
                // The client sees the end; the journal's reader has logged why.
            }
        }
        continuation.onTermination = { _ in pump.cancel() }
        return stream
    }
}

extension LogLine {
    init(_ entry: JournalEntry) {
        let level =
            switch entry.priority {
            case ...3: "error"
            case 4: "warning"
            case 5: "notice"
            case 6: "info"
            default: "debug"
            }
        self.init(
            time: Int64(clamping: entry.realtimeMicroseconds), unit: entry.unit,
            camera: entry.fields["WATCHBOX_CAMERA"], level: level,
            code: entry.fields["WATCHBOX_CODE"].flatMap { ErrorCode($0) }, message: entry.message,
            cursor: entry.cursor)
    }
}
