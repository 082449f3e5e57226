internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import KeyAccessClient
internal import Settings

extension ControlCore {
    // MARK: Relays

    func relays() -> [RelayDocument] {
        let names = boxSecrets()
        return current.settings.relays.sorted { $0.key < $1.key }.map { relay($0.key, $0.value, names) }
    }

    func relay(_ name: String) throws -> RelayDocument {
        guard let relay = current.settings.relays[try NamedObject.relay.check(name)] else {
            throw missing(.relay, name)
        }
        return self.relay(name, relay, boxSecrets())
    }

    private func relay(_ name: String, _ relay: RelaySettings, _ secrets: Set<String>) -> RelayDocument {
        RelayDocument(
            name: name, url: relay.url, hasSecret: relay.secret.map { secrets.contains($0) } ?? false,
            certificateAuthorityFile: relay.caFile, publicKeyPin: relay.publicKeyPin, profile: relay.profile.rawValue,
            redirectHosts: relay.redirectHosts, origin: current.settings.origins["relay.\(name)"] ?? "store",
            cameras: current.settings.cameras.filter { $0.value.relay == name }.keys.sorted())
    }

    func boxSecrets() -> Set<String> { Set((try? credentials.names(scope: "box")) ?? []) }

    func setRelay(
        _ name: String, _ request: RelayRequest, ifRevision: Int?, dryRun: Bool
    ) throws -> ConfigurationDiff? {
        try set(
            .relay, name,
            texts: [
                "url": request.url, "ca_file": request.certificateAuthorityFile, "profile": request.profile,
                "public_key_pin": request.publicKeyPin,
            ], lists: ["redirect_hosts": request.redirectHosts], ifRevision: ifRevision, dryRun: dryRun)
    }

    // MARK: Relays and hooks

    private func names(of kind: NamedObject) -> [String] {
        kind == .relay ? Array(current.settings.relays.keys) : Array(current.settings.hooks.keys)
    }

    func missing(_ kind: NamedObject, _ name: String) -> CodedError {
        quarantineError("\(kind.rawValue).\(name)")
            ?? CodedError(
                .notFound, "there is no \(kind.rawValue) \(name)", hint: Self.nearest(name, in: names(of: kind)),
                object: name)
    }

    /// One that is there already needs none.
    func requireRoom(for kind: NamedObject, _ name: String) throws(CodedError) {
        let names = names(of: kind)
        guard names.contains(name) || names.count < kind.limit else {
            throw CodedError(
                .tooMuch, "\(kind.rawValue) \(name) was not added", why: "a box has at most \(kind.limit)")
        }
    }

    /// Adds an object, or changes what somebody names of one: to forget a CA file because somebody changed the URL
    /// would stop every camera. An empty text or list takes a setting away.
    ///
    /// - Returns: the diff for a dry run, else nil.
    func set(
        _ kind: NamedObject, _ name: String, texts: [String: String?], lists: [String: [String]?],
        isEnabled: Bool? = nil, ifRevision: Int?, dryRun: Bool
    ) throws -> ConfigurationDiff? {
        let (kindName, name) = (kind.rawValue, try kind.check(name))
        try requireNotInFile("\(kindName).\(name)")
        try requireRoom(for: kind, name)
        let known = current.store.object(kindName, name)
        if known == nil { try requireNotQuarantined("\(kindName).\(name)") }
        // With the secrets' names, which are set with the secrets only.
        var settings = known?.settings ?? [:]
        for case (let key, let text?) in texts { settings[key] = text.isEmpty ? nil : .string(text) }
        for case (let key, let list?) in lists { settings[key] = list.isEmpty ? nil : .strings(list) }
        if let isEnabled { settings["enabled"] = .boolean(isEnabled) }
        guard settings["url"] != nil || settings["secret"] != nil else {
            throw CodedError(
                .badRequest, "url is missing", hint: "Give the \(kindName)'s URL; a secret one as its secret")
        }
        return try put(
            kindName, name, settings, known, ifRevision, "\(kindName) \(known == nil ? "add" : "edit") \(name)", dryRun)
    }

