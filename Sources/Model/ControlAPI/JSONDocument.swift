internal import FoundationEssentials
internal import Wire

/// How all documents are written: sorted keys, no escaped slashes, so that equal values are equal bytes.
public enum JSONDocument {
    /// A value that JSON cannot hold (a NaN or an infinity) becomes an empty object.
    public static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return Array("{}".utf8) }
        return Array(data)
    }

    public static func text(_ value: some Encodable) -> String { String(decoding: bytes(value), as: UTF8.self) }

    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Why `decode` refused, naming the field: for people.
    public static func reason(_ error: any Error) -> String {
        (error as? DecodingError)?.reason ?? "it is not JSON"
    }
}
