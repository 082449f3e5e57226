internal import CameraModel
internal import RTMP
internal import TDFCryptography

extension BoxSettings {
    /// JSON Schema (2020-12) of a configuration file, for editors and `config schema`.
    public static let schema: String = {
        var properties: [(String, JSONText)] = [
            (
                "version",
                .object([
                    ("const", .plain(String(KeyTable.version))), ("description", .string(KeyTable.versionText)),
                ])
            )
        ]
        for object in KeyTable.objects { properties.append((object.name, object.schema)) }
        let document = JSONText.object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("WatchBox configuration")), ("type", .string("object")),
            ("properties", .object(properties)), ("additionalProperties", .plain("false")),
        ])
        return document.text() + "\n"
    }()
}

extension ObjectDefinition {
    fileprivate var schema: JSONText {
        var table: [(String, JSONText)] = [
            ("type", .string("object")), ("description", .string(meaning)),
            ("properties", .object(keys.map { ($0.name, $0.schema) })), ("additionalProperties", .plain("false")),
        ]
        let required = keys.filter(\.isRequired).map { JSONText.string($0.name) }
        if !required.isEmpty { table.append(("required", .array(required))) }
        if name == "relay" || name == "hook" {
            table.append(
                ("anyOf", .array(["url", "secret"].map { .object([("required", .array([.string($0)]))]) })))
        }
        guard isNamed else { return .object(table) }
        return .object([
            ("type", .string("object")),
            (
                "propertyNames",
                .object([("pattern", .string("^[a-z0-9](-?[a-z0-9])*$")), ("maxLength", .plain("24"))])
            ),
            ("additionalProperties", .object(table)),
        ])
    }
}

extension KeyDefinition {
    fileprivate var schema: JSONText {
        var fields = kind.schema
        if let defaultValue { fields.append(("default", JSONText(defaultValue))) }
        fields.append(("description", .string(meaning)))
        return .object(fields)
    }
}

extension KeyDefinition.Kind {
    fileprivate var schema: [(String, JSONText)] {
        func text(pattern: String, _ limit: Int) -> [(String, JSONText)] {
            [("type", .string("string")), ("pattern", .string(pattern)), ("maxLength", .plain(String(limit)))]
        }
        return switch self {
        case .text(let limit):
            [("type", .string("string")), ("minLength", .plain("1")), ("maxLength", .plain(String(limit)))]
        case .identifier: text(pattern: "^[a-z0-9](-?[a-z0-9])*$", 24)
        case .secretName: text(pattern: "^[a-z0-9](-?[a-z0-9])*$", 32)
        case .streamName: text(pattern: "^[A-Za-z0-9._-]+$", 128)
        case .source: text(pattern: "^(test:$|file:/|v4l2:/dev/|csi:|rtsps?://|onvif://|https?://)", 2048)
        case .relayURL: text(pattern: "^[Rr][Tt][Mm][Pp][Ss]?://[^@?#]+$", 1024)
        case .keyAccessURL, .hookURL: text(pattern: "^https?://[^@?#]+$", 1024)
        case .listenAddress: text(pattern: "^.+:[0-9]{1,5}$", 300)
        case .path: text(pattern: "^/", 1024)
        case .size: text(pattern: "^[0-9]{2,4}x[0-9]{2,4}$", 9)
        case .choice(let choices): [("enum", .array(choices.map(JSONText.string)))]
        case .integer(let range):
            [
                ("type", .string("integer")), ("minimum", .plain(String(range.lowerBound))),
                ("maximum", .plain(String(range.upperBound))),
            ]
        case .real(let range):
            [
                ("type", .string("number")), ("minimum", .plain(range.lowerBound.plain)),
                ("maximum", .plain(range.upperBound.plain)),
            ]
        case .boolean: [("type", .string("boolean"))]
        case .numbers(let numbers): [("enum", .array(numbers.map { .plain(String($0)) }))]
        case .audioDevice: text(pattern: "^[A-Za-z0-9:,=._+-]+$", 128)
        case .host: text(pattern: "^[A-Za-z0-9._:%-]+$", 253)
        case .certificatePin: text(pattern: "^sha256//[A-Za-z0-9+/]{43}=$", 52)
        case .rsaPublicKey:
            [
                ("type", .string("string")), ("minLength", .plain("1")),
                ("maxLength", .plain(String(RecoveryKey.maxLength))),
            ]
        case .macAddress: text(pattern: "^[0-9a-f]{2}(:[0-9a-f]{2}){5}$", 17)
        case .strings(_, let limit):
            list([
                ("type", .string("string")), ("minLength", .plain("1")), ("maxLength", .plain(String(limit))),
            ])
        case .choices(let choices):
            list([("enum", .array(choices.map(JSONText.string)))]) + [("uniqueItems", .plain("true"))]
        case .masks:
            list(text(pattern: "^ *[0-9.][0-9.e-]*(, *[0-9.][0-9.e-]*){3}$", Self.maskLength))
        case .controls: list(text(pattern: "^[a-z0-9_]{1,64}=-?[0-9]+$", Self.controlLength))
        case .hosts: list(text(pattern: "^[^/?#@ ]+$", RedirectHost.textLimit))
        case .weekSpans:
            list(text(pattern: "^[a-z]{3}(-[a-z]{3})?( [0-9:-]{11})?$|^[0-9:-]{11}$", WeekSpan.lengthLimit))
        case .networks: list(text(pattern: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$", Self.networkLength))
        }
    }

    private func list(_ items: [(String, JSONText)]) -> [(String, JSONText)] {
        [("type", .string("array")), ("maxItems", .plain(String(countLimit))), ("items", .object(items))]
    }
}
