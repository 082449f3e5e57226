internal import ControlAPI
internal import ErrorCatalog
internal import PrometheusText

/// The API of the health daemon's socket.
enum HealthRoutes {
    struct Source: Sendable {
        var report: @Sendable () -> HealthReport
        var history: @Sendable (_ check: String?, _ hours: Int) async -> HealthHistoryDocument
        /// False when there is no such check.
        var acknowledge: @Sendable (CheckName, _ object: String?) -> Bool
        var metrics: @Sendable () -> String
    }

    static func routes(_ source: Source) -> [APIRoute] {
        [
            APIRoute(.get, APIPath.health(), "All checks, and the escalation ladder.", response: "HealthReport") { _ in
                .document(source.report())
            },
            APIRoute(
                .get, APIPath.health("history"), "Changes of states and recoveries, newest first.",
                response: "HealthHistoryDocument",
                query: ["check": "Only of this check.", "hours": "How far back, 1 to 24; 24 when it is left out."]
            ) { request in
                if let check = request.query["check"] { _ = try name(check) }
                let hours = try request.query["hours"].map(hours) ?? 24
                return .document(await source.history(request.query["check"], hours))
            },
            APIRoute(
                .post, APIPath.health("{check}", "acknowledge"),
                "Somebody has seen it; holds until the state changes.",
                query: ["object": "Only of this camera, relay or unit."]
            ) { request in
                let check = try name(request.parameters["check"] ?? "")
                let object = request.query["object"]
                guard source.acknowledge(check, object) else {
                    throw CodedError(
                        .notFound, "there is no check \(check.rawValue)\(object.map { " of \($0)" } ?? "")",
                        hint: "List them: watchboxctl health list")
                }
                return .noContent
            },
            APIRoute(.get, "/metrics", "Figures for Prometheus.") { _ in
                APIResponse(body: .text(source.metrics(), type: MetricFamily.mediaType))
            },
        ]
    }

    private static func name(_ text: String) throws(CodedError) -> CheckName {
        guard let check = CheckName(rawValue: text) else {
            throw CodedError(
                .notFound, "there is no check of this name",
                why: "the checks are \(CheckName.allCases.map(\.rawValue).joined(separator: ", "))",
                hint: "List them: watchboxctl health list")
        }
        return check
    }

    private static func hours(_ text: String) throws(CodedError) -> Int {
        guard let hours = Int(text), (1...24).contains(hours) else {
            throw CodedError(.badRequest, "hours must be 1 to 24")
        }
        return hours
    }
}
