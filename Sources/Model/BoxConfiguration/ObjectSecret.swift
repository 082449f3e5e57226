internal import Settings
public import Wire

/// A secret of an object of the configuration, in clear: as an adoption file or a backup brings it, and no configuration
/// ever holds it.
public struct ObjectSecret: Equatable, Sendable {
    public enum Place: Hashable, Sendable {
        /// The relay's whole URL.
        case relay(String)
        /// The hook's whole URL.
        case hook(String)
        /// What the hook's receiver is shown.
        case hookToken(String)
        /// What the box shows the key access server.
        case keyAccessToken
        /// The camera's login.
        case camera(String)
    }

    public var place: Place
    public var value: String

    public init(_ place: Place, _ value: String) {
        self.place = place
        self.value = value
    }

    /// As a file names it: `relay.main.secret_url`.
    public var key: String { place.key }
}

extension ObjectSecret: Concealed {
    public var description: String { "\(key) (a secret)" }
}

extension ObjectSecret.Place {
    /// As a file names it: `relay.main.secret_url`.
    public var key: String {
        switch self {
        case .relay, .hook: "\(object).secret_url"
        case .hookToken, .keyAccessToken: "\(object).token"
        case .camera: "\(object).password"
        }
    }

    /// Whose it is: `relay.main`.
    public var object: String {
        switch self {
        case .relay(let name): "relay.\(name)"
        case .hook(let name), .hookToken(let name): "hook.\(name)"
        case .keyAccessToken: "kas"
        case .camera(let id): "camera.\(id)"
        }
    }

    /// Nil for what `key` never is.
    public init?(key: String) {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first ?? "", parts.count, parts.last ?? "") {
        case ("relay", 3, "secret_url"): self = .relay(parts[1])
        case ("hook", 3, "secret_url"): self = .hook(parts[1])
        case ("hook", 3, "token"): self = .hookToken(parts[1])
        case ("kas", 2, "token"): self = .keyAccessToken
        case ("camera", 3, "password"): self = .camera(parts[1])
        default: return nil
        }
    }
}

/// Where a box keeps a secret that belongs to an object.
public struct NamedSecret: Equatable, Sendable {
    public var place: ObjectSecret.Place
    /// In the store of secrets: `box`, or `camera-ID`.
    public var scope: String
    /// In the store of secrets.
    public var name: String
    /// The object says that there is one; a camera without a login may have one that nothing reads.
    public var isNeeded: Bool
}

extension BoxSettings {
    /// Every secret that an object names or may have, by its key.
    public var namedSecrets: [NamedSecret] {
        var found: [NamedSecret] = []
        func add(_ place: ObjectSecret.Place, _ name: String?) {
            guard let name else { return }
            found.append(NamedSecret(place: place, scope: "box", name: name, isNeeded: true))
        }
        for (name, relay) in relays { add(.relay(name), relay.secret) }
        for (name, hook) in hooks {
            add(.hook(name), hook.secret)
            add(.hookToken(name), hook.tokenSecret)
        }
        add(.keyAccessToken, kas?.secret)
        for (id, camera) in cameras {
            found.append(
                NamedSecret(
                    place: .camera(id), scope: "camera-\(id)", name: camera.secret ?? "password",
                    isNeeded: camera.passwordSecret != nil))
        }
        return found.sorted { $0.place.key < $1.place.key }
    }

    /// IDs of the cameras that start again when this secret becomes another one.
    public func cameras(using place: ObjectSecret.Place) -> [String] {
        switch place {
        case .relay(let name): cameras.filter { $0.value.relay == name }.keys.sorted()
        case .keyAccessToken: cameras.keys.sorted()
        case .camera(let id):
            cameras[id].map { $0.secret != nil || $0.passwordSecret != nil } == true ? [id] : []
        case .hook, .hookToken: []
        }
    }

    /// Files that the configuration names and that belong to the operator, in the order of the objects: certificates, keys,
    /// lists. A source `file:` is none of them.
    public var namedFiles: [String] {
        var files: [String] = []
        for part in storedParts() {
            let table = KeyTable.object(String(part.object.prefix { $0 != "." }))
            for key in table?.keys ?? [] where key.kind == .path {
                if case .string(let path)? = part.settings[key.name], !files.contains(path) { files.append(path) }
            }
        }
        return files
    }
}
