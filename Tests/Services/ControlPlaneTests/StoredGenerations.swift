import Foundation
import Testing

@testable import ControlPlane

// What is on the disk of a box, as another version or an editor would change it.

extension ControlStage {
    /// Writes every generation on the disk anew.
    func editGenerations(_ edit: (inout [String: Any]) throws -> Void) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: paths.generations)) ?? []
        for name in names {
            let place = URL(fileURLWithPath: "\(paths.generations)/\(name)")
            var document = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: place)) as? [String: Any])
            try edit(&document)
            try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys]).write(to: place)
        }
    }

    /// What the newest generation has of a camera, but for when it was changed.
    func stored(_ id: String) throws -> NSDictionary? {
        let names = try FileManager.default.contentsOfDirectory(atPath: paths.generations).sorted()
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(paths.generations)/\(try #require(names.last))"))
        let document = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let cameras = (document["store"] as? [String: Any])?["cameras"] as? [[String: Any]] ?? []
        return cameras.first { $0["id"] as? String == id }.map { $0 as NSDictionary }
    }
}

extension [String: Any] {
    /// Of a generation: what the store has of a camera, and what its settings say of it; nothing where it has none.
    mutating func edit(camera id: String, _ edit: (inout [String: Any], inout [String: Any]) throws -> Void) throws {
        guard var settings = self["settings"] as? [String: Any],
            var objects = settings["objects"] as? [String: [String: Any]], var own = objects["camera.\(id)"]
        else { return }
        try editStored(id) { try edit(&$0, &own) }
        objects["camera.\(id)"] = own
        settings["objects"] = objects
        self["settings"] = settings
    }

    mutating func editStored(_ id: String, _ edit: (inout [String: Any]) throws -> Void) throws {
        guard var store = self["store"] as? [String: Any], var cameras = store["cameras"] as? [[String: Any]],
            let index = cameras.firstIndex(where: { $0["id"] as? String == id })
        else { return }
        try edit(&cameras[index])
        store["cameras"] = cameras
        self["store"] = store
    }

    /// Relays, hooks and other objects of the store.
    mutating func editStoredObjects(_ edit: (inout [[String: Any]]) throws -> Void) throws {
        guard var store = self["store"] as? [String: Any], var objects = store["objects"] as? [[String: Any]] else {
            return
        }
        try edit(&objects)
        store["objects"] = objects
        self["store"] = store
    }
}
