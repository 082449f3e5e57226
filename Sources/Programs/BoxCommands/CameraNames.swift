import ArgumentParser
import ControlAPI
import ControlClient

/// The names of the box's cameras, for a shell's completion: asked from the daemon, quickly, and silently nothing when
/// it does not answer.
enum CameraNames {
    static var completion: CompletionKind {
        .custom { _, _, _ async -> [String] in
            // Nobody waits for ssh while a key is pressed.
            guard let box = try? HostOption.parse([]), box.chosen == nil else { return [] }
            var client = box.client(socket: nil)
            client.readTimeout = .milliseconds(300)
            return (try? await client.get(CameraListDocument.self, APIPath.cameras()))?.cameras.map(\.id) ?? []
        }
    }
}
