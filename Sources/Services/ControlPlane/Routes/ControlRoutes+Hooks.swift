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
                "Adds a hook, or changes one: what is left out stays, an empty text is taken away",
                request: "HookRequest", response: "HookDocument", query: Self.dryRun
            ) { request in
                let name = request.parameter("name")
                let wanted = try request.decode(HookRequest.self)
                let revision = try request.revision()
                let difference = try await coded {
                    try await core.setHook(name, wanted, ifRevision: revision, dryRun: request.isDryRun)
                }
                if let difference { return .document(difference) }
                return try await hook(name)
            },
            APIRoute(.delete, "\(path)/{name}", "Removes a hook and its secrets", query: Self.dryRun) { request in
                let revision = try request.revision()
                let difference = try await coded {
                    try await core.removeHook(
                        request.parameter("name"), ifRevision: revision, dryRun: request.isDryRun)
                }
                return difference.map { .document($0) } ?? .noContent
            },
            APIRoute(
                .put, "\(path)/{name}/secret", "Sets the hook's whole URL as a secret; it is never told back",
                request: "SecretRequest"
            ) { try await setSecret($0, isToken: false) },
            APIRoute(
                .put, "\(path)/{name}/token", "Sets the token that the hook's receiver is shown",
                request: "SecretRequest"
            ) { try await setSecret($0, isToken: true) },
            APIRoute(
                .post, "\(path)/{name}/test", "Sends one message now and tells what came of it",
                response: "HookTestDocument"
            ) { request in
                .document(try await coded { try await core.testHook(request.parameter("name")) })
            },
        ]
    }

    private func setSecret(_ request: APIRequest, isToken: Bool) async throws -> APIResponse {
        let secret = try request.decode(SecretRequest.self)
        try await coded {
            try await core.setHookSecret(request.parameter("name"), Array(secret.secret.utf8), isToken: isToken)
        }
        return .noContent
    }

    private func hook(_ name: String) async throws -> APIResponse {
        let (document, revision) = try await coded {
            (try await core.hook(name), await core.revision(kind: "hook", name: name))
        }
        return .document(document, eTag: APIResponse.tag(revision))
    }
}
