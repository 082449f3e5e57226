internal import BoxConfiguration
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import KeyAccessClient
internal import Logging
internal import Settings

/// The box's device key: made and replaced here, never shown; each camera is given a key of its own that the device's
/// vouches for, for its stream alone.
extension ControlCore {
    private static let retryPeriod = Duration.seconds(30)
    private static let fileLimit = 16 << 10

    // MARK: What can be shown and asked for

    func device() -> DeviceKeyDocument {
        guard let device = signing.device else { return DeviceKeyDocument() }
        func fingerprint(_ pem: String?) -> String? { pem.flatMap { SigningIdentity.fingerprint(publicKeyPEM: $0) } }
        let signing = current.settings.cameras.filter { id, camera in
            names(ofCamera: id).contains(device.secretName(forStream: camera.streamName(id)))
        }
        return DeviceKeyDocument(
            publicKey: device.current, fingerprint: fingerprint(device.current), nextPublicKey: device.next,
            nextFingerprint: fingerprint(device.next), camerasThatSign: signing.count)
    }

    func makeDevice() async throws {
        try await changingDevice {
            guard signing.device == nil else {
                throw CodedError(
                    .exists, "this box has a device key",
                    hint: "To replace it: watchboxctl device next, then watchboxctl device switch")
            }
            let identity = try await keep(.generate(), as: BoxDevice.secretName)
            try save(BoxDevice(current: identity.publicKeyPEM))
            hub.publish(.kas, "the box has a device key: \(identity.fingerprint)")
        }
        await giveSigningKeys()
    }

    /// A key that takes over later: the KAS is to know it first.
    func makeNextDevice() async throws {
        try await changingDevice {
            var device = try requireDevice()
            guard device.next == nil else { return }
            device.next = try await keep(.generate(), as: BoxDevice.nextSecretName).publicKeyPEM
            try save(device)
        }
    }

    /// Cameras begin again, with keys that the next one vouches for.
    func switchDevice() async throws {
        try await changingDevice {
            let device = try requireDevice()
            guard let next = device.next else {
                throw CodedError(
                    .notFound, "there is no next device key",
                    hint: "Make it, and register it at the KAS: watchboxctl device next")
            }
            guard let identity = identity(BoxDevice.nextSecretName), identity.publicKeyPEM == next else {
                throw CodedError(
                    .busy, "the next device key cannot be opened yet",
                    why: "systemd hands it over when control has started", hint: "Try again in some seconds")
            }
            _ = try await keep(identity, as: BoxDevice.secretName)
            try save(BoxDevice(current: next))
            try forget(BoxDevice.nextSecretName)
            hub.publish(.kas, "the device key is now \(identity.fingerprint)")
        }
        await giveSigningKeys()
    }

    /// Cameras sign nothing any more, from their next start on.
    func removeDevice() async throws {
        try await changingDevice {
            guard signing.device != nil else { return }
            try transaction.remove(paths.device, isDurable: true)
            signing.device = nil
            for name in BoxDevice.secretNames { try forget(name) }
            hub.publish(.kas, "the device key was removed")
        }
        try reconcile()
        for id in current.settings.cameras.keys { removeSigningKeys(ofCamera: id, except: nil) }
    }

    // MARK: What happens by itself

    /// To be called once, before anything is made of the configuration.
    func readDevice() {
        do {
            guard let bytes = try SystemFiles.readIfPresent(paths.device, limit: Self.fileLimit) else { return }
            signing.device = try JSONDocument.decode(BoxDevice.self, from: bytes)
        } catch {
            report(
                CodedError(
                    .unreadableFile, "the device key's file cannot be read",
                    why: "\(paths.device): cameras sign nothing",
                    hint: "Make a new one: remove the file, then watchboxctl device make"), .kas)
        }
    }

    /// From the process that systemd gave the box's secrets.
    func takeOverDevice(_ secrets: [String: String]) {
        for name in BoxDevice.secretNames where signing.identities[name] == nil {
            guard let text = secrets[name], let identity = try? SigningIdentity(pem: Array(text.utf8)) else { continue }
            signing.identities[name] = identity
        }
        signing.dueAt = .zero
    }

    /// Gives cameras the keys that they lack: they came since, or their stream has another name now.
    func beginDeviceCare() {
        guard signing.device != nil, signing.task == nil, !signing.isChanging, clock.sinceBoot() >= signing.dueAt,
            !camerasWithoutKey.isEmpty
        else { return }
        signing.dueAt = clock.sinceBoot() + Self.retryPeriod
        signing.task = Task {
            await self.giveSigningKeys()
            self.signing.task = nil
        }
    }

