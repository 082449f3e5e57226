internal import ControlAPI
internal import ErrorCatalog

extension ControlRoutes {
    var hooks: [APIRoute] {
        let path = APIPath.hooks()
        return [
            APIRoute(.get, path, "All hooks, and how they stand", response: "HookListDocument") { _ in
                .document(HookListDocument(hooks: await core.hooks()))
            },
            APIRoute(.get, "\(path)/{name}", "One hook, with its tag for a change", response: "HookDocument") {
                try await hook($0.parameter("name"))
            },
            APIRoute(
                .put, "\(path)/{name}",
                "Adds a hook, or changes one: what is left out stays, an empty string is removed",
                request: "HookRequest", response: "HookDocument", query: Self.dryRun
            ) { request in
                let name = request.parameter("name")
                let requested = try request.decode(HookRequest.self)
                return try await changed(then: await hook(name)) {
                    try await core.setHook(
                        name, requested, ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
            APIRoute(.delete, "\(path)/{name}", "Removes a hook and its secrets", query: Self.dryRun) { request in
                try await changed {
                    try await core.remove(
                        .hook, request.parameter("name"), ifRevision: try request.revision(), dryRun: request.isDryRun)
                }
            },
            APIRoute(
                .put, "\(path)/{name}/secret", "Sets the hook's whole URL as a secret; it is never returned",
                request: "SecretRequest"
            ) { request in
                try await stored(request) {
                    try await core.setHookSecret(request.parameter("name"), $0, isToken: false)
                }
            },
            APIRoute(
                .put, "\(path)/{name}/token", "Sets the token that the hook's receiver is shown",
                request: "SecretRequest"
            ) { request in
                try await stored(request) { try await core.setHookSecret(request.parameter("name"), $0, isToken: true) }
            },
            APIRoute(
                .post, "\(path)/{name}/test", "Sends one message now and reports the result",
                response: "HookTestDocument"
            ) { request in
                .document(try await coded { try await core.testHook(request.parameter("name")) })
            },
        ]
    }

    private func hook(_ name: String) async throws -> APIResponse {
        let (document, revision) = try await coded {
            (try await core.hook(name), await core.revision(kind: "hook", name: name))
        }
        return .document(document, eTag: APIResponse.tag(revision))
    }
}
