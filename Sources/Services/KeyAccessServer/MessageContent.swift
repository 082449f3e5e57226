internal import Compression
internal import KeyAccess
internal import Wire

/// Decodes request bodies: content type, compression, and Connect's form of GET.
enum MessageContent {
    /// Longest body, as sent and inflated.
    static let limit = 1 << 20

    enum Encoding: Equatable {
        case json, protobuf
    }

    /// The encoding that the request names, and its body without compression.
    static func content(of request: ServiceRequest) throws(ServiceFault) -> (Encoding, [UInt8]) {
        if request.method == .get { return try connectGet(request.query) }
        let type = request.contentType?.split(separator: ";").first.map { trimmed($0) } ?? ""
        let encoding: Encoding =
            switch type.lowercased() {
            case "application/json": .json
            case "application/proto": .protobuf
            default: throw .unsupportedContent("Content-Type must be application/json or application/proto.")
            }
        return (encoding, try expand(request.body, compression: request.contentEncoding))
    }

    /// `?connect=v1&encoding=json&message=…[&base64=1][&compression=gzip]` (Connect protocol, Unary-Get-Request).
    private static func connectGet(_ query: [String: String]) throws(ServiceFault) -> (Encoding, [UInt8]) {
        let encoding: Encoding =
            switch query["encoding"] {
            case "json": .json
            case "proto": .protobuf
            default: throw .unsupportedContent("The query must hold encoding=json or encoding=proto.")
            }
        let text = query["message"] ?? ""
        var message = Array(text.utf8)
        if query["base64"] == "1" {
            do {
                message = try Base64.decode(text)
            } catch {
                throw .invalidRequest("The message is not base64.")
            }
        }
        return (encoding, try expand(message, compression: query["compression"]))
    }

    private static func expand(_ body: [UInt8], compression: String?) throws(ServiceFault) -> [UInt8] {
        guard body.count <= limit else { throw .tooLarge("The body is longer than 1 MiB.") }
        switch compression.map({ trimmed($0[...]).lowercased() }) {
        case nil, "", "identity": return body
        case "gzip":
            do {
                return try GzipInflater.inflate(body, limit: limit)
            } catch {
                switch error {
                case .tooLarge, .ratio: throw .tooLarge("The body inflates to more than is allowed.")
                case .malformed, .trailingBytes: throw .invalidRequest("The body is not one gzip member.")
                case .libraryFailed: throw .internalError
                }
            }
        default: throw .unsupportedContent("Content-Encoding must be gzip or identity.")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
