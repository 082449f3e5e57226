internal import ControlAPI
internal import Platform

/// Where each hook is in the events of the box, in one small file, so that a restart neither loses an event nor
/// reports one twice.
struct HookMemory: Sendable {
    private struct Content: Codable {
        var schema = "watchbox.hook-places/1"
        var hooks: [String: HookPlace]
    }

    private static let maxBytes = 64 << 10

    private let path: String

    init(directory: String) {
        path = "\(directory)/places.json"
    }

    /// By name; none when there is no file, and when it holds nothing of the kind: then hooks begin with what happens
    /// next.
    func load() -> [String: HookPlace] {
        let content = (try? SmallFile.read(path, atMost: Self.maxBytes)).flatMap {
            try? JSONDocument.decode(Content.self, from: $0)
        }
        return content?.hooks ?? [:]
    }

    func save(_ places: [String: HookPlace]) throws(FileFailure) {
        try DurableFile.replace(path, with: JSONDocument.bytes(Content(hooks: places)))
    }
}
