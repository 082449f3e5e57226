import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import OpenAPI

struct DocumentSampleTests {
    private static let names = DocumentSample.all.map(\.name)

    private func sample(_ name: String) throws -> DocumentSample {
        try #require(DocumentSample.all.first { $0.name == name })
    }

    @Test func `each document has one sample`() {
        #expect(Set(Self.names).count == Self.names.count)
        #expect(Self.names.contains("BoxStatus") && Self.names.contains("Problem"))
    }

    @Test(arguments: names)
    func `a sample fulfils the schema of its type, with every field and no other`(name: String) throws {
        let sample = try sample(name)
        var schemas = OpenAPISchemas()
        let schema = try sample.addSchema(&schemas)
        let violations = SchemaValidator(components: schemas.components, wantsEveryField: true).violations(
            sample.value, schema, name)
        #expect(violations == [])
    }

    @Test(arguments: names)
    func `a sample reads back as it was written`(name: String) throws {
        let sample = try sample(name)
        let bytes = Array(sample.value.text().utf8)
        let again = try JSONDocument.decode(OpenAPIValue.self, from: try sample.reencode(bytes))
        #expect(again == sample.value)
    }

    @Test(arguments: names)
    func `a document reads without its optional fields, and not without the others`(name: String) throws {
        let sample = try sample(name)
        var schemas = OpenAPISchemas()
        _ = try sample.addSchema(&schemas)
        // One of several objects has no field of its own.
        guard (schemas.components[name]?["anyOf"] ?? .null) == .null else { return }
        let required = schemas.components[name]?["required"].elements ?? []
        for field in sample.value.members.keys {
            var members = sample.value.members
            members[field] = nil
            let bytes = Array(OpenAPIValue.object(members).text().utf8)
            if required.contains(.string(field)) {
                #expect(throws: (any Error).self, "\(field)") { try sample.reencode(bytes) }
            } else {
                #expect(throws: Never.self, "\(field)") { try sample.reencode(bytes) }
            }
        }
    }

    @Test func `what the schema says of a structure`() throws {
        var schemas = OpenAPISchemas()
        #expect(try schemas.schema(of: StreamDocument.self) == ["$ref": "#/components/schemas/StreamDocument"])
        let stream = try #require(schemas.components["StreamDocument"])
        #expect(stream["properties"]["restarts"] == ["type": "integer", "format": "int64"])
        #expect(stream["properties"]["framesPerSecond"] == ["type": "number"])
        #expect(stream["properties"]["code"] == ["type": "string", "pattern": "^WB-[1-8][0-9]{3}$"])
        #expect(stream["properties"]["state"] == ["$ref": "#/components/schemas/StreamDocument.State"])
        #expect(stream["required"] == ["camera", "restarts", "state", "stream", "unit"])
        #expect(
            schemas.components["StreamDocument.State"]?["enum"].elements.count == StreamDocument.State.allCases.count)
        #expect(
            schemas.components["CameraStatistics"]?["properties"]["itemsInCollection"]
                == ["type": "integer", "format": "int64", "minimum": 0])
    }

    @Test func `what the schema says of a range and of a command`() throws {
        var schemas = OpenAPISchemas()
        _ = try schemas.schema(of: CameraEncoder.self)
        #expect(
            schemas.components["CameraEncoder"]?["properties"]["bitrates"]
                == ["type": "array", "items": ["type": "integer", "format": "int64"], "minItems": 2, "maxItems": 2])
        let command = try schemas.schema(of: PTZCommand.self)
        let checker = SchemaValidator(components: schemas.components, wantsEveryField: false)
        let all: [PTZCommand] = [
            .continuous(pan: 1, tilt: 0, zoom: 0, seconds: 0.5), .absolute(pan: nil, tilt: 0.5, zoom: nil), .stop,
            .goTo(preset: "1"), .store(preset: "Gate"), .home,
        ]
        for one in all {
            let value = try JSONDocument.decode(OpenAPIValue.self, from: JSONDocument.bytes(one))
            #expect(checker.violations(value, command, "") == [], "\(one)")
        }
        #expect(checker.violations(["goTo": [:]], command, "") != [])
        #expect(checker.violations([:], command, "") != [])
    }

    @Test func `a camera test in a log shows no password`() {
        let request = CameraTestRequest(source: "rtsp://192.0.2.7/", user: "admin", password: "p@ss:/#%")
        #expect(!"\(request) \(String(describing: request))".contains("p@ss"))
    }

    @Test func `a type that the schemas cannot describe is an error, not a guess`() {
        struct Tagged: Codable {
            enum Kind: Codable { case a(Int), b }
            var kind: Kind
        }
        struct Bare: Decodable {
            init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer() }
        }
        var schemas = OpenAPISchemas()
        #expect(throws: (any Error).self) { try schemas.schema(of: Tagged.self) }
        #expect(throws: OpenAPISchemas.Unsupported.self) { try schemas.schema(of: Bare.self) }
    }

    @Test func `the checker of this test finds what is wrong`() {
        let checker = SchemaValidator(components: ["S": ["type": "string", "enum": ["a"]]], wantsEveryField: false)
        let schema: OpenAPIValue = [
            "type": "object", "required": ["a", "b"],
            "properties": [
                "a": ["$ref": "#/components/schemas/S"], "b": ["type": "array", "items": ["type": "integer"]],
            ],
        ]
        #expect(checker.violations(["a": "a", "b": [1]], schema, "") == [])
        #expect(checker.violations(["a": "x", "b": ["1"]], schema, "").count == 2)
        #expect(checker.violations(["a": "a"], schema, "").count == 1)
        #expect(checker.violations(["a": "a", "b": [], "c": 1], schema, "").count == 1)
        #expect(checker.violations(-1, ["type": "integer", "minimum": 0], "").count == 1)
        #expect(checker.violations("WB-1", ["type": "string", "pattern": "^WB-[1-8][0-9]{3}$"], "").count == 1)
    }

    @Test(arguments: [
        ("a\"b\\c\n\u{1}\u{1F}é\u{1F600}", #""a\"b\\c\n\u0001\u001fé😀""#), ("", "\"\""),
    ])
    func `text is quoted as JSON wants it`(text: String, json: String) throws {
        #expect(OpenAPIValue.string(text).text() == json)
        #expect(try JSONDocument.decode(OpenAPIValue.self, from: Array(json.utf8)) == .string(text))
    }
}

