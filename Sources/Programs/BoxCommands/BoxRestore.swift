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
        /// In the order in which they are stored.
        var secrets: [ObjectSecret]
        /// Cameras whose address becomes another one: what this box logs in with at the old one is not shown to the new one.
        var forgotten: [String] = []
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
            guard let origin = target.origins[part.object] ?? quarantined[part.object]?.origin, origin != "store" else {
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
            plan.report.changes.filter {
                $0.kind == .changed && target.origins[$0.object] != nil || quarantined[$0.object] != nil
            }.map(\.object)
        let stored = try await BoxBackup.heldSecrets(client, what: Self.unchanged)
        plan.forgotten = settings.cameras.keys.sorted().filter { id in
            stored.contains(ObjectSecret.Place.camera(id).key) && target.origins["camera.\(id)"] == "store"
                && present.cameras[id]?.source != settings.cameras[id]?.source
        }
        let others = plan.forgotten.map { ObjectSecret.Place.camera($0).key }
        let secrets = plan.report.secrets.map(\.key).filter(stored.contains)
        plan.report.replaced += secrets + others.filter { !secrets.contains($0) }
        return plan
    }

    /// What the box has quarantined: a restore takes its place, where no file sets it.
    private var quarantined: [String: QuarantinedObject] {
        Dictionary((target.quarantined ?? []).map { ($0.object, $0) }) { first, _ in first }
    }

    private func take(_ parts: [StoredPart], _ plan: inout Plan) async throws {
        guard !parts.isEmpty else { return }
        let (settings, issues) = ConfigurationReader.read(files: [], stored: parts, isPart: true)
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
                let why = quarantined[place.object] == nil ? "names none" : "is to be corrected first"
                plan.report.left.append(.init(key: key, why: "\(place.object) is set in \(origin), which \(why)"))
                continue
            }
            plan.secrets.append(ObjectSecret(place, value))
            plan.report.secrets.append(.init(key: key, restarts: present.cameras(using: place)))
        }
        // First what all cameras need; the rest as it stood.
        plan.secrets = plan.secrets.filter { $0.place.isShared } + plan.secrets.filter { !$0.place.isShared }
    }

    /// - Throws: `CommandFailure`; what was done before stays, and it can be begun again.
    func perform(_ plan: Plan) async throws {
        if let request = plan.request, !plan.forgotten.isEmpty {
            // Of nothing that was shown before.
            _ = try await ConfigurationText.take(request, isDryRun: true, client, what: Self.unchanged)
        }
        var soFar = Self.unchanged
        for id in plan.forgotten {
            try await client.send(.delete, APIPath.cameras(id, "password"), or: soFar)
            soFar = "passwords of cameras whose address changes were removed, and nothing was restored"
        }
        if let request = plan.request {
            _ = try await ConfigurationText.take(request, isDryRun: false, client, what: soFar)
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
    /// More than one camera uses it.
    fileprivate var isShared: Bool {
        switch self {
        case .relay, .keyAccessToken: true
        case .hook, .hookToken, .camera: false
        }
    }

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
