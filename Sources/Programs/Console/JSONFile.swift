internal import FoundationEssentials
internal import Wire

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
                what: what, why: "the file cannot be opened", hint: "check its path and its permissions",
                status: .invalidConfiguration)
        }
        guard data.count <= maximumBytes else {
            throw CommandFailure(
                what: what, why: "the file has \(data.count) bytes", hint: "settings have at most \(maximumBytes)",
                status: .invalidConfiguration)
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw CommandFailure(what: what, why: error.reason, hint: "correct it", status: .invalidConfiguration)
        } catch {
            throw CommandFailure(what: what, why: "\(error)", hint: "correct it", status: .invalidConfiguration)
        }
    }
}
