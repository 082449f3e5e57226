internal import BoxConfiguration
internal import CameraStore
internal import ControlAPI
internal import ErrorCatalog
internal import Settings

/// What the store holds of the configuration: cameras with their profiles, and the objects that commands added. A
/// generation keeps it, so that going back to one brings back what was removed since.
struct StoreContent: Codable, Equatable, Sendable {
    /// Kinds of objects; the name of one that there is only once is its kind.
    static let kinds = ["box", "health", "hook", "kas", "kas-server", "relay", "relay-server"]
    /// Kinds of which there can be several, each with a name.
    static let namedKinds: Set<String> = ["hook", "relay"]
    /// Settings that are fields of a camera.
    static let cameraFields: Set<String> = ["name", "source", "user", "active", "grid"]
    /// Settings that say which device a network camera is.
    static let identityFields = ["identity_endpoint", "identity_serial", "identity_mac"]

    var cameras: [CameraRecord] = []
    var objects: [StoredObject] = []

    init(cameras: [CameraRecord] = [], objects: [StoredObject] = []) {
        self.cameras = cameras
        self.objects = objects
    }

    init(reading store: CameraStore) throws(CameraStoreError) {
        for camera in try store.cameras() {
            cameras.append(CameraRecord(camera: camera, profiles: try store.profiles(of: camera.id)))
        }
        for kind in Self.kinds { objects += try store.objects(kind: kind) }
    }

    /// Without what changes by itself or was learned of a device, so that equal content is equal: what a generation keeps.
    var kept: StoreContent {
        var content = self
        for index in content.cameras.indices {
            content.cameras[index].camera.revision = 1
            content.cameras[index].camera.lastConnected = nil
            content.cameras[index].camera.forgetDevice()
        }
        for index in content.objects.indices { content.objects[index].revision = 1 }
        content.cameras.sort { $0.camera.id < $1.camera.id }
        content.objects.sort { ($0.kind, $0.name) < ($1.kind, $1.name) }
        return content
    }

    func camera(_ id: String) -> Camera? { cameras.first { $0.camera.id == id }?.camera }

    func object(_ kind: String, _ name: String) -> StoredObject? {
        objects.first { $0.kind == kind && $0.name == name }
    }

    /// As the configuration's reader takes it.
    var parts: [StoredPart] {
        cameras.map { StoredPart(object: "camera.\($0.camera.id)", settings: Self.settings(of: $0.camera)) }
            + objects.map { object in
                StoredPart(
                    object: Self.namedKinds.contains(object.kind)
                        ? "\(object.kind).\(object.name)" : Self.table(ofKind: object.kind),
                    settings: Self.settings(of: object))
            }
    }

    /// The store's names have hyphens where the TOML has underscores.
    static func table(ofKind kind: String) -> String {
        kind.split(separator: "-").joined(separator: "_")
    }

    static func kind(ofTable table: String) -> String {
        table.split(separator: "_").joined(separator: "-")
    }

    static func settings(of camera: Camera) -> [String: SettingValue] {
        var settings = camera.settings
        settings["name"] = .string(camera.name)
        settings["source"] = .string(camera.source)
        settings["active"] = .boolean(camera.isActive)
        settings["grid"] = .integer(Int64(camera.gridPosition))
        settings["user"] = camera.user.map { .string($0) }
        return settings
    }

    static func settings(of object: StoredObject) -> [String: SettingValue] {
        (try? JSONDocument.decode([String: SettingValue].self, from: Array(object.json.utf8))) ?? [:]
    }

    static func object(
        kind: String, name: String, settings: [String: SettingValue], revision: Int = 1
    ) -> StoredObject {
        StoredObject(kind: kind, name: name, json: JSONDocument.text(settings), revision: revision)
    }

    /// The hooks that tell of this camera, with its other ID.
    fileprivate func hooks(telling id: String, as new: String) -> [StoredObject] {
        objects.compactMap { object in
            var settings = Self.settings(of: object)
            guard object.kind == "hook", case .strings(let cameras)? = settings["cameras"], cameras.contains(id) else {
                return nil
            }
            settings["cameras"] = .strings(cameras.map { $0 == id ? new : $0 })
            return Self.object(kind: object.kind, name: object.name, settings: settings, revision: object.revision)
        }
    }

