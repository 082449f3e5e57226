internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog

extension ControlRoutes {
    /// How long an answer waits for systemd; a camera that takes longer to start is reported as starting.
    private static let timeout = Duration.seconds(10)

    var streams: [APIRoute] {
        let path = APIPath.streams()
        return [
            APIRoute(.get, path, "All streams, one per camera", response: "StreamListDocument") { _ in
                .document(StreamListDocument(streams: await core.streams()))
            },
            APIRoute(.get, "\(path)/{id}", "One stream", response: "StreamDocument") { request in
                .document(try await coded { try await core.stream(request.parameter("id")) })
            },
            job("start", "Starts a camera that somebody stopped") { try await core.startStream($0) },
            job("stop", "Stops a camera until it is started, changed, or the box reboots") {
                try await core.stopStream($0)
            },
            job("restart", "Restarts a camera's process") { try await core.restartStream($0) },
            APIRoute(.post, "\(path)/{id}/key-frame", "Asks the camera for a key frame") { request in
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    try await core.processes.requestKeyFrame(of: id, user: try await core.user(of: id))
                    return .noContent
                }
            },
        ]
    }

    private func job(
        _ action: String, _ summary: String, _ body: @escaping @Sendable (String) async throws -> Void
    ) -> APIRoute {
        APIRoute(.post, APIPath.streams("{id}", action), summary, response: "StreamDocument") { request in
            let id = request.parameter("id")
            return try await coded {
                try await body(id)
                try await settle(UnitName.camera(id))
                return .document(try await core.stream(id))
            }
        }
    }

    private func settle(_ unit: String) async throws {
        let unitJobs = core.unitJobs
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await unitJobs.settled(unit) }
            group.addTask { try await Task.sleep(for: Self.timeout) }
            try await group.next()
            group.cancelAll()
        }
    }

    var keys: [APIRoute] {
        let path = APIPath.keys()
        return [
            APIRoute(.get, path, "Which key material the streams use; never a key", response: "KeyListDocument") { _ in
                .document(KeyListDocument(keys: await core.keys()))
            },
            APIRoute(.get, "\(path)/{id}", "The key material of one stream", response: "KeyDocument") { request in
                .document(try await coded { try await core.key(request.parameter("id")) })
            },
            APIRoute(
                .post, "\(path)/{id}/rotate", "A new key from the next key frame on", response: "KeyDocument"
            ) { request in
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    try await core.processes.rotateKey(of: id, user: try await core.user(of: id))
                    core.hub.publish(.key, object: id, "a new key was asked for")
                    return .document(try await coded { try await core.key(id) })
                }
            },
        ]
    }

    // MARK: Other daemons

    /// What another daemon of this box refuses is reported in its own text.
    func forwarded(_ body: () async throws -> APIResponse) async throws -> APIResponse {
        do {
            return try await body()
        } catch ControlClientError.problem(let problem) {
            return problem.response
        } catch let error as ControlClientError {
            throw CodedError(.unreachable, "another daemon of this box does not answer", why: "\(error)")
        }
    }

    var health: [APIRoute] {
        let path = APIPath.health()
        let client = ControlClient(socketPath: paths.healthSocket)
        return [
            APIRoute(.get, path, "All checks of the box", response: "HealthReport") { _ in
                try await forwarded { .document(try await client.get(HealthReport.self, path)) }
            },
            APIRoute(
                .get, "\(path)/history", "What changed, newest first", response: "HealthHistoryDocument",
                query: ["check": "only this one", "hours": "how far back, 1 to 24"]
            ) { request in
                let hours = try request.number("hours", in: 1...24, default: 24)
                var query = [("hours", "\(hours)")]
                if let check = request.query["check"] { query.append(("check", check)) }
                return try await forwarded {
                    .document(try await client.get(HealthHistoryDocument.self, "\(path)/history", query: query))
                }
            },
            APIRoute(
                .post, "\(path)/{check}/acknowledge", "Somebody has seen it; holds until the state changes",
                query: ["object": "Only of this camera, relay or unit"]
            ) { request in
                try await forwarded {
                    try await client.send(
                        .post, APIPath.health(request.parameter("check"), "acknowledge"),
                        query: request.query.sorted { $0 < $1 })
                    return .noContent
                }
            },
        ]
    }
}
