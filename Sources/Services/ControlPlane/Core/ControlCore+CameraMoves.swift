internal import BoxConfiguration
internal import CredentialStore
internal import ErrorCatalog
internal import Platform

/// What goes by a camera's ID follows when that changes: by a command, or by going back to a generation with another
/// one.
///
/// The generation's rename is the point from which the camera has its new ID. Before it all is made ready under the new
/// ID, after it what is under the former one goes. Notes in `removals` say whose the secrets of both IDs are: wherever
/// a kill comes, the next start removes those that no camera has.
extension ControlCore {
    func moves(of proposal: Proposal) -> CameraMoves {
        CameraMoves(from: current.settings, current.store, to: proposal.settings, proposal.content)
    }

    /// Before the change is saved. When this throws, everything is as before.
    ///
    /// - Returns: by the new ID, the names of the secrets that only systemd opens: they stay behind.
    func prepareMoves(_ moves: CameraMoves, _ proposal: Proposal) throws -> [String: Set<String>] {
        var left: [String: Set<String>] = [:]
        do {
            // A doubtful one's stays, until its camera can be read.
            let owners = moves.taken.merging(moves.doubtful) { taken, _ in taken }
            for (id, uuid) in owners.sorted(by: { $0.key < $1.key }) { try note(uuid, of: id) }
            for move in moves.moves {
                let keepsRests = try proposal.prepared == move.to || areKept(secretsOf: move.to, for: move.uuid)
                if !keepsRests { try removeRests(of: move.to) }
                try note(move.uuid, of: move.from)
                try note(move.uuid, of: move.to)
                try transaction.willDo("credentials: copy camera-\(move.from)")
                left[move.to] = try credentials.copyScope("camera-\(move.from)", to: "camera-\(move.to)") { name in
                    follows(name, move)
                }
                try bringBack(move.to, of: move.uuid)
                if SmallFile.exists(paths.stopMark(move.from)) {
                    try transaction.write([], to: paths.stopMark(move.to), mode: 0o600, isDurable: false)
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
        for move in moves.moves {
            try? transaction.remove(paths.stopMark(move.to))
            try? removeRests(of: move.to)
            try? transaction.remove(removalNote(move.from), isDurable: true)
        }
        for id in moves.taken.keys.sorted() + moves.doubtful.keys.sorted() {
            try? transaction.remove(removalNote(id), isDurable: true)
        }
    }

    /// The change is saved.
    ///
    /// - Parameters:
    ///   - left: as `prepareMoves` returned it.
    ///   - isUnconfirmed: what goes by the former IDs may be needed again: `settleSecrets` ends that.
    func finishMoves(_ moves: CameraMoves, _ left: [String: Set<String>], isUnconfirmed: Bool = false) {
        for move in moves.moves {
            let (from, to) = (move.from, move.to)
            network[to] = network.removeValue(forKey: from)
            thumbnails[to] = thumbnails.removeValue(forKey: from)
            streamNews[from] = nil
            tokens.sent[from] = nil
            let token = tokens.cameras.removeValue(forKey: from)
            if let token, let name = current.settings.kas?.secret, move.keepsStream, left[to]?.contains(name) != true {
                tokens.cameras[to] = token
            } else {
                // Until it has one of its own again it has the box's.
                tokens.care.cameraCame()
            }
            reportLost(left[to] ?? [], of: to, former: from)
            forgetMark(ofUnit: UnitName.camera(from))
            do {
                if isUnconfirmed { try setAside(from, of: move.uuid) } else { try removeRests(of: from) }
                try transaction.remove(removalNote(to), isDurable: true)
            } catch {
                report(CodedError(of: error), .camera)
            }
        }
        guard !moves.taken.isEmpty else { return }
        do {
            // Their files name what is there now.
            try reconcile()
        } catch {
            isIncomplete = true
            report(CodedError(of: error), .camera)
        }
    }

    /// The change is saved, and no camera has started with it yet: none starts with what another one left at its ID.
    func takeAway(_ moves: CameraMoves, isUnconfirmed: Bool = false) {
        do {
            for (id, uuid) in moves.taken.sorted(by: { $0.key < $1.key }) {
                if isUnconfirmed { try setAside(id, of: uuid) } else { try removeRests(of: id) }
                if let owner = current.store.owner(of: id) { try bringBack(id, of: owner) }
            }
        } catch {
            isIncomplete = true
            report(CodedError(of: error), .camera)
        }
    }

    /// Of a camera that came back from a generation: whoever renames one is asked for it before.
    private func reportLost(_ left: Set<String>, of id: String, former: String) {
        guard let camera = current.settings.cameras[id], left.contains(camera.secret ?? "password"),
            !hasPassword(id, camera)
        else { return }
        let error = CodedError(
            .missingSecret, "camera \(id) has no password any more",
            why: "it was encrypted for the ID \(former), and only systemd opens it",
            hint: "Give it again: watchboxctl camera password \(id)", object: id)
        report(error, .camera)
    }

    /// Whether a secret is of use under the new ID: a token and a key that are for one stream are not for another.
    private func follows(_ name: String, _ move: CameraMoves.Move) -> Bool {
        if name.hasPrefix(BoxDevice.cameraPrefix) { return move.keepsStream }
        guard current.settings.kas?.secret == name else { return true }
        // Of one that is quarantined nobody knows which its password is.
        if let camera = current.settings.cameras[move.from], camera.secret == name || camera.passwordSecret == name {
            return true
        }
        return move.keepsStream
    }

    // MARK: Until it is confirmed

    /// The secrets of an ID that its camera may have again.
    func setAside(_ id: String, of uuid: String) throws {
        try transaction.willDo("credentials: set aside camera-\(id)")
        try credentials.setAside(CredentialStore.Aside(scope: "camera-\(id)", owner: uuid))
        try transaction.remove(removalNote(id), isDurable: true)
    }

    /// What was set aside of this ID's secrets for this camera, but for what it has by now.
    @discardableResult
    private func bringBack(_ id: String, of uuid: String) throws -> Bool {
        let aside = CredentialStore.Aside(scope: "camera-\(id)", owner: uuid)
        guard try credentials.aside().contains(aside) else { return false }
        try transaction.willDo("credentials: bring back camera-\(id)")
        return try !credentials.bringBack(aside).isEmpty
    }

    /// A change is confirmed, or taken back: what was set aside goes to the cameras that have their IDs again, and
    /// away.
    ///
    /// - Returns: whether one got something.
    @discardableResult
    func settleSecrets() throws -> Bool {
        let all = try credentials.aside()
        guard !all.isEmpty else { return false }
        var isBack = false
        for camera in current.store.identities
        where all.contains(CredentialStore.Aside(scope: "camera-\(camera.id)", owner: camera.uuid)) {
            if try areForeign(secretsOf: camera.id, current.store) { try removeRests(of: camera.id) }
            if try bringBack(camera.id, of: camera.uuid) { isBack = true }
        }
        try transaction.willDo("credentials: remove what was set aside")
        try credentials.removeAside()
        return isBack
    }

    // MARK: Notes

    func removalNote(_ id: String) -> String { "\(paths.removals)/\(id)" }

    /// The secrets of this ID are those of this camera, and of no other that has the ID later.
    func note(_ uuid: String, of id: String) throws {
        try transaction.write(Array(uuid.utf8), to: removalNote(id), mode: 0o600, isDurable: true)
    }

    /// Whether a note says that the secrets of an ID are not those of the camera that has it by this content. An empty
    /// note is of a camera that was removed.
    func areForeign(secretsOf id: String, _ content: StoreContent) throws -> Bool {
        guard let owner = try notedOwner(of: id), !isDoubtful(id, content) else { return false }
        guard let uuid = content.owner(of: id) else { return true }
        return !owner.isEmpty && owner != uuid
    }

    /// Whether an ID is one of a camera of which nobody can tell which it is.
    func isDoubtful(_ id: String, _ content: StoreContent) -> Bool {
        content.isUnread("camera.\(id)") && content.owner(of: id) == nil
    }

    /// Whose the secrets of an ID are, by its note.
    func notedOwner(of id: String) throws -> String? {
        try SystemFiles.readIfPresent(removalNote(id), limit: 256).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether an ID's secrets could not be set aside, and are those of the camera that gets it back.
    private func areKept(secretsOf id: String, for uuid: String) throws -> Bool {
        try generationStore.pending() != nil && notedOwner(of: id) == uuid
    }
}
