internal import FoundationEssentials
public import TDF
internal import Wire

/// Manifests as JSON: for whoever ends an archive without an `ArchiveWriter`, such as a recording after a crash.
public enum ManifestJSON {
    /// Levels that a manifest and its further members may have.
    private static let depth = 16
    /// Commas, colons and brackets: seven for each segment, and room for the other members.
    private static let elements = 8 * TDFManifest.maxSegments + 16_384

    /// - Parameter bytes: at most `TDFManifest.maxBytes`.
    public static func decode(_ bytes: [UInt8]) throws(TDFError) -> TDFManifest {
        try decode(TDFManifest.self, bytes)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(TDFError) -> Value {
        do throws(JSONShape.Fault) {
            try JSONShape.check(bytes, depth: depth, elements: elements)
        } catch {
            switch error {
            case .notUTF8: throw .manifest(path: "", .unreadable("it is not UTF-8"))
            case .tooDeep(let offset, let limit):
                throw .manifest(path: "", .unreadable("more than \(limit) levels, at byte \(offset)"))
            case .tooManyElements(let offset, let limit):
                throw .manifest(path: "", .unreadable("more than \(limit) values, at byte \(offset)"))
            }
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw .manifest(path: "", .unreadable(error.reason))
        } catch {
            throw .manifest(path: "", .unreadable("it is not JSON"))
        }
    }

    /// With sorted keys, so that the same manifest is the same bytes.
    public static func encode(_ manifest: TDFManifest) throws(TDFError) -> [UInt8] { try encode(value: manifest) }

    static func encode(value: some Encodable) throws(TDFError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) } catch {
            throw .manifest(path: "", .unreadable("it cannot be encoded"))
        }
    }
}
