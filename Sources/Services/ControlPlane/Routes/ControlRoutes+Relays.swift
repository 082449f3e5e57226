internal import ControlAPI
internal import ErrorCatalog

extension ControlRoutes {
    var relays: [APIRoute] {
        let path = APIPath.relays()
        return [
            APIRoute(.get, path, "All relays that cameras can publish to", response: "RelayListDocument") { _ in
                .document(RelayListDocument(relays: await core.relays()))
            },
            APIRoute(.get, "\(path)/{name}", "One relay, with its tag for a change", response: "RelayDocument") {
                try await relay($0.parameter("name"))
            },
            APIRoute(
                .put, "\(path)/{name}",
                "Adds a relay, or changes one: what is left out stays, an empty string is removed",
                request: "RelayRequest", response: "RelayDocument", query: Self.dryRun
            ) { request in
                let name = request.parameter("name")
                let requested = try request.decode(RelayRequest.self)
                return try await changed(then: await relay(name)) {
                    try await core.setRelay(
                        name, requested, ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
            APIRoute(.delete, "\(path)/{name}", "Removes a relay that no camera uses", query: Self.dryRun) { request in
                try await changed {
                    try await core.remove(
                        .relay, request.parameter("name"), ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
            APIRoute(
                .put, "\(path)/{name}/secret", "Sets the relay's whole URL as a secret; it is never returned",
                request: "SecretRequest"
            ) { request in
                try await stored(request) { try await core.setRelaySecret(request.parameter("name"), $0) }
            },
        ]
    }

    private func relay(_ name: String) async throws -> APIResponse {
        let (document, revision) = try await coded {
            (try await core.relay(name), await core.revision(kind: "relay", name: name))
        }
        return .document(document, eTag: APIResponse.tag(revision))
    }

    var keyAccess: [APIRoute] {
        let path = APIPath.keyAccess()
        return [
            APIRoute(.get, path, "The key access server, with its tag for a change", response: "KeyAccessDocument") {
                _ in await keyAccessAnswer()
            },
            APIRoute(
                .put, path, "Sets the key access server", request: "KeyAccessDocument", response: "KeyAccessDocument",
                query: Self.dryRun
            ) { request in
                let requested = try request.decode(KeyAccessRequest.self)
                return try await changed(then: await keyAccessAnswer()) {
                    try await core.setKeyAccess(
                        KeyAccessDocument(
                            url: requested.url, certificateAuthorityFile: requested.certificateAuthorityFile,
                            publicKeyPin: requested.publicKeyPin, keyIdentifiers: requested.keyIdentifiers),
                        ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
            APIRoute(
                .put, "\(path)/token", "Sets the token that the box shows the key access server",
                request: "SecretRequest"
            ) { try await stored($0) { try await core.setKeyAccessToken($0) } },
            APIRoute(
                .post, "\(path)/handed-over", "Secrets that systemd opened for the process that asks",
                request: "HandOverRequest"
            ) { request in
                let secrets = try request.decode(HandOverRequest.self)
                await core.takeOver(secrets.secrets)
                return .noContent
            },
        ]
    }

    var device: [APIRoute] {
        let path = APIPath.device()
        return [
            APIRoute(
                .get, path, "The key that signs what the box registers at the key access server",
                response: "DeviceKeyDocument"
            ) { _ in .document(await core.device()) },
            APIRoute(.post, path, "Makes the device key", response: "DeviceKeyDocument") { _ in
                try await coded { try await core.makeDevice() }
                return .document(await core.device())
            },
            APIRoute(
                .post, "\(path)/next", "Makes the device key that takes over with switch", response: "DeviceKeyDocument"
            ) { _ in
                try await coded { try await core.makeNextDevice() }
                return .document(await core.device())
            },
            APIRoute(.post, "\(path)/switch", "Lets the next device key take over", response: "DeviceKeyDocument") {
                _ in
                try await coded { try await core.switchDevice() }
                return .document(await core.device())
            },
            APIRoute(.delete, path, "Removes the device key: cameras sign nothing any more") { _ in
                try await coded { try await core.removeDevice() }
                return .noContent
            },
        ]
    }

    private func keyAccessAnswer() async -> APIResponse {
        .document(
            await core.keyAccess(), eTag: APIResponse.tag(await core.revision(kind: "kas", name: "kas")))
    }

    /// A `KeyAccessDocument` of which only what can be set is read.
    private struct KeyAccessRequest: Decodable {
        var url: String?
        var certificateAuthorityFile: String?
        var publicKeyPin: String?
        var keyIdentifiers: String?
    }
}
