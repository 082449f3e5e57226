internal import BoxConfiguration
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import Settings

extension ControlCore {
    /// Of a camera's login. Works for a camera of a file as well: the file holds only the secret's name.
    func setPassword(of id: String, _ secret: [UInt8]) async throws {
        let isStored = current.settings.origins["camera.\(id)"] == "store"
        let (uuid, arrival) = (isStored ? current.store.camera(id)?.uuid : nil, arrivals[id])
        var id = id
        while true {
            let name = try requireCamera(id).secret ?? "password"
            try requireNotRenamed(id)
            let sealed = try await seal(secret, name: name, scope: "camera-\(id)")
            // Removed meanwhile: the next camera of that ID must not inherit it, be it there already.
            guard let present = presentID(of: id, uuid, arrival), let camera = current.settings.cameras[present] else {
                throw CodedError(.notFound, "camera \(id) was removed meanwhile", hint: "Nothing to do", object: id)
            }
            try requireNotRenamed(present)
            // Sealed for the former ID, it does not open under another one.
            guard present == id, camera.secret ?? "password" == name else {
                id = present
                continue
            }
            try set(sealed, affects: uses(of: camera, id))
            break
        }
        hub.publish(.camera, object: id, "a password was set")
    }

    /// Which ID a camera has that had this one: by its UUID, or one of a file by when it came. Nil when it is gone.
    private func presentID(of id: String, _ uuid: String?, _ arrival: Int?) -> String? {
        guard let uuid else { return arrivals[id] == arrival ? id : nil }
        return current.store.camera(uuid: uuid)?.id
    }

    /// The renaming takes along what was there when it began.
    private func requireNotRenamed(_ id: String) throws(CodedError) {
        guard beingRenamed == id else { return }
        throw CodedError(
            .busy, "camera \(id) is being renamed", why: "until then its password does not change",
            hint: "Try again in a moment", object: id)
    }

    func removePassword(of id: String) throws {
        let camera = try requireCamera(id)
        try transaction.willDo("credentials: remove")
        guard try credentials.remove(name: camera.secret ?? "password", scope: "camera-\(id)") else {
            throw CodedError(.notFound, "camera \(id) has no password", hint: "Nothing to do", object: id)
        }
        hub.publish(.camera, object: id, "its password was removed")
        try reconcile()
    }

    func hasPassword(_ id: String, _ camera: CameraSettings) -> Bool {
        ((try? credentials.names(scope: "camera-\(id)")) ?? []).contains(camera.secret ?? "password")
    }

    /// The URL of a relay, with user, password and stream key in it.
    func setRelaySecret(_ name: String, _ secret: [UInt8]) async throws {
        let place = SecretPlace(
            kind: .relay, name: try NamedObject.relay.check(name), key: "secret",
            present: current.settings.relays[name]?.secret, defaultValue: "relay-\(name)")
        let users = current.settings.cameras.filter { $0.value.relay == name }.keys
        try await set(secret, at: place, affects: Set(users.map { UnitName.camera($0) }))
        hub.publish(.relay, object: name, "a secret was set")
    }

    /// The URL of a hook, or the token that its receiver is shown.
    func setHookSecret(_ name: String, _ secret: [UInt8], isToken: Bool) async throws {
        let hook = current.settings.hooks[try NamedObject.hook.check(name)]
        let place = SecretPlace(
            kind: .hook, name: name, key: isToken ? "token_secret" : "secret",
            present: isToken ? hook?.tokenSecret : hook?.secret,
            defaultValue: (isToken ? HookSettings.tokenSecretPrefix : HookSettings.secretPrefix) + name)
        try await set(secret, at: place, affects: [UnitName.hooks])
        hub.publish(.config, object: "hook.\(name)", "a secret was set")
    }

    /// Where an object of the configuration names a secret of the box.
    private struct SecretPlace {
        var kind: NamedObject
        var name: String
        /// Of its settings.
        var key: String
        /// The secret that it names; nil: none yet.
        var present: String?
        /// What it names then.
        var defaultValue: String

        var object: String { "\(kind.rawValue).\(name)" }
    }

    /// Stores a secret and has the object name it; an object that is not there begins with it.
    ///
    /// - Parameter affects: units that have to start again when the object names it already.
    private func set(_ secret: [UInt8], at place: SecretPlace, affects: Set<String>) async throws {
        try requireNotQuarantined(place.object)
        let (kind, missing) = (place.kind.rawValue, missing(place.kind, place.name))
        try requireRoom(for: place.kind, place.name)
        let known = current.store.object(kind, place.name)
        let secretName = place.present ?? place.defaultValue
        if place.present == nil {
            try requireNotInFile(place.object)
            try requireNothingPending()
        }
        try await set(secret, name: secretName, scope: "box", affects: place.present == nil ? [] : affects)
        if place.present == nil {
            // It may have been changed, or removed, while the secret was sealed.
            let isKnown = known != nil
            let known = current.store.object(kind, place.name)
            do {
                guard known != nil || !isKnown else { throw missing }
                try requireNotInFile(place.object)
                var settings = known?.settings ?? [:]
                settings[place.key] = .string(secretName)
                _ = try put(
                    kind, place.name, settings, known, known?.changed ?? 0, "\(kind) secret \(place.name)", false)
            } catch {
                try forget(boxSecret: secretName)
                throw error
            }
        } else if !isInUse(boxSecret: secretName) {
            try forget(boxSecret: secretName)
            throw missing
        }
    }

