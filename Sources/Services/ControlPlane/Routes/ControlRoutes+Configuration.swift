internal import BoxConfiguration
internal import ControlAPI
internal import ErrorCatalog

extension ControlRoutes {
    var configuration: [APIRoute] {
        let path = APIPath.configuration()
        return [
            APIRoute(.get, path, "The configuration that runs", response: "ConfigurationDocument") { _ in
                .document(await core.configuration())
            },
            APIRoute(
                .post, "\(path)/validate", "Checks the files, or the text in the body; changes nothing",
                request: "ImportRequest", response: "ValidationDocument"
            ) { request in
                if request.body.isEmpty { return .document(await core.validation()) }
                let text = try request.decode(ImportBody.self).toml
                return .document(await core.validation(of: text))
            },
            APIRoute(.get, "\(path)/diff", "What applying the files would change", response: "ConfigurationDiff") { _ in
                .document(try await coded { try await core.differenceOfFiles() })
            },
            APIRoute(
                .post, "\(path)/apply", "Reads the files again and puts them to use", request: "ApplyRequest",
                response: "ConfigurationDiff", query: Self.dryRun
            ) { request in
                let requested = request.body.isEmpty ? ApplyRequest() : try request.decode(ApplyRequest.self)
                return .document(
                    try await coded {
                        try await core.apply(confirmSeconds: requested.confirmSeconds, dryRun: request.isDryRun)
                    })
            },
            APIRoute(.post, "\(path)/confirm", "Keeps what would otherwise be taken back") { _ in
                try await coded { try await core.confirm() }
                return .noContent
            },
            APIRoute(
                .post, "\(path)/rollback", "Back to a generation; without a number to the one before",
                request: "ApplyRequest", response: "ConfigurationDiff", query: Self.dryRun
            ) { request in
                let requested = request.body.isEmpty ? ApplyRequest() : try request.decode(ApplyRequest.self)
                return .document(
                    try await coded {
                        try await core.rollback(
                            to: requested.generation, confirmSeconds: requested.confirmSeconds, dryRun: request.isDryRun
                        )
                    })
            },
            APIRoute(
                .get, "\(path)/history", "The last ten generations, newest first", response: "GenerationListDocument"
            ) { _ in
                .document(await core.history())
            },
            APIRoute(.get, "\(path)/export", "The configuration that runs as one TOML, secrets as names") { _ in
                APIResponse(body: .text(await core.configuration().toml, type: "application/toml; charset=utf-8"))
            },
            APIRoute(
                .post, "\(path)/import", "Takes the objects of a TOML into the store", request: "ImportRequest",
                response: "ConfigurationDiff", query: Self.dryRun
            ) { request in
                let body = try request.decode(ImportBody.self)
                let requested = ImportRequest(
                    toml: body.toml, replace: body.replace ?? false, ifGeneration: body.ifGeneration)
                return .document(
                    try await coded { try await core.importing(requested, dryRun: request.isDryRun) })
            },
            APIRoute(
                .delete, APIPath.configuration("quarantine", "{object}"),
                "Removes a quarantined object from the store, with its secrets", response: "ConfigurationDiff",
                query: Self.dryRun
            ) { request in
                .document(
                    try await coded { try await core.discard(request.parameter("object"), dryRun: request.isDryRun) })
            },
            APIRoute(.get, "\(path)/schema", "JSON Schema of the files, for editors") { _ in
                APIResponse(body: .json(Array(BoxSettings.schema.utf8)))
            },
        ]
    }

    /// An `ImportRequest` that a person may write by hand.
    private struct ImportBody: Decodable {
        var toml: String
        var replace: Bool?
        var ifGeneration: Int?
    }
}
