internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Settings

/// JSON Schemas (draft 2020-12, as OpenAPI 3.1 uses it) of Swift types, learned by decoding: a type is asked to read
/// itself, and what it asks for is written down. So the schema is what the code does, not what somebody wrote about it.
///
/// Understands synthesized conformances of structures, enumerations of strings that list their cases, optionals,
/// arrays, dictionaries by string; everything else throws, so that a test names it.
struct OpenAPISchemas {
    struct Unsupported: Error, CustomStringConvertible {
        var description: String
    }

    /// By name; what refers to another says `#/components/schemas/NAME`.
    private(set) var components: [String: OpenAPIValue] = [:]

    /// `LadderDocument.Step`.
    static func name(_ type: any Any.Type) -> String {
        let name = String(reflecting: type)
        return name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }

    static func reference(_ name: String) -> OpenAPIValue { ["$ref": .string("#/components/schemas/\(name)")] }

    mutating func schema<Value: Decodable>(of type: Value.Type) throws -> OpenAPIValue {
        try visit(type).schema
    }

    /// The schema, and some value of the type, for the structure that holds it.
    fileprivate mutating func visit<Value: Decodable>(_ type: Value.Type) throws -> (schema: OpenAPIValue, value: Value)
    {
        if let (schema, value) = Self.basic(type) { return (schema, value) }
        if type is PTZCommand.Type, let value = PTZCommand.stop as? Value {
            components[Self.name(type)] = ptzCommand()
            return (Self.reference(Self.name(type)), value)
        }
        if let collection = type as? any SchemaCollection.Type {
            let (schema, value) = try collection.visit(&self)
            guard let value = value as? Value else { throw Unsupported(description: "\(type)") }
            return (schema, value)
        }
        if let cases = Self.cases(type) {
            components[Self.name(type)] = ["type": "string", "enum": .array(cases.names.map { .string($0) })]
            return (Self.reference(Self.name(type)), cases.first)
        }
        let record = SchemaRecord(self)
        let value = try Value(from: SchemaDecoder(record))
        self = record.schemas
        components[Self.name(type)] = [
            "type": "object", "properties": .object(record.properties),
            "required": .array(record.required.sorted().map { .string($0) }),
        ]
        return (Self.reference(Self.name(type)), value)
    }

    private static func basic<Value>(_ type: Value.Type) -> (OpenAPIValue, Value)? {
        let known: (OpenAPIValue, Any)? =
            switch type {
            case is Bool.Type: (["type": "boolean"], false)
            case is String.Type: (["type": "string"], "")
            case is Double.Type: (["type": "number"], 0.0)
            case is Int.Type: (["type": "integer", "format": "int64"], 0)
            case is Int64.Type: (["type": "integer", "format": "int64"], Int64(0))
            case is UInt32.Type: (["type": "integer", "format": "int64", "minimum": 0], UInt32(0))
            case is UInt64.Type: (["type": "integer", "minimum": 0], UInt64(0))
            case is ErrorCode.Type: (["type": "string", "pattern": "^WB-[1-8][0-9]{3}$"], ErrorCode.notFound)
            case is ClosedRange<Double>.Type: (Self.range(["type": "number"]), 0.0...1.0)
            case is ClosedRange<Int>.Type: (Self.range(["type": "integer", "format": "int64"]), 0...1)
            case is SettingValue.Type:
                (
                    [
                        "anyOf": [
                            ["type": "boolean"], ["type": "number"], ["type": "string"],
                            ["type": "array", "items": ["type": "string"]],
                        ]
                    ], SettingValue.boolean(false)
                )
            default: nil
            }
        guard let known, let value = known.1 as? Value else { return nil }
        return (known.0, value)
    }

    /// Its two ends.
    private static func range(_ bound: OpenAPIValue) -> OpenAPIValue {
        ["type": "array", "items": bound, "minItems": 2, "maxItems": 2]
    }

    /// An object with the one member that names the command.
    private func ptzCommand() -> OpenAPIValue {
        func object(_ properties: [String: OpenAPIValue], required: [String]) -> OpenAPIValue {
            [
                "type": "object", "properties": .object(properties),
                "required": .array(required.sorted().map { .string($0) }),
            ]
        }
        let number: OpenAPIValue = ["type": "number"]
        let axes = ["pan": number, "tilt": number, "zoom": number]
        let preset = object(["preset": ["type": "string"]], required: ["preset"])
        let timed = axes.merging(["seconds": number]) { old, _ in old }
        let commands: [(String, OpenAPIValue)] = [
            ("continuous", object(timed, required: Array(timed.keys))), ("absolute", object(axes, required: [])),
            ("stop", object([:], required: [])), ("goTo", preset), ("store", preset),
            ("home", object([:], required: [])),
        ]
        return ["anyOf": .array(commands.map { object([$0.0: $0.1], required: [$0.0]) })]
    }

    private static func cases<Value>(_ type: Value.Type) -> (names: [String], first: Value)? {
        guard let type = type as? any CaseIterable.Type else { return nil }
        func list<Cases: CaseIterable>(_ type: Cases.Type) -> [Any] { Array(Cases.allCases) }
        let all = list(type)
        let names = all.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        guard names.count == all.count, let first = all.first as? Value else { return nil }
        return (names, first)
    }
}

private protocol SchemaCollection {
    static func visit(_ schemas: inout OpenAPISchemas) throws -> (OpenAPIValue, Any)
}

extension Array: SchemaCollection where Element: Decodable {
    fileprivate static func visit(_ schemas: inout OpenAPISchemas) throws -> (OpenAPIValue, Any) {
        (["type": "array", "items": try schemas.schema(of: Element.self)], [Element]())
    }
}

extension Dictionary: SchemaCollection where Key == String, Value: Decodable {
    fileprivate static func visit(_ schemas: inout OpenAPISchemas) throws -> (OpenAPIValue, Any) {
        (["type": "object", "additionalProperties": try schemas.schema(of: Value.self)], [String: Value]())
    }
}

/// What one structure asked for.
private final class SchemaRecord {
    var schemas: OpenAPISchemas
    var properties: [String: OpenAPIValue] = [:]
    var required: [String] = []

    init(_ schemas: OpenAPISchemas) {
        self.schemas = schemas
    }

    func visit<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey, isRequired: Bool) throws -> Value {
        let (schema, value) = try schemas.visit(type)
        properties[key.stringValue] = schema
        if isRequired { required.append(key.stringValue) }
        return value
    }
}

private struct SchemaDecoder: Decoder {
    let record: SchemaRecord
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ record: SchemaRecord) {
        self.record = record
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SchemaKeyedContainer<Key>(record: record))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw OpenAPISchemas.Unsupported(description: "an array without a type")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw OpenAPISchemas.Unsupported(
            description: "a value that is not a structure; teach OpenAPISchemas its schema")
    }
}

private struct SchemaKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: SchemaRecord
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try record.visit(type, key, isRequired: true)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try record.visit(type, key, isRequired: true) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try record.visit(type, key, isRequired: true) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try record.visit(type, key, isRequired: true) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try record.visit(type, key, isRequired: true) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try record.visit(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try record.visit(type, key, isRequired: false)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw OpenAPISchemas.Unsupported(description: key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw OpenAPISchemas.Unsupported(description: key.stringValue)
    }

    func superDecoder() throws -> any Decoder { throw OpenAPISchemas.Unsupported(description: "super") }
    func superDecoder(forKey key: Key) throws -> any Decoder {
        throw OpenAPISchemas.Unsupported(description: key.stringValue)
    }
}
