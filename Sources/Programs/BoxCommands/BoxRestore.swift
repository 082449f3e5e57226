import BoxConfiguration
import Console
import ControlAPI
import ControlClient
import Settings

/// Puts a backup onto a box, by what its API offers to everybody: an import, and the secrets one by one.
///
/// All of it is checked before anything is changed. Whatever interrupts it, it is repeated from the start, and ends the same.
struct BoxRestore {
    static let unchanged = "nothing was restored"

    let client: ControlClient
    let target: ConfigurationDocument
    let present: BoxSettings

    /// Asks the box what it has.
    init(_ client: ControlClient) async throws {
        self.client = client
        target = try await client.get(ConfigurationDocument.self, APIPath.configuration(), or: Self.unchanged)
        present = try BoxBackup.settings(target.toml, what: Self.unchanged)
    }

    /// What would be done, and what of the backup would not.
    struct Plan {
        /// Of the generation that the plan was made for; nil: no object has to be taken.
        var request: ImportRequest?
        var secrets: [ObjectSecret]
        var report: RestoreReport
    }

    /// - Parameter backup: of this box or of another one.
    /// - Throws: `CommandFailure` for what the box would refuse.
    func plan(_ backup: BoxBackup) async throws -> Plan {
        let settings = try BoxBackup.settings(backup.configuration, what: Self.unchanged)
        var report = RestoreReport(name: backup.name, time: backup.time)
        report.notes = backup.notes(settings)
        var parts: [StoredPart] = []
        for part in settings.storedParts() {
            guard let origin = target.origins[part.object], origin != "store" else {
                parts.append(part)
                continue
            }
            report.kept.append(
                .init(object: part.object, origin: origin, isSame: present.part(part.object) == part))
        }
        var plan = Plan(request: nil, secrets: [], report: report)
        try await take(parts, &plan)
        try takeSecrets(of: backup, settings, &plan)
        // Those of the same name that somebody has set on this box.
        plan.report.replaced =
            plan.report.changes.filter { $0.kind == .changed && target.origins[$0.object] != nil }.map(\.object)
        let stored = plan.secrets.isEmpty ? [] : try await storedSecrets()
        plan.report.replaced += plan.report.secrets.filter { stored.contains($0.key) }.map(\.key)
        return plan
    }

    private func take(_ parts: [StoredPart], _ plan: inout Plan) async throws {
        guard !parts.isEmpty else { return }
        let (settings, issues) = ConfigurationReader.read(files: [], stored: parts)
        guard let settings else {
            let first = issues.first { !$0.isWarning }.map { "\($0.key) \($0.reason)" } ?? "it cannot be read"
            throw CommandFailure(
                what: Self.unchanged, why: "the backup does not fit what the files of this box say: \(first)",
                hint: "look at them: watchboxctl config show --origin", status: .conflict)
        }
        let request = ImportRequest(toml: settings.toml(), replace: true, ifGeneration: target.generation)
        let diff = try await ConfigurationText.take(request, isDryRun: true, client, what: Self.unchanged)
        plan.report.changes = diff.changes
        if !diff.changes.isEmpty { plan.request = request }
    }

    private func takeSecrets(of backup: BoxBackup, _ settings: BoxSettings, _ plan: inout Plan) throws {
        let named = Set(settings.namedSecrets.map(\.place))
        let presentSecrets = Set(present.namedSecrets.map(\.place))
        let kept = Dictionary(plan.report.kept.map { ($0.object, $0.origin) }) { first, _ in first }
        for (key, value) in backup.secrets.sorted(by: { $0.key < $1.key }) {
            guard let place = ObjectSecret.Place(key: key), named.contains(place) else {
                throw CommandFailure(
                    what: Self.unchanged, why: "the backup holds a secret that this version does not know: \(key)",
                    hint: "use the version of WatchBox that made it, or a newer one")
            }
            guard (1...4096).contains(value.utf8.count) else {
                throw CommandFailure(
                    what: Self.unchanged, why: "the backup's \(key) is empty or longer than 4096 bytes",
                    hint: "look for another copy of the file")
            }
            // Such an object cannot be given one: only its file can name it.
            if let origin = kept[place.object], !presentSecrets.contains(place) {
                plan.report.left.append(.init(key: key, why: "\(place.object) is set in \(origin), which names none"))
                continue
            }
            plan.secrets.append(ObjectSecret(place, value))
            plan.report.secrets.append(.init(key: key, restarts: present.cameras(using: place)))
        }
    }

    /// Keys of those that the box has a secret for.
    private func storedSecrets() async throws -> Set<String> {
        var keys: Set<String> = []
        func add(_ place: ObjectSecret.Place, _ isStored: Bool) {
            if isStored { keys.insert(place.key) }
        }
        let what = Self.unchanged
        for relay in try await client.get(RelayListDocument.self, APIPath.relays(), or: what).relays {
            add(.relay(relay.name), relay.hasSecret)
        }
        for hook in try await client.get(HookListDocument.self, APIPath.hooks(), or: what).hooks {
            add(.hook(hook.name), hook.hasSecret)
            add(.hookToken(hook.name), hook.hasToken)
        }
        add(.keyAccessToken, try await client.get(KeyAccessDocument.self, APIPath.keyAccess(), or: what).hasToken)
        for camera in try await client.get(CameraListDocument.self, APIPath.cameras(), or: what).cameras {
            add(.camera(camera.id), camera.hasPassword)
        }
        return keys
    }

    /// - Throws: `CommandFailure`; what was done before stays, and it can be begun again.
    func perform(_ plan: Plan) async throws {
        if let request = plan.request {
            _ = try await ConfigurationText.take(request, isDryRun: false, client, what: Self.unchanged)
        }
        for secret in plan.secrets {
            do throws(CommandFailure) {
                try await client.send(
                    .put, secret.place.apiPath, body: SecretRequest(secret: secret.value),
                    or: "\(secret.key) was not stored")
            } catch {
                throw CommandFailure(
                    what: "a part of the backup was restored", why: "\(error.what): \(error.why)",
                    hint: "run it again with --replace: it goes on from there", status: error.status)
            }
        }
    }
}

extension ObjectSecret.Place {
    /// Where control takes it.
    var apiPath: String {
        switch self {
        case .relay(let name): APIPath.relays(name, "secret")
        case .hook(let name): APIPath.hooks(name, "secret")
        case .hookToken(let name): APIPath.hooks(name, "token")
        case .keyAccessToken: APIPath.keyAccess("token")
        case .camera(let id): APIPath.cameras(id, "password")
        }
    }
}
