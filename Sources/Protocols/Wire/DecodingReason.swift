extension DecodingError {
    /// Which place of the document is wrong, and how: `cameras.[2].id is missing`. Never quotes a value.
    public var reason: String {
        func place(_ context: Context, _ last: [any CodingKey] = []) -> String {
            let path = (context.codingPath + last).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            return path.isEmpty ? "the document" : path.joined(separator: ".")
        }
        return switch self {
        case .keyNotFound(let key, let context): "\(place(context, [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(place(context)): \(context.debugDescription)"
        @unknown default: "it is not of the expected form"
        }
    }
}
