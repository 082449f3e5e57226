internal import FoundationEssentials

/// A JSON document in a file that a person wrote.
public enum JSONFile {
    /// Larger files are not settings.
    public static let maximumBytes = 1 << 20

    /// - Throws: `CommandFailure` with the place in the document.
    public static func read<Value: Decodable>(_ type: Value.Type, from path: String) throws(CommandFailure) -> Value {
        let what = "cannot read the settings in \(path)"
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandFailure(
                what: what, why: "the file cannot be opened", next: "check its path and its permissions",
                status: .invalidConfiguration)
        }
        guard data.count <= maximumBytes else {
            throw CommandFailure(
                what: what, why: "the file has \(data.count) bytes", next: "settings have at most \(maximumBytes)",
                status: .invalidConfiguration)
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw CommandFailure(what: what, why: reason(error), next: "correct it", status: .invalidConfiguration)
        } catch {
            throw CommandFailure(what: what, why: "\(error)", next: "correct it", status: .invalidConfiguration)
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context, _ last: [any CodingKey] = []) -> String {
            let path = (context.codingPath + last).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            return path.isEmpty ? "the document" : path.joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(place(context, [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(place(context)): \(context.debugDescription)"
        @unknown default: "it is not of the expected form"
        }
    }
}