    /// Removes an object of the store, and those of its secrets that nothing else names.
    func remove(_ kind: NamedObject, _ name: String, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        let (kindName, name) = (kind.rawValue, try kind.check(name))
        try requireNotInFile("\(kindName).\(name)")
        guard let object = current.store.object(kindName, name) else { throw missing(kind, name) }
        if kind == .relay { try requireUnused(relay: name) }
        try Self.check(ifRevision, of: "\(kindName) \(name)", object.changed)
        let proposal = try propose("\(kindName) rm \(name)") { $0.remove(kindName, name) }
        if dryRun { return difference(proposal) }
        _ = try commit(proposal)
        removeSecrets(of: object)
        return nil
    }

    private func requireUnused(relay name: String) throws(CodedError) {
        let users = current.settings.cameras.filter { $0.value.relay == name }.keys.sorted()
        guard users.isEmpty else {
            throw CodedError(
                .inUse, "relay \(name) is used by \(users.joined(separator: ", "))",
                hint: "Give them another relay: watchboxctl camera edit \(users[0]) --relay NAME", object: name)
        }
        try requireNotNeeded(relay: name)
    }

    /// Of an object that is removed: those that nothing else names.
    func removeSecrets(of object: StoredObject) {
        var names: Set<String> = []
        for key in ["secret", "token_secret"] {
            if case .string(let name)? = object.settings[key] { names.insert(name) }
        }
        remove(boxSecrets: names)
    }

    /// - Returns: by name, those that are there still: something else names them, or may.
    @discardableResult
    func remove(boxSecrets names: Set<String>) -> [String] {
        let present = boxSecrets().intersection(names)
        for name in present where !isInUse(boxSecret: name) {
            do {
                try credentials.remove(name: name, scope: "box")
            } catch {
                report(CodedError(error), .config)
            }
        }
        return present.intersection(boxSecrets()).sorted()
    }

    func isInUse(boxSecret name: String) -> Bool {
        isQuarantined(boxSecret: name) || current.settings.kas?.secret == name
            || current.settings.relays.values.contains { $0.secret == name }
            || current.settings.hooks.values.contains { $0.secret == name || $0.tokenSecret == name }
    }

    // MARK: Key access

    func keyAccess() -> KeyAccessDocument {
        guard let kas = current.settings.kas else { return KeyAccessDocument(url: nil) }
        let facts = tokenFacts
        return KeyAccessDocument(
            url: kas.url, certificateAuthorityFile: kas.caFile, publicKeyPin: kas.publicKeyPin,
            keyIdentifiers: kas.keyIdentifiers.rawValue,
            hasToken: kas.secret.map { boxSecrets().contains($0) } ?? false, tokenEndsAt: facts?.expiresAt,
            code: facts.flatMap { TokenCare.standing(expiresAt: $0.expiresAt, now: clock.seconds).code },
            camerasWithOwnToken: facts == nil ? nil : tokens.cameras.count,
            origin: current.settings.origins["kas"] ?? "store")
    }

    func setKeyAccess(_ request: KeyAccessDocument, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        try requireNotInFile("kas")
        guard let url = request.url else { throw CodedError(.badRequest, "url is missing") }
        let known = current.store.object("kas", "kas")
        if known == nil { try requireNotQuarantined("kas") }
        // With what this request cannot name: the secret, and what only files set.
        var settings = known?.settings ?? [:]
        settings["url"] = .string(url)
        // Whoever corrects one that cannot be shown does not know what it trusts.
        if request.certificateAuthorityFile != nil || quarantineError("kas") == nil {
            settings["ca_file"] = request.certificateAuthorityFile.map { .string($0) }
        }
        // Whoever does not know pins must not take one away.
        if let use = request.keyIdentifiers { settings["key_identifiers"] = .string(use) }
        if let pin = request.publicKeyPin { settings["public_key_pin"] = pin.isEmpty ? nil : .string(pin) }
        return try put("kas", "kas", settings, known, ifRevision, "kas set", dryRun)
    }

    func put(
        _ kind: String, _ name: String, _ settings: [String: SettingValue], _ known: StoredObject?,
        _ ifRevision: Int?, _ cause: String, _ dryRun: Bool
    ) throws -> ConfigurationDiff? {
        try Self.check(ifRevision, of: "\(kind) \(name)", known?.changed)
        let proposal = try propose(cause) { $0.put(StoredObject(kind: kind, name: name, settings: settings)) }
        if dryRun { return difference(proposal) }
        _ = try commit(proposal)
        return nil
    }
}

extension ControlCore {
    /// Of an object of the store, for its tag; nil for one of a file.
    func revision(kind: String, name: String) -> Int? {
        current.store.object(kind, name)?.changed
    }
}
