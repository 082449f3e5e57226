internal import FoundationEssentials
internal import KeyAccess
internal import Wire

/// JSON from peers, with its depth bounded before the decoder recurses; and JSON to them.
enum JSONCoding {
    struct Malformed: Error {}

    static func decode<T: Decodable>(_ type: T.Type, from text: [UInt8], depth: Int = 32) throws(Malformed) -> T {
        do {
            try JSONShape.check(text, depth: depth)
            return try JSONDecoder().decode(type, from: Data(text))
        } catch {
            // What the decoder says may quote the text, and the text may hold a token.
            throw Malformed()
        }
    }

    /// Members in alphabetical order, so that equal values have equal bytes (and equal ETags).
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
