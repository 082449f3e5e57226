internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog

extension ControlRoutes {
    /// Searches and tests: what is not yet a camera of this box.
    var network: [APIRoute] {
        let discovery = APIPath.discovery()
        let tests = APIPath.cameraTests()
        return [
            APIRoute(
                .post, discovery, "Searches the network for cameras; one search at a time", request: "DiscoveryRequest",
                response: "NetworkSearchDocument"
            ) { request in
                let requested = try request.decode(DiscoveryRequest.self)
                let search = try await coded { try await core.jobs.startSearch(requested) }
                return .document(await core.marked(search), status: 202, location: discovery)
            },
            APIRoute(
                .get, discovery, "The search that runs, or the last one", response: "NetworkSearchDocument",
                isForAdministrators: true
            ) { _ in .document(await core.marked(try await coded { try await core.jobs.currentSearch() })) },
            APIRoute(
                .delete, discovery, "Ends the search; what it has found stays", response: "NetworkSearchDocument"
            ) { _ in .document(await core.marked(try await coded { try await core.jobs.cancelSearch() })) },
            APIRoute(
                .post, tests, "Tries a network camera out, whether it is one of this box or not",
                request: "CameraTestRequest", response: "CameraTestDocument"
            ) { request in
                let requested = try request.decode(CameraTestRequest.self)
                let id = try await coded { try await core.jobs.startTest(requested) }
                return .document(CameraTestDocument(id: id), status: 202, location: "\(tests)/\(id)")
            },
            APIRoute(
                .get, "\(tests)/{id}", "How far a test is; forgotten 5 minutes after its end",
                response: "StreamTestReport", isForAdministrators: true
            ) { request in .document(try await coded { try await core.jobs.test(request.parameter("id")) }) },
            APIRoute(.delete, "\(tests)/{id}", "Ends a test", response: nil) { request in
                try await coded { try await core.jobs.cancelTest(request.parameter("id")) }
                return .noContent
            },
        ]
    }

    /// What the process of a network camera is asked.
    var networkCameras: [APIRoute] {
        let path = APIPath.cameras("{id}")
        return [
            APIRoute(
                .post, "\(path)/test", "Tries a camera of this box out, with its own settings and password",
                response: "StreamTestReport"
            ) { request in
                try await forwarded(request) { .document(try await core.processes.test($0, user: $1)) }
            },
            APIRoute(.post, "\(path)/ptz", "Moves a camera that has PTZ", request: "PTZCommand") { request in
                let command = try request.decode(PTZCommand.self)
                return try await forwarded(request) { id, user in
                    try await core.processes.move(command, id, user: user)
                    return .noContent
                }
            },
            APIRoute(
                .get, "\(path)/presets", "Positions that a camera with PTZ knows", response: "PTZPresetListDocument",
                isForAdministrators: true
            ) { request in
                try await forwarded(request) { .document(try await core.processes.presets(of: $0, user: $1)) }
            },
            APIRoute(
                .get, "\(path)/encoders", "Encoders inside a network camera, and what they may be set to",
                response: "CameraEncoderListDocument", isForAdministrators: true
            ) { request in
                try await forwarded(request) { .document(try await core.processes.encoders(of: $0, user: $1)) }
            },
            APIRoute(
                .patch, "\(path)/encoders", "Changes an encoder inside a network camera",
                request: "CameraEncoder.Change"
            ) { request in
                let change = try request.decode(CameraEncoder.Change.self)
                return try await forwarded(request) { id, user in
                    try await core.processes.configure(change, of: id, user: user)
                    core.hub.publish(.camera, object: id, "an encoder inside the camera was changed")
                    return .noContent
                }
            },
            APIRoute(
                .get, "\(path)/profiles", "Streams that a network camera offers", response: "CameraProfileListDocument"
            ) { request in .document(try await coded { try await core.profiles(request.parameter("id")) }) },
            APIRoute(
                .get, "\(path)/thumbnail", "A thumbnail of a network camera, at most a minute old while it is live",
                responseType: "image/jpeg", isForAdministrators: true
            ) { request in
                APIResponse(
                    body: .bytes(
                        try await coded { try await core.thumbnail(request.parameter("id")) }, type: "image/jpeg"))
            },
        ]
    }

    /// To the process of the camera in the path.
    private func forwarded(
        _ request: APIRequest, _ body: (_ id: String, _ user: UInt32) async throws -> APIResponse
    ) async throws -> APIResponse {
        let id = request.parameter("id")
        return try await forwarded {
            let camera = try await coded { try await core.requireCamera(id) }
            guard camera.isNetworkCamera else {
                throw CodedError(
                    .badRequest, "camera \(id) is not a camera on the network",
                    hint: "See: watchboxctl camera show \(id)",
                    object: id)
            }
            return try await body(id, try await coded { try await core.user(of: id) })
        }
    }
}