/// As much of JSON Schema as `OpenAPISchemas` writes.
struct SchemaValidator {
    var components: [String: OpenAPIValue]
    /// A field that may be missing must not.
    var wantsEveryField: Bool

    func violations(_ value: OpenAPIValue, _ schema: OpenAPIValue, _ place: String) -> [String] {
        if case .string(let reference) = schema["$ref"] {
            guard let target = components[String(reference.dropFirst("#/components/schemas/".count))] else {
                return ["\(place): \(reference) leads nowhere"]
            }
            return violations(value, target, place)
        }
        if !schema["anyOf"].elements.isEmpty {
            return schema["anyOf"].elements.contains { violations(value, $0, place).isEmpty } ? [] : ["\(place): none"]
        }
        if !schema["enum"].elements.isEmpty, !schema["enum"].elements.contains(value) {
            return ["\(place): not in the list"]
        }
        switch (schema["type"], value) {
        case ("object", .object(let members)): return object(members, schema, place)
        case ("array", .array(let values)):
            return values.flatMap { violations($0, schema["items"], place + "[]") }
        case ("integer", .integer(let number)):
            if case .integer(let minimum) = schema["minimum"], number < minimum { return ["\(place): too small"] }
            return []
        case ("string", .string(let text)):
            guard schema["pattern"] != .null else { return [] }
            return ErrorCode(text) == nil || !text.hasPrefix("WB-") ? ["\(place): no code"] : []
        case ("number", .integer), ("number", .real), ("boolean", .boolean): return []
        default: return ["\(place): \(value.text()) is no \(schema["type"].text())"]
        }
    }

    private func object(_ members: [String: OpenAPIValue], _ schema: OpenAPIValue, _ place: String) -> [String] {
        if schema["additionalProperties"] != .null {
            return members.flatMap { violations($1, schema["additionalProperties"], "\(place).\($0)") }
        }
        let properties = schema["properties"].members
        let required =
            wantsEveryField
            ? Array(properties.keys)
            : schema["required"].elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
        return required.filter { members[$0] == nil }.map { "\(place).\($0) is missing" }
            + members.flatMap { name, value in
                properties[name].map { violations(value, $0, "\(place).\(name)") } ?? ["\(place).\(name) is not known"]
            }
    }
}
