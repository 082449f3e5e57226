internal import BoxConfiguration
internal import CameraStore
internal import CredentialStore
internal import ErrorCatalog

/// What goes by a camera's ID follows when that changes: by a command, or by going back to a generation with another one.
///
/// The store's transaction is the point from which the camera has its new ID; of a replacement, the note that it has begun.
/// Before it all is made ready under the new ID, after it what is under the former one goes. Notes in `removals` say
/// whose the secrets of both IDs are: wherever a kill comes, the next start removes those that nobody has.
extension ControlCore {
    /// By what the store holds now: after a kill that may be more than what runs.
    func moves(of proposal: Proposal) -> CameraMoves {
        let content = store.flatMap { try? StoreContent(reading: $0) } ?? current.store
        return CameraMoves(from: current.settings, content, to: proposal.settings, proposal.content)
    }

    /// Before the change is saved. When this throws, everything is as before.
    ///
    /// - Returns: by the new ID, the names of the secrets that only systemd opens: they stay behind.
    func prepareMoves(_ moves: CameraMoves, _ proposal: Proposal) throws -> [String: Set<String>] {
        var left: [String: Set<String>] = [:]
        do {
            for (id, uuid) in moves.taken.sorted(by: { $0.key < $1.key }) { try note(uuid, of: id) }
            for move in moves.moves {
                if proposal.prepared != move.to { try removeRests(of: move.to) }
                try note(move.uuid, of: move.from)
                try note(move.uuid, of: move.to)
                try effects.willDo("credentials: copy camera-\(move.from)")
                left[move.to] = try credentials.copyScope("camera-\(move.from)", to: "camera-\(move.to)") { name in
                    follows(name, move)
                }
                if SystemFiles.exists(paths.stopMark(move.from)) {
                    try effects.write([], to: paths.stopMark(move.to), mode: 0o600, isDurable: false)
                }
            }
        } catch {
            abandonMoves(moves)
            throw error
        }
        return left
    }

    /// The change was not saved.
    func abandonMoves(_ moves: CameraMoves) {
        // Which ID the camera has is for the next start to see, and so is which secrets are too many.
        guard !isStoreTorn else { return }
        for move in moves.moves {
            try? effects.remove(paths.stopMark(move.to))
            try? removeRests(of: move.to)
            try? effects.remove(removalNote(move.from), isDurable: true)
        }
        for id in moves.taken.keys.sorted() { try? effects.remove(removalNote(id), isDurable: true) }
    }

    /// The change is saved.
    ///
    /// - Parameter left: as `prepareMoves` returned it.
    func finishMoves(_ moves: CameraMoves, _ left: [String: Set<String>]) {
        for move in moves.moves {
            let (from, to) = (move.from, move.to)
            network[to] = network.removeValue(forKey: from)
            thumbnails[to] = thumbnails.removeValue(forKey: from)
            streamNews[from] = nil
            tokens.told[from] = nil
            let token = tokens.cameras.removeValue(forKey: from)
            if let token, let name = current.settings.kas?.secret, move.keepsStream, left[to]?.contains(name) != true {
                tokens.cameras[to] = token
            } else {
                // Until it has one of its own again it has the box's.
                tokens.care.hurry()
            }
            tellLost(left[to] ?? [], of: to, former: from)
            try? effects.remove(paths.restartMark(from))
            do {
                try removeRests(of: from)
                try effects.remove(removalNote(to), isDurable: true)
            } catch {
                report(CodedError(of: error), .camera)
            }
        }
        guard !moves.taken.isEmpty else { return }
        do {
            for id in moves.taken.keys.sorted() { try removeRests(of: id) }
            // Their files name what is there now.
            try reconcile()
        } catch {
            isIncomplete = true
            report(CodedError(of: error), .camera)
        }
    }

    /// Of a camera that came back from a generation: whoever renames one is asked for it before.
    private func tellLost(_ left: Set<String>, of id: String, former: String) {
        guard let camera = current.settings.cameras[id], left.contains(camera.secret ?? "password") else { return }
        let error = CodedError(
            .missingSecret, "camera \(id) has no password any more",
            why: "it was encrypted for the ID \(former), and only systemd opens it",
            next: "Give it anew: watchboxctl camera password \(id)", object: id)
        report(error, .camera)
    }

    /// Whether a secret is of use under the new ID: a token and a key that are for one stream are not for another.
    private func follows(_ name: String, _ move: CameraMoves.Move) -> Bool {
        if name.hasPrefix(BoxDevice.cameraPrefix) { return move.keepsStream }
        guard let camera = current.settings.cameras[move.from], current.settings.kas?.secret == name,
            camera.secret != name, camera.passwordSecret != name
        else { return true }
        return move.keepsStream
    }

    // MARK: Notes

    func removalNote(_ id: String) -> String { "\(paths.removals)/\(id)" }

    /// The secrets of this ID are those of this camera, and of no other that has the ID later.
    func note(_ uuid: String, of id: String) throws {
        try effects.write(Array(uuid.utf8), to: removalNote(id), mode: 0o600, isDurable: true)
    }

    /// Whether a note says that the secrets of an ID are not those of the camera that has it by this content. An empty note
    /// is of a camera that was removed.
    func areForeign(secretsOf id: String, _ content: StoreContent) throws -> Bool {
        guard let bytes = try SystemFiles.readIfPresent(removalNote(id), limit: 256) else { return false }
        guard let camera = content.camera(id) else { return true }
        return !bytes.isEmpty && String(decoding: bytes, as: UTF8.self) != camera.uuid
    }
}
