import ControlAPI
import ErrorCatalog
import Testing

@testable import OpenAPI

struct OpenAPIDocumentTests {
    private static let routes: [APIRoute] = [
        APIRoute(.get, "/api/v1/status", "The whole box.", response: "BoxStatus") { _ in .noContent },
        APIRoute(
            .patch, "/api/v1/cameras/{id}", "Changes a camera.", request: "CameraRequest", response: "CameraDocument",
            query: ["dryRun": "1: says what would change"]
        ) { _ in .noContent },
        APIRoute(.delete, "/api/v1/cameras/{id}", "Removes a camera.") { _ in .noContent },
        APIRoute(.put, "/api/v1/cameras/{id}/password", "Sets.", request: "SecretRequest") { _ in .noContent },
        APIRoute(.get, "/api/v1/events", "Events.", response: "EventDocument") { _ in .noContent },
        APIRoute(.get, "/metrics", "Metrics.") { _ in .noContent },
    ]

    private func document() throws -> OpenAPIValue {
        let text = OpenAPIDocument.text(title: "WatchBox", version: "1", routes: Self.routes)
        return try JSONDocument.decode(OpenAPIValue.self, from: Array(text.utf8))
    }

    @Test func `equal routes are equal bytes, and the text reads back`() throws {
        let text = OpenAPIDocument.text(title: "WatchBox", version: "1", routes: Self.routes)
        #expect(text == OpenAPIDocument.text(title: "WatchBox", version: "1", routes: Self.routes.reversed()))
        #expect(text.last == "\n")
        #expect(try document().text() + "\n" == text)
    }

    @Test func `it is OpenAPI 3.1 with an operation for each route`() throws {
        let document = try document()
        #expect(document["openapi"] == "3.1.0")
        #expect(document["info"]["title"] == "WatchBox" && document["info"]["version"] == "1")
        for route in Self.routes {
            let operation = document["paths"][route.path][route.method.rawValue.lowercased()]
            #expect(operation["summary"] == .string(route.summary))
            #expect(operation["responses"]["default"]["content"]["application/problem+json"] != .null)
        }
        let patch = document["paths"]["/api/v1/cameras/{id}"]["patch"]
        #expect(patch["operationId"] == "patchCamerasId")
        #expect(patch["tags"] == ["cameras"])
        #expect(patch["parameters"].elements.map { $0["name"] } == ["id", "dryRun", "If-Match"])
        #expect(
            patch["responses"]["2XX"]["content"]["application/json"]["schema"]["anyOf"].elements.count == 2)
        let events = document["paths"]["/api/v1/events"]["get"]["responses"]["2XX"]["content"]
        #expect(events["text/event-stream"]["schema"] == ["$ref": "#/components/schemas/EventDocument"])
    }

    @Test func `no operation has another one's identifier`() throws {
        var identifiers: [OpenAPIValue] = []
        for path in try document()["paths"].members.values {
            identifiers += path.members.values.map { $0["operationId"] }
        }
        #expect(identifiers.count == Self.routes.count)
        #expect(Set(identifiers.map { $0.text() }).count == identifiers.count)
    }

    @Test func `every reference leads to a schema`() throws {
        let document = try document()
        let schemas = document["components"]["schemas"].members
        func references(_ value: OpenAPIValue) -> [String] {
            switch value {
            case .object(let members):
                members.flatMap { name, value -> [String] in
                    if name == "$ref", case .string(let text) = value { [text] } else { references(value) }
                }
            case .array(let values): values.flatMap(references)
            case .null, .boolean, .integer, .real, .string: []
            }
        }
        let all = references(document)
        #expect(!all.isEmpty)
        for reference in all {
            let prefix = "#/components/schemas/"
            #expect(
                reference.hasPrefix(prefix) && schemas[String(reference.dropFirst(prefix.count))] != nil, "\(reference)"
            )
        }
    }

    @Test func `a route of a document that does not exist is named`() {
        #expect(OpenAPIDocument.undocumented(Self.routes) == [])
        let wrong = APIRoute(.post, "/x", "", request: "NoDocument", response: "BoxStatus") { _ in .noContent }
        #expect(OpenAPIDocument.undocumented([wrong]) == ["POST /x: NoDocument"])
    }

    @Test func `no example shows a secret`() throws {
        let content = try document()["paths"]["/api/v1/cameras/{id}/password"]["put"]["requestBody"]["content"]
        #expect(content["application/json"]["schema"] == ["$ref": "#/components/schemas/SecretRequest"])
        #expect(content["application/json"]["example"] == .null)
    }
}

extension OpenAPIValue {
    /// Null where there is none.
    subscript(name: String) -> OpenAPIValue { members[name] ?? .null }
    var members: [String: OpenAPIValue] { if case .object(let members) = self { members } else { [:] } }
    var elements: [OpenAPIValue] { if case .array(let elements) = self { elements } else { [] } }
}