    /// The secret with which a camera signs this stream; nil when the box does not sign.
    func signingSecret(forStream stream: String) -> String? { signing.device?.secretName(forStream: stream) }

    // MARK: -

    /// A new one, for this stream alone; nil while the device's key cannot be opened.
    func signingKey(forStream stream: String) throws -> [UInt8]? {
        guard let device = signing.device, let identity = identity(BoxDevice.secretName),
            identity.publicKeyPEM == device.current
        else { return nil }
        return try identity.keyForStream(stream)
    }

    private var camerasWithoutKey: [(id: String, stream: String)] {
        guard let device = signing.device else { return [] }
        return current.settings.cameras.sorted { $0.key < $1.key }.compactMap { id, camera in
            let stream = camera.streamName(id)
            guard camera.active, !names(ofCamera: id).contains(device.secretName(forStream: stream)) else { return nil }
            return (id, stream)
        }
    }

    private func giveSigningKeys() async {
        guard let device = signing.device, let identity = identity(BoxDevice.secretName),
            identity.publicKeyPEM == device.current
        else { return }
        for (id, stream) in camerasWithoutKey {
            let arrival = arrivals[id]
            do {
                var key = try identity.keyForStream(stream)
                defer { SigningIdentity.wipe(&key) }
                try transaction.willDo("credentials: sign")
                let scope = "camera-\(id)"
                try await credentials.set(key, name: device.secretName(forStream: stream), scope: scope)
                // Removed meanwhile: the next camera of that ID must not inherit it.
                guard current.settings.cameras[id] != nil, arrivals[id] == arrival else {
                    try credentials.remove(name: device.secretName(forStream: stream), scope: scope)
                    continue
                }
            } catch {
                logger.warning("camera \(id) has no key to sign with: \(error)", metadata: ["camera": "\(id)"])
            }
        }
        do {
            try reconcile()
        } catch {
            isIncomplete = true
            return report(CodedError(of: error), .kas)
        }
        // Their files name the new ones now.
        for (id, camera) in current.settings.cameras {
            guard let name = signingSecret(forStream: camera.streamName(id)), names(ofCamera: id).contains(name) else {
                continue
            }
            removeSigningKeys(ofCamera: id, except: name)
        }
    }

    private func removeSigningKeys(ofCamera id: String, except kept: String?) {
        for name in names(ofCamera: id) where name.hasPrefix(BoxDevice.cameraPrefix) && name != kept {
            _ = try? credentials.remove(name: name, scope: "camera-\(id)")
        }
    }

    private func names(ofCamera id: String) -> Set<String> {
        Set((try? credentials.names(scope: "camera-\(id)")) ?? [])
    }

    private func identity(_ name: String) -> SigningIdentity? {
        if let known = signing.identities[name] { return known }
        guard var pem = try? credentials.reveal(name: name, scope: "box") else { return nil }
        defer { SigningIdentity.wipe(&pem) }
        return try? SigningIdentity(pem: pem)
    }

    private func keep(_ identity: SigningIdentity, as name: String) async throws -> SigningIdentity {
        var pem = try identity.privateKeyPEM()
        defer { SigningIdentity.wipe(&pem) }
        try transaction.willDo("credentials: device")
        try await credentials.set(pem, name: name, scope: "box")
        signing.identities[name] = identity
        return identity
    }

    private func forget(_ name: String) throws {
        signing.identities[name] = nil
        try credentials.remove(name: name, scope: "box")
    }

    private func save(_ device: BoxDevice) throws {
        try transaction.write(JSONDocument.bytes(device), to: paths.device, mode: 0o600, isDurable: true)
        signing.device = device
    }

    private func requireDevice() throws(CodedError) -> BoxDevice {
        guard let device = signing.device else {
            throw CodedError(.notFound, "this box has no device key", hint: "Make one: watchboxctl device make")
        }
        return device
    }

    /// One change of the keys at a time: each waits for the store of secrets.
    private func changingDevice(_ body: () async throws -> Void) async throws {
        guard !signing.isChanging else {
            throw CodedError(.busy, "the device key is being changed", hint: "Try again in a moment")
        }
        signing.isChanging = true
        defer { signing.isChanging = false }
        try await body()
    }
}
