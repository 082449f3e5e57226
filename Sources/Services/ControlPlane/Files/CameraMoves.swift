internal import BoxConfiguration

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

    init(from settings: BoxSettings, _ content: StoreContent, to new: BoxSettings, _ newContent: StoreContent) {
        for stored in content.cameras {
            let (from, uuid) = (stored.id, stored.uuid)
            guard let camera = settings.cameras[from], settings.origins["camera.\(from)"] == "store" else { continue }
            if let other = newContent.camera(from), other.uuid != uuid { taken[from] = uuid }
            guard let to = newContent.camera(uuid: uuid)?.id, to != from,
                new.cameras[from] == nil, settings.cameras[to] == nil, let renamed = new.cameras[to],
                new.origins["camera.\(to)"] == "store"
            else { continue }
            moves.append(
                Move(
                    uuid: uuid, from: from, to: to,
                    keepsStream: camera.streamName(from) == renamed.streamName(to)))
        }
        moves.sort { $0.from < $1.from }
    }
}
