internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

extension ControlRoutes {
    var cameras: [APIRoute] {
        let path = APIPath.cameras()
        return [
            APIRoute(.get, path, "All cameras, by grid position", response: "CameraListDocument") { _ in
                .document(CameraListDocument(cameras: await core.cameras()))
            },
            APIRoute(
                .post, path, "Adds a camera and starts it", request: "CameraRequest", response: "CameraDocument",
                query: Self.dryRun
            ) { request in
                let requested = try request.decode(CameraRequest.self)
                let seen = await core.jobs.seen(requested.source ?? "")
                return try await changed(then: await camera(requested.id ?? "", status: 201, location: true)) {
                    try await core.addCamera(
                        requested, finding: try await finding(requested), seen: seen, dryRun: request.isDryRun)
                }
            },
            APIRoute(
                .put, "\(path)/order", "Puts the cameras of the store in this order", request: "CameraOrderRequest",
                response: "CameraListDocument", query: Self.dryRun
            ) { request in
                let requested = try request.decode(CameraOrderRequest.self)
                return try await changed(then: .document(CameraListDocument(cameras: await core.cameras()))) {
                    try await core.orderCameras(requested.ids, dryRun: request.isDryRun)
                }
            },
            APIRoute(.get, "\(path)/{id}", "One camera, with its tag for a change", response: "CameraDocument") {
                try await camera($0.parameter("id"))
            },
            APIRoute(
                .patch, "\(path)/{id}", "Changes what the body names; If-Match refuses when somebody else was first",
                request: "CameraRequest", response: "CameraDocument", query: Self.dryRun
            ) { request in
                let id = request.parameter("id")
                let requested = try request.decode(CameraRequest.self)
                return try await changed(then: await camera(id)) {
                    let revision = try request.revision()
                    return try await core.changeCamera(
                        id, requested, finding: try await finding(requested), ifRevision: revision,
                        dryRun: request.isDryRun)
                }
            },
            APIRoute(
                .delete, "\(path)/{id}", "Removes a camera with its secrets", response: nil, query: Self.dryRun
            ) { request in
                try await changed {
                    try await core.removeCamera(
                        request.parameter("id"), ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
        ]
    }

    var cameraActions: [APIRoute] {
        let path = APIPath.cameras("{id}")
        return [
            switching("enable", isActive: true, "Lets a camera run"),
            switching("disable", isActive: false, "Stops a camera until it is enabled"),
            APIRoute(
                .post, "\(path)/rename",
                "Gives a camera another ID; all that it has goes along, and its stream's name stays unless one is given",
                request: "CameraRenameRequest", response: "CameraDocument", query: Self.dryRun
            ) { request in
                let requested = try request.decode(CameraRenameRequest.self)
                return try await changed(then: await camera(requested.id, location: true)) {
                    try await core.renameCamera(
                        request.parameter("id"), requested, ifRevision: try request.revision(), dryRun: request.isDryRun
                    )
                }
            },
            APIRoute(
                .put, "\(path)/password", "Sets the password of a camera's login; it is never returned",
                request: "SecretRequest"
            ) { request in
                try await stored(request) { try await core.setPassword(of: request.parameter("id"), $0) }
            },
            APIRoute(
                .get, "\(path)/snapshot", "The newest frame of a camera that publishes, masks and text burnt in",
                responseType: "image/jpeg", isForAdministrators: true
            ) { request in
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    let user = try await coded { try await core.user(of: id) }
                    return APIResponse(
                        body: .bytes(try await core.processes.snapshot(of: id, user: user), type: "image/jpeg"))
                }
            },
            APIRoute(
                .get, "\(path)/controls",
                "What can be set at a camera of this machine that runs, with its current values",
                response: "CameraControlsDocument", isForAdministrators: true
            ) { request in
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    let user = try await coded { try await core.user(of: id) }
                    var document = try await core.processes.controls(of: id, user: user)
                    document.camera = id
                    return .document(document)
                }
            },
            APIRoute(
                .post, "\(path)/recording/mark",
                "Records what happens now, of a camera that is recorded around events",
                request: "RecordingMarkRequest", response: "RecordingMarkDocument"
            ) { request in
                let mark = try request.decode(RecordingMarkRequest.self)
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    let user = try await coded { try await core.user(of: id) }
                    let document = try await core.processes.mark(mark, id, user: user)
                    if document.isMarked { core.hub.publish(.camera, object: id, "its recording was marked") }
                    return .document(document)
                }
            },
            APIRoute(
                .get, "\(path)/recordings",
                "What is recorded of a camera that runs, oldest first, a page at a time",
                response: "RecordingsDocument.Camera", query: RecordingsQuery.parameters
            ) { request in
                let query = try RecordingsQuery(request)
                let id = request.parameter("id")
                return try await forwarded {
                    _ = try await coded { try await core.requireCamera(id) }
                    let user = try await coded { try await core.user(of: id) }
                    var document = try await core.processes.recordings(query, id, user: user)
                    document.camera = id
                    return .document(document)
                }
            },
            APIRoute(.delete, "\(path)/password", "Forgets the password of a camera's login") { request in
                try await coded { try await core.removePassword(of: request.parameter("id")) }
                return .noContent
            },
        ]
    }

    /// Of the test that a request names; nil when it names none.
    private func finding(_ request: CameraRequest) async throws -> StreamTestReport? {
        guard let test = request.test else { return nil }
        return try await core.jobs.finding(test, source: request.source)
    }

    private func switching(_ action: String, isActive: Bool, _ summary: String) -> APIRoute {
        APIRoute(
            .post, APIPath.cameras("{id}", action), summary, response: "CameraDocument", query: Self.dryRun
        ) { request in
            let id = request.parameter("id")
            return try await changed(then: await camera(id)) {
                try await core.changeCamera(
                    id, CameraRequest(isActive: isActive), ifRevision: nil, cause: "camera \(action) \(id)",
                    dryRun: request.isDryRun)
            }
        }
    }

    private func camera(_ id: String, status: Int = 200, location: Bool = false) async throws -> APIResponse {
        let (document, revision) = try await coded { try await core.camera(id) }
        return .document(
            document, status: status, eTag: APIResponse.tag(revision),
            location: location ? APIPath.cameras(id) : nil)
    }
}