    /// The token that the box shows the key access server.
    func setKeyAccessToken(_ secret: [UInt8]) async throws {
        try requireNotQuarantined("kas")
        guard let kas = current.settings.kas else {
            throw CodedError(
                .notFound, "no key access server is set", hint: "Set it first: watchboxctl kas set URL")
        }
        let secretName = kas.secret ?? "kas-token"
        if kas.secret == nil {
            try requireNotInFile("kas")
            try requireNothingPending()
        }
        // What was made from the token of before would come before the new one.
        for (id, camera) in current.settings.cameras
        where camera.secret != secretName && camera.passwordSecret != secretName {
            try credentials.remove(name: secretName, scope: "camera-\(id)")
        }
        let before = tokens.box
        replaced(token: String(decoding: secret, as: UTF8.self), name: secretName)
        do {
            try await set(
                secret, name: secretName, scope: "box",
                affects: kas.secret == nil ? [] : Set(current.settings.cameras.keys.map { UnitName.camera($0) }))
        } catch {
            tokens.box = before
            tokens.version += 1
            throw error
        }
        if kas.secret == nil, let known = current.store.object("kas", "kas") {
            var settings = known.settings
            settings["secret"] = .string(secretName)
            do {
                _ = try put("kas", "kas", settings, known, known.changed, "kas token", false)
            } catch {
                try forget(boxSecret: secretName)
                throw error
            }
        }
        hub.publish(.kas, "a token was set")
    }

    /// A secret that nothing names in the end is not kept.
    private func forget(boxSecret name: String) throws {
        guard !isInUse(boxSecret: name) else { return }
        try credentials.remove(name: name, scope: "box")
    }

    /// A source of this box needs no login; setting one must not cost it a frame.
    private func uses(of camera: CameraSettings, _ id: String) -> Set<String> {
        camera.secret == nil && camera.passwordSecret == nil ? [] : [UnitName.camera(id)]
    }

    /// A mark that had no effect; the restart that a change before it owes is owed still.
    private func takeBack(_ mark: [UInt8], ofUnit unit: String, former: [UInt8]?) {
        guard let path = paths.restartMark(ofUnit: unit), runtime.restartToken(ofUnit: unit) == mark else { return }
        // One that cannot be written back stays as it is: a restart too many instead of one that never comes.
        if let former {
            try? transaction.write(former, to: path, mode: 0o600, isDurable: false)
        } else {
            try? transaction.remove(path)
        }
    }

    /// Whether the unit is to run at the moment.
    private func runs(_ unit: String) -> Bool {
        if let id = UnitName.cameraID(unit) { return target.cameras[id]?.runs == true }
        return target.services[unit] != nil
    }

    /// - Parameter affects: units that have to start again with it, as far as they run.
    private func set(_ secret: [UInt8], name: String, scope: String, affects: Set<String>) async throws {
        try set(try await seal(secret, name: name, scope: scope), affects: affects)
    }

    private func seal(_ secret: [UInt8], name: String, scope: String) async throws -> CredentialStore.Sealed {
        guard (1...4096).contains(secret.count) else {
            throw CodedError(
                .badRequest, secret.isEmpty ? "the secret is empty" : "the secret is too long",
                why: "it has 1 to 4096 bytes")
        }
        return try await credentials.seal(secret, name: name, scope: scope)
    }

    private func set(_ sealed: CredentialStore.Sealed, affects: Set<String>) throws {
        // Before the secret: a kill in between costs a restart, and no unit goes on with the old one for ever.
        let running = affects.filter { runs($0) }.sorted()
        var marks: [(unit: String, mark: [UInt8], former: [UInt8]?)] = []
        do {
            for unit in running {
                guard let path = paths.restartMark(ofUnit: unit) else { continue }
                let mark = Array(nextMark().utf8)
                marks.append((unit, mark, runtime.restartToken(ofUnit: unit)))
                try transaction.write(mark, to: path, mode: 0o600, isDurable: false)
            }
            try transaction.willDo("credentials: set")
            try credentials.store(sealed)
        } catch {
            for (unit, mark, former) in marks { takeBack(mark, ofUnit: unit, former: former) }
            throw error
        }
        // Those that waited for it start now.
        try reconcile()
        for unit in running where runs(unit) { unitJobs.request(.restart, unit) }
    }
}
