internal import BoxConfiguration
internal import ControlAPI
internal import ErrorCatalog
internal import Settings

/// Objects that this version refuses. What is stored of them stays as it is, and so do their secrets; each start asks
/// anew whether they can be used.
extension ControlCore {
    /// What is shown of them at once; more than these are in a file that somebody filled.
    private static let shownLimit = 64

    /// By name.
    func quarantined() -> [QuarantinedObject] { Array(allQuarantined().prefix(Self.shownLimit)) }

    /// The same, for who takes it for all of them.
    func allQuarantined() -> [QuarantinedObject] {
        current.settings.quarantined.values.sorted { $0.object < $1.object }
    }

    /// What there is to say to somebody who asks for one; nil: it is not quarantined.
    func quarantineError(_ object: String) -> CodedError? {
        current.settings.quarantined[object].map { known in
            CodedError(
                .objectQuarantined, "\(object) is quarantined", why: known.reason, hint: known.hint, object: object)
        }
    }

    func requireNotQuarantined(_ object: String) throws(CodedError) {
        if let error = quarantineError(object) { throw error }
    }

    /// Whether one of them names this secret of the box, or may.
    func isQuarantined(boxSecret name: String) -> Bool {
        guard !current.settings.quarantined.isEmpty else { return false }
        return !current.store.unread.isEmpty || current.settings.quarantined.values.contains { !$0.isStored }
            || current.store.objects.contains { object in
                ["secret", "token_secret"].contains { object.settings[$0] == .string(name) }
            }
    }

    /// A camera that is quarantined is to find its relay, with its secret, when it can be used again.
    func requireNotNeeded(relay name: String) throws(CodedError) {
        for (object, known) in current.settings.quarantined.sorted(by: { $0.key < $1.key })
        where object.hasPrefix("camera.") {
            let camera = known.isStored ? current.store.cameras.first { "camera.\($0.id)" == object } : nil
            let relay = camera.map { $0.settings["relay"] ?? .string(CameraSettings.defaultRelay) }
            if let relay, relay != .string(name) { continue }
            // Its relay is in what cannot be read, unless that says another one.
            let unread = current.store.unread.filter { StoredPart.shown($0.object) == object }
            if relay == nil, known.isStored, !unread.isEmpty, !unread.contains(where: { $0.mayNeed(relay: name) }) {
                continue
            }
            throw CodedError(
                .inUse, "relay \(name) \(relay == nil ? "may be" : "is") needed by \(object)",
                why: "that is quarantined, and will publish there when it can be used again", hint: known.hint,
                object: name)
        }
    }

    /// With each start: nobody was there to be told.
    func reportQuarantined() {
        for object in quarantined() {
            report(
                CodedError(
                    .objectQuarantined, "\(object.object) is quarantined", why: object.reason, object: object.object),
                .config)
        }
    }

    /// Removes one of them from the store, with the secrets that nothing else names.
    func discard(_ object: String, dryRun: Bool) throws -> ConfigurationDiff {
        guard let known = current.settings.quarantined[object] else {
            throw CodedError(
                .notFound, "\(Printable.text(object, limit: 64)) is not quarantined",
                hint: "See what is: watchboxctl status", object: Printable.text(object, limit: 64))
        }
        guard known.isStored else {
            throw CodedError(
                .definedInFile, "\(object) is defined in \(known.origin)",
                why: "what is set in a file wins, and no program changes it",
                hint: "Take it out there, then run: watchboxctl config apply", object: object)
        }
        let count = current.store.count(shownAs: object)
        guard count <= 1 else {
            throw CodedError(
                .badRequest, "\(object) was not removed",
                why: "\(count) objects of the store are shown by this name, and they may not all be meant",
                hint: "Remove them with the version that wrote them", object: object)
        }
        let secrets = current.store.boxSecrets(shownAs: object)
        let proposal = try propose("config discard \(object)") { $0.discard(object) }
        if dryRun { return difference(proposal) }
        var made: ConfigurationDiff
        let id = String(object.dropFirst("camera.".utf8.count))
        if object.hasPrefix("camera."), CameraIdentifier.isValid(id) {
            made = try commit(removalOf: id, proposal)
        } else {
            made = try commit(proposal)
        }
        let kept = remove(boxSecrets: secrets)
        made.keptSecrets = kept.isEmpty ? nil : kept
        hub.publish(.config, object: object, "discarded")
        return made
    }
}
