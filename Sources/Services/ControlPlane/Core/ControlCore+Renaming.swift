internal import BoxConfiguration
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import KeyAccessClient
internal import Settings

extension ControlCore {
    /// It stays the same camera: settings, place, identity, secrets, whether it runs, and its stream's name at relay
    /// and KAS unless the request names another. A display name that is the ID follows it. Its process is another one,
    /// which begins when the former one has ended, and learns again what that knew: only systemd may open that one's
    /// directory.
    ///
    /// - Returns: the diff for a dry run, and nil when it was renamed.
    func renameCamera(
        _ id: String, _ request: CameraRenameRequest, ifRevision: Int?, dryRun: Bool
    ) async throws -> ConfigurationDiff? {
        defer { if isReloadOwed, beingRenamed == nil { reload() } }
        let camera = try storedCamera(id)
        try Self.check(ifRevision, of: "camera \(id)", camera.changed)
        let new = try CameraIdentifier.check(request.id)
        guard new != id else {
            throw CodedError(
                .badRequest, "camera \(id) was not renamed", why: "that is its ID already",
                hint: "Give another ID; its name for people: watchboxctl camera edit \(id) --name NAME", object: id)
        }
        try requireNotInFile("camera.\(new)")
        for name in [id, new] { try requireNotQuarantined("camera.\(name)") }
        guard current.settings.cameras[new] == nil else {
            throw CodedError(
                .exists, "camera \(id) was not renamed", why: "there is a camera \(new) already",
                hint: "Choose another ID, or rename that camera first", object: new)
        }
        let proposal = try renaming(camera, request)
        let secrets = try secretsToGive(camera, as: new, proposal.settings, password: request.password)
        if dryRun { return difference(proposal) }
        try await give(secrets, to: new, of: camera)
        // From here on nothing waits. What changed of the camera meanwhile counts.
        var final: Proposal
        do {
            final = try renaming(try storedCamera(id), request)
        } catch {
            takeBack(new)
            throw error
        }
        // With nothing to give, nothing of what another camera has left there was removed yet.
        final.prepared = secrets.isEmpty ? nil : new
        _ = try commit(final)
        return nil
    }

    private func renaming(_ camera: StoredCamera, _ request: CameraRenameRequest) throws -> Proposal {
        var renamed = camera
        renamed.id = request.id
        if camera.name == camera.id { renamed.name = request.id }
        let stream = request.stream ?? current.settings.cameras[camera.id]?.streamName(camera.id) ?? camera.id
        // Written down, so that whoever watches goes on watching; one that is the ID again follows it as before.
        renamed.settings["stream"] = stream == request.id ? nil : .string(stream)
        return try propose("camera rename \(camera.id) \(request.id)", renaming: (camera.id, request.id)) { content in
            content.rename(camera.id, to: renamed)
        }
    }

    /// A secret of the new scope that is not a copy of one of the former.
    private struct GivenSecret {
        var name: String
        var bytes: [UInt8]
    }

    /// The password, when it is given again, and the key that signs the stream, when it cannot be taken along.
    private func secretsToGive(
        _ camera: StoredCamera, as new: String, _ settings: BoxSettings, password: String?
    ) throws -> [GivenSecret] {
        guard let settings = settings.cameras[new] else { return [] }
        var secrets: [GivenSecret] = []
        let scope = "camera-\(camera.id)"
        let name = settings.secret ?? "password"
        if let password {
            guard (1...4096).contains(password.utf8.count) else {
                throw CodedError(
                    .badRequest, password.isEmpty ? "the password is empty" : "the password is too long",
                    why: "it has 1 to 4096 bytes")
            }
            secrets.append(GivenSecret(name: name, bytes: Array(password.utf8)))
        } else if try credentials.names(scope: scope).contains(name), !credentials.canOpen(name: name, scope: scope) {
            throw CodedError(
                .missingSecret, "camera \(camera.id) was not renamed",
                why: "its password is encrypted for this ID, and cannot be opened to encrypt it for another",
                hint: "Give it again: watchboxctl camera rename \(camera.id) \(new) --password-file FILE",
                object: camera.id)
        }
        let stream = settings.streamName(new)
        if let name = signingSecret(forStream: stream), !credentials.canOpen(name: name, scope: scope),
            let key = try signingKey(forStream: stream)
        {
            secrets.append(GivenSecret(name: name, bytes: key))
        }
        return secrets
    }

    /// Whatever changes meanwhile is refused: neither ID becomes another camera's.
    private func give(_ secrets: [GivenSecret], to id: String, of camera: StoredCamera) async throws {
        guard !secrets.isEmpty else { return }
        beingRenamed = camera.id
        defer { beingRenamed = nil }
        do {
            try removeRests(of: id)
            try note(camera.uuid, of: id)
            for secret in secrets {
                try transaction.willDo("credentials: set for camera-\(id)")
                var bytes = secret.bytes
                defer { SigningIdentity.wipe(&bytes) }
                try await credentials.set(bytes, name: secret.name, scope: "camera-\(id)")
            }
        } catch {
            takeBack(id)
            throw error
        }
    }

    /// What was given, unless the next start has to do it.
    private func takeBack(_ id: String) {
        do {
            try removeRests(of: id)
        } catch {
            report(CodedError(of: error), .camera)
        }
    }
}
