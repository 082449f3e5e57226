internal import BoxConfiguration
internal import Settings

/// What commands added to the configuration, besides the operator's files. It is kept in the generations, so that going back to
/// one brings back what was removed since.
struct StoreContent: Codable, Equatable, Sendable {
    /// Settings that are fields of a camera.
    static let cameraFields: Set<String> = ["name", "source", "user", "active", "grid"]
    /// Settings that say which device a network camera is.
    static let identityFields = ["identity_endpoint", "identity_serial", "identity_mac"]

    /// By their IDs.
    private(set) var cameras: [StoredCamera] = []
    /// By their kinds and names; the name of one that is not a `NamedObject` is its kind.
    private(set) var objects: [StoredObject] = []

    func camera(_ id: String) -> StoredCamera? { cameras.first { $0.id == id } }

    func camera(uuid: String) -> StoredCamera? { cameras.first { $0.uuid == uuid } }

    func object(_ kind: String, _ name: String) -> StoredObject? {
        objects.first { $0.kind == kind && $0.name == name }
    }

    mutating func put(_ camera: StoredCamera) {
        remove(camera: camera.id)
        cameras.append(camera)
        cameras.sort { $0.id < $1.id }
    }

    mutating func remove(camera id: String) { cameras.removeAll { $0.id == id } }

    mutating func put(_ object: StoredObject) {
        remove(object.kind, object.name)
        objects.append(object)
        objects.sort { ($0.kind, $0.name) < ($1.kind, $1.name) }
    }

    mutating func remove(_ kind: String, _ name: String) { objects.removeAll { $0.kind == kind && $0.name == name } }

    /// Gives a camera another ID; hooks that report it do so under that one.
    mutating func rename(_ id: String, to camera: StoredCamera) {
        remove(camera: id)
        put(camera)
        for var object in objects where object.kind == "hook" {
            guard case .strings(let cameras)? = object.settings["cameras"], cameras.contains(id) else { continue }
            object.settings["cameras"] = .strings(cameras.map { $0 == id ? camera.id : $0 })
            put(object)
        }
    }

    /// With the generation in which each of them last changed: what is the same as in `former` did not.
    func changed(from former: StoreContent, in generation: Int) -> StoreContent {
        var content = self
        for (index, camera) in cameras.enumerated() {
            content.cameras[index].changed = former.camera(camera.id)?.changed ?? generation
            if content.cameras[index] != former.camera(camera.id) { content.cameras[index].changed = generation }
        }
        for (index, object) in objects.enumerated() {
            let known = former.object(object.kind, object.name)
            content.objects[index].changed = known?.changed ?? generation
            if content.objects[index] != known { content.objects[index].changed = generation }
        }
        return content
    }

    /// Whether both hold the same, whenever that changed.
    func says(theSameAs other: StoreContent) -> Bool { changed(from: other, in: 0) == other }

    /// As the configuration's reader takes it.
    var parts: [StoredPart] {
        cameras.map { StoredPart(object: "camera.\($0.id)", settings: $0.allSettings) }
            + objects.map { object in
                StoredPart(
                    object: NamedObject(rawValue: object.kind) == nil
                        ? Self.table(ofKind: object.kind) : "\(object.kind).\(object.name)",
                    settings: object.settings)
            }
    }

    /// The store's names have hyphens where the TOML has underscores.
    static func table(ofKind kind: String) -> String {
        kind.split(separator: "-").joined(separator: "_")
    }

    static func kind(ofTable table: String) -> String {
        table.split(separator: "_").joined(separator: "-")
    }
}
