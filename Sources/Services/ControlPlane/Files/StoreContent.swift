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
    /// What this version cannot read of both, as it was found.
    private(set) var unread: [UnreadObject] = []

    func camera(_ id: String) -> StoredCamera? { cameras.first { $0.id == id } }

    func camera(uuid: String) -> StoredCamera? { cameras.first { $0.uuid == uuid } }

    func isUnread(_ object: String) -> Bool { unread.contains { $0.object == object } }

    func object(_ kind: String, _ name: String) -> StoredObject? {
        objects.first { $0.kind == kind && $0.name == name }
    }

    mutating func put(_ camera: StoredCamera) {
        remove(camera: camera.id)
        cameras.append(camera)
        cameras.sort { $0.id < $1.id }
    }

    mutating func remove(camera id: String) {
        cameras.removeAll { $0.id == id }
        unread.removeAll { $0.object == "camera.\(id)" }
    }

    mutating func put(_ object: StoredObject) {
        remove(object.kind, object.name)
        objects.append(object)
        objects.sort { ($0.kind, $0.name) < ($1.kind, $1.name) }
    }

    mutating func remove(_ kind: String, _ name: String) {
        objects.removeAll { $0.kind == kind && $0.name == name }
        unread.removeAll { $0.object == Self.part(kind, name) }
    }

    /// By its name in the configuration as issues show it, whatever it is.
    mutating func discard(_ object: String) {
        cameras.removeAll { StoredPart.shown("camera.\($0.id)") == object }
        objects.removeAll { StoredPart.shown(Self.part($0.kind, $0.name)) == object }
        unread.removeAll { StoredPart.shown($0.object) == object }
    }

    /// How many objects are shown by this name. Those of one and the same name are one.
    func count(shownAs object: String) -> Int {
        let names = cameras.map { "camera.\($0.id)" } + objects.map { Self.part($0.kind, $0.name) }
        return Set(names.filter { StoredPart.shown($0) == object }).count
            + unread.count { StoredPart.shown($0.object) == object }
    }

    /// Names of secrets of the box that this object names.
    func boxSecrets(shownAs object: String) -> Set<String> {
        var names: Set<String> = []
        for key in ["secret", "token_secret"] {
            for one in objects where StoredPart.shown(Self.part(one.kind, one.name)) == object {
                if case .string(let name)? = one.settings[key] { names.insert(name) }
            }
            for one in unread where !one.isCamera && StoredPart.shown(one.object) == object {
                if let name = one.setting(key)?.text { names.insert(name) }
            }
        }
        return names
    }

    /// Gives a camera another ID; hooks that report it do so under that one.
    mutating func rename(_ id: String, to camera: StoredCamera) {
        remove(camera: id)
        put(camera)
        renameInHooks(id, to: camera.id)
    }

    mutating func renameInHooks(_ id: String, to new: String) {
        for var object in objects where object.kind == "hook" {
            guard case .strings(let cameras)? = object.settings["cameras"], cameras.contains(id) else { continue }
            object.settings["cameras"] = .strings(cameras.map { $0 == id ? new : $0 })
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
            + objects.map { StoredPart(object: Self.part($0.kind, $0.name), settings: $0.settings) }
            + unread.map { StoredPart(object: $0.object, settings: [:], fault: $0.fault) }
    }

    /// Kinds of which there is one object; a camera is none of these objects.
    private static let single: Set<String> = ["box", "kas", "health", "relay_server", "kas_server", "camera"]

    /// What the configuration calls an object of the store. One of a kind that is not known has its name.
    private static func part(_ kind: String, _ name: String) -> String {
        if NamedObject(rawValue: kind) != nil { return "\(kind).\(name)" }
        let table = table(ofKind: kind)
        return single.contains(table) || name.isEmpty || name == kind ? table : "\(table).\(name)"
    }

    /// The store's names have hyphens where the TOML has underscores.
    static func table(ofKind kind: String) -> String {
        kind.split(separator: "-").joined(separator: "_")
    }

    static func kind(ofTable table: String) -> String {
        table.split(separator: "_").joined(separator: "-")
    }
}

extension StoreContent {
    private enum CodingKeys: String, CodingKey { case cameras, objects }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        for element in try fields.decode([StoredElement<StoredCamera>].self, forKey: .cameras) {
            if let camera = element.value {
                cameras.append(camera)
            } else {
                let id = element.content.fields?["id"]?.text ?? ""
                unread.append(UnreadObject(object: "camera.\(id)", fault: element.fault, content: element.content))
            }
        }
        for element in try fields.decode([StoredElement<StoredObject>].self, forKey: .objects) {
            if let object = element.value {
                objects.append(object)
            } else {
                let (kind, name) = (element.content.fields?["kind"]?.text, element.content.fields?["name"]?.text)
                unread.append(
                    UnreadObject(
                        object: Self.part(kind ?? "object", name ?? ""), fault: element.fault, content: element.content)
                )
            }
        }
    }

    /// What could not be read stands where it stood.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        var list = fields.nestedUnkeyedContainer(forKey: .cameras)
        for camera in cameras { try list.encode(camera) }
        for other in unread where other.isCamera { try list.encode(other.content) }
        list = fields.nestedUnkeyedContainer(forKey: .objects)
        for object in objects { try list.encode(object) }
        for other in unread where !other.isCamera { try list.encode(other.content) }
    }
}
