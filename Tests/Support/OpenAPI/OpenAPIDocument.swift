public import ControlAPI

/// OpenAPI 3.1 of an API, from its routes and from the documents' code.
public enum OpenAPIDocument {
    /// The document: sorted keys, two spaces, a line break at the end; equal routes are equal bytes.
    ///
    /// A name of a document that is not among `DocumentSample.all` stays without a schema; `undocumented` finds it.
    public static func text(title: String, version: String, routes: [APIRoute]) -> String {
        var builder = OpenAPIBuilder()
        var paths: [String: [String: OpenAPIValue]] = [:]
        for route in routes {
            paths[route.path, default: [:]][route.method.rawValue.lowercased()] = builder.operation(route)
        }
        builder.addProblem()
        let document: OpenAPIValue = [
            "openapi": "3.1.0",
            "info": [
                "title": .string(title), "version": .string(version),
                "license": ["name": "Apache-2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "http://localhost", "description": "Over a Unix socket: any host name."]],
            "paths": .object(paths.mapValues { .object($0) }),
            "components": ["schemas": .object(builder.components)],
        ]
        return document.text() + "\n"
    }

    /// Names that routes give to documents that do not exist, with the route.
    public static func undocumented(_ routes: [APIRoute]) -> [String] {
        let known = Set(DocumentSample.all.map(\.name))
        return routes.flatMap { route in
            [route.requestDocument, route.responseDocument].compactMap { name in
                guard let name, !known.contains(name) else { return nil }
                return "\(route.method.rawValue) \(route.path): \(name)"
            }
        }
    }
}

/// Makes the parts of one OpenAPI document, and gathers the schemas that they refer to.
private struct OpenAPIBuilder {
    private let samples = Dictionary(DocumentSample.all.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    private var schemas = OpenAPISchemas()

    /// With each document's `schema` fixed to what the code writes.
    var components: [String: OpenAPIValue] {
        var components = schemas.components
        for (name, sample) in samples {
            guard case .object(let members) = sample.value, let version = members["schema"],
                case .object(var component) = components[name], case .object(var properties) = component["properties"]
            else { continue }
            properties["schema"] = ["type": "string", "const": version]
            component["properties"] = .object(properties)
            components[name] = .object(component)
        }
        return components
    }

    mutating func addProblem() { _ = reference("Problem") }

    mutating func operation(_ route: APIRoute) -> OpenAPIValue {
        var operation: [String: OpenAPIValue] = [
            "summary": .string(route.summary), "operationId": .string(identifier(route)),
            "tags": [.string(tag(route))], "responses": responses(route),
        ]
        let parameters = parameters(route)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let name = route.requestDocument {
            operation["requestBody"] = [
                "required": true, "content": ["application/json": media(reference(name), example: name)],
            ]
        }
        if route.isForAdministrators { operation["description"] = "For administrators only." }
        return .object(operation)
    }

    private mutating func responses(_ route: APIRoute) -> OpenAPIValue {
        var answers: [OpenAPIValue] = []
        if let name = route.responseDocument { answers.append(reference(name)) }
        if route.query["dryRun"] != nil, route.responseDocument != "ConfigurationDiff" {
            answers.append(reference("ConfigurationDiff"))
        }
        var success: [String: OpenAPIValue] = ["description": "As asked."]
        if let first = answers.first {
            let schema: OpenAPIValue = answers.count == 1 ? first : ["anyOf": .array(answers)]
            // Its documents come as events only.
            let type = route.responseDocument == "EventDocument" ? "text/event-stream" : "application/json"
            success["content"] = [type: media(schema, example: answers.count == 1 ? route.responseDocument : nil)]
        } else if let type = route.responseType {
            success["content"] = [type: [:]]
        } else if route.method == .get {
            success["content"] = ["*/*": [:]]
        }
        return [
            "2XX": .object(success),
            "default": [
                "description": "What went wrong, why, and what to do next.",
                "content": ["application/problem+json": media(OpenAPISchemas.reference("Problem"), example: nil)],
            ],
        ]
    }

    private func media(_ schema: OpenAPIValue, example name: String?) -> OpenAPIValue {
        guard let sample = name.flatMap({ samples[$0] }), sample.isShown else { return ["schema": schema] }
        return ["schema": schema, "example": sample.value]
    }

    private func parameters(_ route: APIRoute) -> [OpenAPIValue] {
        var parameters: [OpenAPIValue] = parts(route).compactMap { part in
            guard part.first == "{" else { return nil }
            return [
                "name": .string(String(part.dropFirst().dropLast())), "in": "path", "required": true,
                "schema": ["type": "string"],
            ]
        }
        for (name, meaning) in route.query.sorted(by: { $0.key < $1.key }) {
            parameters.append([
                "name": .string(name), "in": "query", "description": .string(meaning), "schema": ["type": "string"],
            ])
        }
        if route.method == .put || route.method == .patch {
            parameters.append([
                "name": "If-Match", "in": "header", "schema": ["type": "string"],
                "description": "The ETag of what is to be changed; 412 when it has changed meanwhile.",
            ])
        }
        return parameters
    }

    /// `#/components/schemas/NAME`; what it refers to is added, if there is such a document.
    private mutating func reference(_ name: String) -> OpenAPIValue {
        guard let sample = samples[name], let schema = try? sample.addSchema(&schemas) else { return true }
        return schema
    }

    private func parts(_ route: APIRoute) -> [Substring] { route.path.split(separator: "/") }

    /// `/api/v1/cameras/{id}` is about `cameras`.
    private func tag(_ route: APIRoute) -> String {
        let parts = parts(route)
        return String(parts.first == "api" && parts.count > 2 ? parts[2] : parts.first ?? "api")
    }

    /// `patchCamerasId`
    private func identifier(_ route: APIRoute) -> String {
        let words = parts(route).flatMap { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" } }
        let named = words.starts(with: ["api", "v1"]) ? Array(words.dropFirst(2)) : words
        return route.method.rawValue.lowercased() + named.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