    /// A camera from its part of a configuration, with the default of what that does not say; what the store knows of the
    /// device is kept. A new one has the position behind the others.
    static func camera(
        _ id: String, settings: [String: SettingValue], known: Camera?, now: Int64, position: Int
    ) -> Camera {
        var camera = known ?? Camera(id: id, name: id, source: "", gridPosition: position, added: now)
        if case .string(let name)? = settings["name"] { camera.name = name } else { camera.name = id }
        if case .string(let source)? = settings["source"], source != camera.source {
            camera.source = source
            camera.forgetDevice()
        }
        if case .string(let user)? = settings["user"] { camera.user = user } else { camera.user = nil }
        if case .boolean(let active)? = settings["active"] { camera.isActive = active } else { camera.isActive = true }
        if case .integer(let grid)? = settings["grid"] {
            camera.gridPosition = Int(clamping: grid)
        } else if known != nil {
            camera.gridPosition = 0
        }
        camera.settings = settings.filter { !cameraFields.contains($0.key) }
        return camera
    }
}

extension Camera {
    /// What a device told of itself, but for what the settings hold.
    mutating func takeDevice(of other: Camera) {
        (address, port) = (other.address, other.port)
        (manufacturer, model, firmware) = (other.manufacturer, other.model, other.firmware)
        identity = other.identity
    }

    /// With what belongs to the store: what was learned of the device stays as long as it is that device.
    fileprivate func knowing(_ known: Camera) -> Camera {
        var camera = self
        camera.revision = known.revision
        camera.lastConnected = known.lastConnected
        if source == known.source { camera.takeDevice(of: known) }
        return camera
    }

    mutating func forgetDevice() {
        (address, port) = (nil, nil)
        (manufacturer, model, firmware) = (nil, nil, nil)
        identity = CameraIdentity()
    }
}

/// One change of the store.
enum StoreEdit: Sendable {
    case none
    case addCamera(Camera)
    case updateCamera(Camera, ifRevision: Int?)
    /// From an ID to the camera under its new one.
    case renameCamera(String, Camera, ifRevision: Int?)
    case removeCamera(String)
    case reorder([String])
    case put(StoredObject, ifRevision: Int?)
    case removeObject(kind: String, name: String)
    /// Everything at once; not one transaction, so it is done over again when it was interrupted.
    case replace(StoreContent)
}

extension StoreContent {
    /// What the store will hold, or why it refuses; the store itself is not touched.
    func applying(_ edit: StoreEdit) throws -> StoreContent {
        var content = self
        switch edit {
        case .none: break
        case .addCamera(let camera):
            guard content.camera(camera.id) == nil else { throw CameraStoreError.exists(camera.id) }
            content.cameras.append(CameraRecord(camera: camera))
        case .updateCamera(let camera, let revision):
            guard let index = content.cameras.firstIndex(where: { $0.camera.id == camera.id }) else {
                throw CameraStoreError.noSuchCamera(camera.id)
            }
            let current = content.cameras[index].camera.revision
            if let revision, revision != current {
                throw CameraStoreError.conflict("camera \(camera.id)", current: current)
            }
            content.cameras[index].camera = camera
        case .renameCamera(let id, let camera, let revision):
            guard let index = content.cameras.firstIndex(where: { $0.camera.id == id }) else {
                throw CameraStoreError.noSuchCamera(id)
            }
            guard content.camera(camera.id) == nil else { throw CameraStoreError.exists(camera.id) }
            let current = content.cameras[index].camera.revision
            if let revision, revision != current {
                throw CameraStoreError.conflict("camera \(id)", current: current)
            }
            content.cameras[index].camera = camera
            for profile in content.cameras[index].profiles.indices {
                content.cameras[index].profiles[profile].camera = camera.id
            }
            for hook in content.hooks(telling: id, as: camera.id) {
                content = try content.applying(.put(hook, ifRevision: nil))
            }
        case .removeCamera(let id):
            content.cameras.removeAll { $0.camera.id == id }
        case .reorder(let ids):
            for (position, id) in ids.enumerated() {
                guard let index = content.cameras.firstIndex(where: { $0.camera.id == id }) else {
                    throw CameraStoreError.noSuchCamera(id)
                }
                content.cameras[index].camera.gridPosition = position
            }
        case .put(let object, let revision):
            let index = content.objects.firstIndex { $0.kind == object.kind && $0.name == object.name }
            let current = index.map { content.objects[$0].revision } ?? 0
            if let revision, revision != current {
                throw CameraStoreError.conflict("\(object.kind) \(object.name)", current: current)
            }
            if let index { content.objects[index] = object } else { content.objects.append(object) }
        case .removeObject(let kind, let name):
            content.objects.removeAll { $0.kind == kind && $0.name == name }
        case .replace(let replacement):
            content = replacement
        }
        return content
    }

