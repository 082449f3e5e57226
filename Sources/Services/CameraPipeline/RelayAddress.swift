internal import CameraModel
internal import FoundationEssentials
internal import RTMP

/// Where the relay is. A URL that is a secret stands in a file of its own and is read again for each connection, so
/// that a changed token counts from the next one on.
struct RelayAddress: Sendable {
    private let configuration: CameraConfiguration

    init(_ configuration: CameraConfiguration) {
        self.configuration = configuration
    }

    func read() throws(ConfigurationError) -> RTMPURL {
        if let url = configuration.relay.url { return try parse(url, field: "relay.url") }
        guard let file = configuration.relay.urlFile else {
            throw ConfigurationError("relay.url", "is missing", "Give rtmp://host/app/stream, or relay.urlFile")
        }
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: file)) } catch {
            throw ConfigurationError(
                "relay.urlFile", "\(file) cannot be read", "Check that it exists and that this user may read it")
        }
        // As editors and `echo` leave it.
        let text = data.prefix(8192).drop { $0 <= 0x20 }
        let end: Int = text.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? text.startIndex
        return try parse(String(decoding: text[..<end], as: UTF8.self), field: "relay.urlFile")
    }

    /// The text of a URL error names what is wrong, never the URL.
    private func parse(_ text: String, field: String) throws(ConfigurationError) -> RTMPURL {
        do { return try configuration.relayURL(text) } catch {
            throw ConfigurationError(field, "\(error)", "Use rtmp://host/app/stream or rtmps://…")
        }
    }
}

extension ConfigurationError {
    init(_ field: String, _ reason: String, _ hint: String) {
        self.init(problems: [ConfigurationProblem(field: field, reason: reason, hint: hint)])
    }
}
