internal import FoundationEssentials
internal import KeyAccess
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
        do throws(TDFError) { return try decode(TDFManifest.self, bytes) } catch {
            // What it is says more than which of the members it lacks.
            guard algorithm(of: bytes) == CBCManifest.algorithm else { throw error }
            throw .manifest(
                path: "encryptionInformation.method.algorithm",
                .unsupported(found: CBCManifest.algorithm, expected: "AES-256-GCM"))
        }
    }

    private struct Outline: Decodable {
        struct EncryptionInformation: Decodable {
            var method: TDFManifest.Method
        }
        var encryptionInformation: EncryptionInformation
    }

    /// What a manifest says that its payload is encrypted with; nil: nothing that can be read.
    static func algorithm(of bytes: [UInt8]) -> String? {
        try? decode(Outline.self, bytes).encryptionInformation.method.algorithm
    }

    /// A policy of its text in a manifest; nil: it cannot be read.
    static func policy(_ text: String) -> AccessPolicy? {
        guard let bytes = try? Base64.decode(text), (try? JSONShape.check(bytes)) != nil else { return nil }
        return try? JSONDecoder().decode(AccessPolicy.self, from: Data(bytes))
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
