internal import BoxConfiguration
internal import Settings

/// Which cameras get another ID with a change. A camera is the same one as long as its UUID is; one of a file has none, so
/// that what its operator renames there is another camera.
struct CameraMoves: Equatable {
    struct Move: Equatable {
        var uuid: String
        var from: String
        var to: String
        /// Its stream is called at relay and KAS as before.
        var keepsStream: Bool
    }

    /// By their former ID. Only those to an ID that no camera has: what goes by it can follow.
    var moves: [Move] = []
    /// IDs that another camera has afterwards, with the UUID of the one that has it now.
    var taken: [String: String] = [:]
    /// The same, of IDs whose camera afterwards cannot be read: it may be the same one.
    var doubtful: [String: String] = [:]

    /// Cameras that are quarantined are among them: their secrets are there, and get to no other camera.
    init(from settings: BoxSettings, _ content: StoreContent, to new: BoxSettings, _ newContent: StoreContent) {
        let later = newContent.identities
        for camera in content.identities where settings.isStored(camera: camera.id) {
            let (from, uuid) = (camera.id, camera.uuid)
            if let other = later.first(where: { $0.id == from }) {
                if other.uuid != uuid { taken[from] = uuid }
            } else if newContent.isUnread("camera.\(from)") {
                doubtful[from] = uuid
            }
            guard let renamed = later.first(where: { $0.uuid == uuid }), renamed.id != from, !new.has(camera: from),
                !settings.has(camera: renamed.id), new.isStored(camera: renamed.id)
            else { continue }
            moves.append(
                Move(
                    uuid: uuid, from: from, to: renamed.id,
                    keepsStream: camera.stream != nil && camera.stream == renamed.stream))
        }
        moves.sort { $0.from < $1.from }
    }
}

/// Which camera of the store has an ID.
struct StoredIdentity: Equatable {
    var id: String
    var uuid: String
    /// Its name at relay and KAS; nil: that cannot be told.
    var stream: String?
}

extension StoreContent {
    /// Of all its cameras, as far as they can be read.
    var identities: [StoredIdentity] {
        var all: [StoredIdentity] = []
        for camera in cameras {
            var identity = StoredIdentity(id: camera.id, uuid: camera.uuid, stream: camera.id)
            if let stream = camera.settings["stream"] {
                if case .string(let text) = stream { identity.stream = text } else { identity.stream = nil }
            }
            all.append(identity)
        }
        for other in unread {
            guard let (id, uuid) = other.identity else { continue }
            var identity = StoredIdentity(id: id, uuid: uuid, stream: nil)
            if let settings = other.fields["settings"]?.fields {
                if let stream = settings["stream"] { identity.stream = stream.text } else { identity.stream = id }
            }
            all.append(identity)
        }
        return all
    }

    /// UUID of the camera that has an ID; nil: there is none, or it cannot be read.
    func owner(of id: String) -> String? { identities.first { $0.id == id }?.uuid }
}

extension BoxSettings {
    /// Whether it is one of the store that no file hides, be it used or quarantined.
    fileprivate func isStored(camera id: String) -> Bool {
        if cameras[id] != nil { return origins["camera.\(id)"] == "store" }
        return quarantined["camera.\(id)"]?.isStored == true
    }

    fileprivate func has(camera id: String) -> Bool {
        cameras[id] != nil || quarantined["camera.\(id)"] != nil
    }
}
