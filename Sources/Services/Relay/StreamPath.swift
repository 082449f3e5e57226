/// The name of a stream in the registry: application and stream name, without any query.
public struct StreamPath: Hashable, Sendable, CustomStringConvertible {
    public enum Fault: Error, Equatable, Sendable {
        case empty
        /// More UTF-8 bytes than the relay's limit.
        case tooLong(Int)
        /// A control character, which would spoil a log line.
        case controlCharacter
    }

    public let app: String
    public let name: String

    /// - Parameter limit: the longest app and the longest name, each in UTF-8 bytes.
    public init(app: String, name: String, limit: Int = 256) throws(Fault) {
        for part in [app, name] {
            guard !part.isEmpty else { throw .empty }
            guard part.utf8.count <= limit else { throw .tooLong(part.utf8.count) }
            guard !part.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .controlCharacter }
        }
        self.app = app
        self.name = name
    }

    public var description: String { "\(app)/\(name)" }
}
