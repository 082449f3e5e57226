import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

/// Any JSON.
enum JSONNode: Decodable, Equatable {
    case object([String: JSONNode])
    case array([JSONNode])
    case string(String)
    case number(Double)
    case boolean(Bool)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode([String: JSONNode].self) {
            self = .object(value)
        } else if let value = try? container.decode([JSONNode].self) {
            self = .array(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    subscript(key: String) -> JSONNode? {
        if case .object(let fields) = self { fields[key] } else { nil }
    }

    var keys: Set<String> {
        if case .object(let fields) = self { Set(fields.keys) } else { [] }
    }
}

struct SchemaTests {
    private func schema() throws -> JSONNode {
        try JSONDecoder().decode(JSONNode.self, from: Data(BoxSettings.schema.utf8))
    }

    @Test func `the schema has the keys that the reader knows, and no other`() throws {
        let properties = try #require(schema()["properties"])
        #expect(properties.keys == Set(KeyTable.objects.map(\.name) + ["version"]))
        for object in KeyTable.objects {
            var table = try #require(properties[object.name])
            if object.isNamed { table = try #require(table["additionalProperties"]) }
            let keys = try #require(table["properties"])
            #expect(keys.keys == Set(object.keys.map(\.name)))
            #expect(table["additionalProperties"] == .boolean(false))
            for key in object.keys {
                let property = try #require(keys[key.name])
                #expect(property["description"] == .string(key.meaning))
                #expect((property["default"] == nil) == (key.defaultValue == nil))
                if case .integer(let range) = key.kind {
                    #expect(property["minimum"] == .number(Double(range.lowerBound)))
                    #expect(property["maximum"] == .number(Double(range.upperBound)))
                }
            }
            let required = object.keys.filter(\.isRequired).map { JSONNode.string($0.name) }
            #expect(table["required"] == (required.isEmpty ? nil : .array(required)))
        }
    }

    @Test func `each default is a value that its key takes`() {
        for object in KeyTable.objects {
            for key in object.keys {
                guard let defaultValue = key.defaultValue else { continue }
                let value = try? key.check(WrittenValue(defaultValue), of: object.name)
                #expect(value == defaultValue, "\(object.name).\(key.name)")
            }
        }
    }

    private func names<Table: SettingsTable>(_ table: Table) -> Set<String> {
        Set(Table.keys.map(\.definition.name))
    }

    @Test func `each setting has its key`() {
        let tables: [any SettingsTable] = [
            CameraSettings(values: [
                "name": .string("n"), "stream": .string("s"), "user": .string("u"), "secret": .string("s"),
                "stall_after": .real(5), "microphone": .string("default"), "pin": .string("p"),
                "profile": .string("sub"), "rtsp_host": .string("cam"), "rtsp_port": .integer(554),
                "identity_endpoint": .string("urn:uuid:1"), "identity_serial": .string("1"),
                "identity_mac": .string("00:11:22:33:44:55"), "record_recovery_key": .string("k"),
                "min_bitrate": .integer(300_000),
            ]),
            RelaySettings(url: "u", caFile: "c", publicKeyPin: "p", secret: "s"),
            KeyAccessSettings(url: "u", caFile: "c", publicKeyPin: "p", secret: "s"),
            HealthSettings(metricsListen: "m"),
            RelayServerSettings(
                publishKeys: "p", playKeys: "p", playLinkSecret: "s", forwardFile: "f", forwardCAFile: "c",
                apiListen: "a",
                apiToken: "t",
                tlsCertificate: "c", tlsKey: "k"),
            KeyAccessServerSettings(tlsCertificate: "c", tlsKey: "k"),
        ]
        for table in tables {
            #expect(Set(table.values.keys).union(["source"]) == names(table).union(["source"]), "\(type(of: table))")
        }
    }

    @Test func `the reference has a line for each key`() {
        let lines = ConfigurationReference.markdown.split(separator: "\n")
        for object in KeyTable.objects {
            #expect(lines.contains("## `\(object.title)`"))
            for key in object.keys {
                #expect(
                    lines.contains { $0.hasPrefix("| `\(key.name)` | ") && $0.hasSuffix(" | \(key.meaning) |") },
                    "\(key.name)")
                #expect(key.meaning.hasSuffix("."))
            }
        }
        #expect(lines.count { $0.hasPrefix("| `") } == KeyTable.objects.reduce(0) { $0 + $1.keys.count })
    }
}