    /// Makes the store hold this. Repeating it does no harm.
    func write(to store: CameraStore, effects: Effects) throws {
        var present = try StoreContent(reading: store)
        for record in present.cameras where !cameras.contains(where: { $0.camera.uuid == record.camera.uuid }) {
            try effects.willDo("store: remove camera \(record.camera.id)")
            try store.remove(record.camera.id)
        }
        try renameCameras(in: store, effects)
        present = try StoreContent(reading: store)
        for record in cameras {
            if let known = present.camera(record.camera.id) {
                let wanted = record.camera.knowing(known)
                guard wanted != known else { continue }
                try effects.willDo("store: update camera \(wanted.id)")
                try store.update(wanted)
            } else {
                try effects.willDo("store: add camera \(record.camera.id)")
                try store.add(record.camera, profiles: record.profiles)
            }
        }
        for object in present.objects where self.object(object.kind, object.name) == nil {
            try effects.willDo("store: remove \(object.kind) \(object.name)")
            try store.removeObject(kind: object.kind, name: object.name)
        }
        for object in objects where present.object(object.kind, object.name)?.json != object.json {
            try effects.willDo("store: put \(object.kind) \(object.name)")
            try store.put(object)
        }
    }

    /// A camera that gets another ID goes on with what is known of it. Of those that exchange their IDs one begins anew.
    private func renameCameras(in store: CameraStore, _ effects: Effects) throws {
        var known = try store.cameras()
        var waiting = cameras.map(\.camera).filter { camera in
            known.contains { $0.uuid == camera.uuid && $0.id != camera.id }
        }
        while !waiting.isEmpty {
            let free = waiting.firstIndex { camera in !known.contains { $0.id == camera.id } }
            let camera = waiting.remove(at: free ?? 0)
            guard let former = known.first(where: { $0.uuid == camera.uuid }) else { continue }
            if free == nil {
                try effects.willDo("store: remove camera \(former.id)")
                try store.remove(former.id)
            } else {
                try effects.willDo("store: rename camera \(former.id) to \(camera.id)")
                try store.rename(former.id, to: camera.knowing(former))
            }
            known = try store.cameras()
        }
    }
}

extension StoreEdit {
    /// One transaction, but for `replace`.
    func perform(on store: CameraStore, effects: Effects) throws {
        switch self {
        case .none: return
        case .replace(let content): return try content.write(to: store, effects: effects)
        default: break
        }
        try effects.willDo("store: commit")
        switch self {
        case .addCamera(let camera): try store.add(camera)
        case .updateCamera(let camera, let revision): try store.update(camera, ifRevision: revision)
        case .renameCamera(let id, let camera, let revision):
            let hooks = try StoreContent(reading: store).hooks(telling: id, as: camera.id)
            try store.rename(id, to: camera, with: hooks, ifRevision: revision)
        case .removeCamera(let id): try store.remove(id)
        case .reorder(let ids): try store.reorder(ids)
        case .put(let object, let revision): try store.put(object, ifRevision: revision)
        case .removeObject(let kind, let name): try store.removeObject(kind: kind, name: name)
        case .none, .replace: break
        }
    }
}
