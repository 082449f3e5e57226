internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import ONVIF
internal import Platform
internal import Settings

extension ControlCore {
    /// - Returns: the diff for a dry run, and nil when the camera was added.
    ///
    /// - Parameters:
    ///   - finding: of a test of this very source; one that ended without a frame proves nothing, and is not taken.
    ///   - seen: what a search found of this very source.
    func addCamera(
        _ request: CameraRequest, finding: StreamTestReport? = nil, seen: DeviceIdentity? = nil, dryRun: Bool
    ) throws -> ConfigurationDiff? {
        guard request.acceptMove == nil else {
            throw CodedError(.badRequest, "acceptMove applies only to a camera that exists")
        }
        guard let given = request.id else { throw CodedError(.badRequest, "id is missing") }
        let id = try CameraIdentifier.check(given)
        guard let source = request.source else { throw CodedError(.badRequest, "source is missing") }
        try requireNotInFile("camera.\(id)")
        try requireNotQuarantined("camera.\(id)")
        guard current.settings.cameras[id] == nil else { throw Self.exists(id) }
        guard current.settings.cameras.count < BoxSettings.cameraLimit else {
            throw CodedError(
                .tooMuch, "camera \(id) was not added", why: "a box has at most \(BoxSettings.cameraLimit)")
        }
        let position = (current.settings.cameras.values.map(\.grid).max() ?? -1) + 1
        var camera = StoredCamera(
            id: id, name: request.name ?? id, source: source, user: request.user, isActive: request.isActive ?? true,
            gridPosition: position, added: clock.seconds)
        try Self.set(request.settings, of: &camera)
        try Self.checkTransport(of: camera, before: nil)
        let finding = finding.flatMap { $0.isUsable ? $0 : nil }
        if let finding { Self.take(finding, into: &camera) }
        let proposal = try propose("camera add \(id)") { $0.put(camera) }
        if dryRun { return difference(proposal) }
        try removeRests(of: id)
        _ = try commit(proposal)
        if let seen { keep(LearnedCamera(identity: seen), of: id) }
        if let finding { keep(LearnedCamera(finding), of: id) }
        return nil
    }

    func changeCamera(
        _ id: String, _ request: CameraRequest, finding: StreamTestReport? = nil, ifRevision: Int?,
        cause: String? = nil, dryRun: Bool
    ) throws -> ConfigurationDiff? {
        guard request.id == nil || request.id == id else {
            throw CodedError(
                .badRequest, "a camera keeps its ID", hint: "Rename it: watchboxctl camera rename \(id) NEW-ID",
                object: id)
        }
        let stored = try storedCamera(id)
        try Self.check(ifRevision, of: "camera \(id)", stored.changed)
        var camera = stored
        var isSameDevice = true
        if let name = request.name { camera.name = name }
        if let source = request.source, source != camera.source {
            // Another stream of the same device has the same certificate and the same identity.
            isSameDevice = NetworkPlace(source).map { $0 == NetworkPlace(camera.source) } ?? false
            camera.source = source
            if !isSameDevice {
                for field in StoreContent.identityFields + ["pin"] { camera.settings[field] = nil }
            }
        }
        if let place = request.acceptMove {
            guard request.source == nil else {
                throw CodedError(
                    .badRequest, "source and acceptMove both say where the camera is", hint: "Give one", object: id)
            }
            // The same device elsewhere: what is known of it stays.
            camera.source = try acceptedSource(of: id, at: place)
        }
        if let user = request.user { camera.user = user.isEmpty ? nil : user }
        if let isActive = request.isActive { camera.isActive = isActive }
        try Self.set(request.settings, of: &camera)
        try Self.checkTransport(of: camera, before: stored)
        // Whichever device answers next is this camera.
        let accepts = StoreContent.identityFields.allSatisfy { request.settings?[$0] == .string("") }
        let finding = finding.flatMap { $0.isUsable ? $0 : nil }
        if let finding { Self.take(finding, into: &camera) }
        var proposal = try propose(cause ?? "camera edit \(id)") { $0.put(camera) }
        if isSameDevice, !accepts { proposal.sameDevice = camera.uuid }
        if dryRun { return difference(proposal) }
        _ = try commit(proposal)
        // Nothing that was seen of the device before is looked for any more.
        if accepts {
            network[id] = nil
            try? memory?.forget(camera.uuid)
        }
        if let finding { keep(LearnedCamera(finding), of: id) }
        return nil
    }

    /// Refused where it is asked for. What was stored before goes on, over TCP, and the camera's status shows it.
    private static func checkTransport(of camera: StoredCamera, before: StoredCamera?) throws {
        typealias Network = CameraConfiguration.Network
        func problem(_ camera: StoredCamera) -> (reason: String, hint: String)? {
            guard case .string(let text) = camera.settings["transport"],
                let transport = Network.Transport(rawValue: text)
            else { return nil }
            return Network.readable(transport, url: camera.source)
        }
        for name in Network.onvifSettings {
            guard let value = camera.settings[name], before?.settings[name] != value || before?.source != camera.source,
                let found = Network.misplaced(name, url: camera.source)
            else { continue }
            throw CodedError(
                .invalidValue, "settings.\(name) \(found.reason)", hint: found.hint, object: camera.id)
        }
        guard let found = problem(camera), before.flatMap(problem) == nil else { return }
        throw CodedError(
            .invalidValue, "settings.transport \(found.reason)", hint: found.hint, object: camera.id)
    }

    /// What of a test's findings the camera's process has to go by: which device it is, and the certificate's pin
    /// unless one is set.
    private static func take(_ finding: StreamTestReport, into camera: inout StoredCamera) {
        if let pin = finding.pin, CameraConfiguration.Network.isPin(pin), camera.settings["pin"] == nil {
            camera.settings["pin"] = .string(pin)
        }
        guard camera.source.hasPrefix("onvif:"), let device = finding.device else { return }
        // Of the device that was tested: another one has to prove that it is this.
        let texts = [("identity_endpoint", device.endpoint, 256), ("identity_serial", device.serial, 128)]
        for (field, text, limit) in texts {
            guard let text, Printable.isPrintable(text, limit: limit) else { continue }
            camera.settings[field] = .string(text)
        }
        if let mac = device.mac?.lowercased(), CameraConfiguration.Network.isMAC(mac) {
            camera.settings["identity_mac"] = .string(mac)
        }
    }

    /// With its settings, its unit and its secrets.
    func removeCamera(_ id: String, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        let camera = try storedCamera(id)
        try Self.check(ifRevision, of: "camera \(id)", camera.changed)
        let proposal = try propose("camera rm \(id)") { $0.remove(camera: id) }
        if dryRun { return difference(proposal) }
        try commit(removalOf: id, proposal)
        return nil
    }

    /// The camera goes, and what goes by its ID.
    @discardableResult
    func commit(removalOf id: String, _ proposal: Proposal) throws -> ConfigurationDiff {
        // From the commit on, the next start would remove the secrets if this process cannot.
        let note = removalNote(id)
        try transaction.write([], to: note, mode: 0o600, isDurable: true)
        let difference: ConfigurationDiff
        do {
            difference = try commit(proposal)
        } catch {
            try? transaction.remove(note, isDurable: true)
            throw error
        }
        forgetMark(ofUnit: UnitName.camera(id))
        streamNews[id] = nil
        network[id] = nil
        thumbnails[id] = nil
        do {
            try removeRests(of: id)
        } catch {
            report(CodedError(of: error), .camera)
        }
        return difference
    }

    func forgetMark(ofUnit unit: String) {
        if let path = paths.restartMark(ofUnit: unit) { try? transaction.remove(path) }
    }

    func orderCameras(_ ids: [String], dryRun: Bool) throws -> ConfigurationDiff? {
        guard ids.count <= BoxSettings.cameraLimit, Set(ids).count == ids.count else {
            throw CodedError(
                .badRequest, "the order is not valid",
                why: ids.count > BoxSettings.cameraLimit
                    ? "it has more than \(BoxSettings.cameraLimit) IDs" : "an ID appears twice")
        }
        for id in ids {
            _ = try CameraIdentifier.check(id)
            try requireNotInFile("camera.\(id)")
            _ = try storedCamera(id)
        }
        let known = current.store.cameras.map(\.id).filter { current.settings.quarantined["camera.\($0)"] == nil }
        if let missing = known.first(where: { !ids.contains($0) }) {
            throw CodedError(
                .badRequest, "the order does not name camera \(missing)", hint: "Name every camera of the store once")
        }
        let proposal = try propose("camera reorder") { content in
            for (position, id) in ids.enumerated() {
                guard var camera = content.camera(id) else { continue }
                camera.gridPosition = position
                content.put(camera)
            }
        }
        if dryRun { return difference(proposal) }
        _ = try commit(proposal)
        return nil
    }

    /// The camera of the store; `WB-1006` for one of a file, `WB-8003` when there is none.
    func storedCamera(_ id: String) throws -> StoredCamera {
        let id = try CameraIdentifier.check(id)
        try requireNotInFile("camera.\(id)")
        guard let camera = current.store.camera(id) else { throw noCamera(id) }
        return camera
    }

    /// One that is configured, wherever.
    func requireCamera(_ id: String) throws(CodedError) -> CameraSettings {
        let id = try CameraIdentifier.check(id)
        guard let camera = current.settings.cameras[id] else { throw noCamera(id) }
        return camera
    }

    private func noCamera(_ id: String) -> CodedError {
        quarantineError("camera.\(id)")
            ?? CodedError(
                .notFound, "there is no camera \(id)", hint: Self.nearest(id, in: Array(current.settings.cameras.keys)),
                object: id)
    }

    static func exists(_ id: String) -> CodedError {
        CodedError(
            .exists, "camera \(id) was not added", why: "a camera has this ID already",
            hint: "Choose another ID, or remove that camera first")
    }

    static func nearest(_ name: String, in candidates: [String]) -> String? {
        NearestName.nearest(name, in: candidates.sorted()).map { "Did you mean \($0)?" }
    }

    /// What an earlier camera of this ID has left: its secrets must not become another's. Also when there is no note,
    /// as of a camera whose file went.
    func removeRests(of id: String) throws {
        let note = removalNote(id)
        guard try SmallFile.exists(note) || !credentials.names(scope: "camera-\(id)").isEmpty else { return }
        try transaction.willDo("credentials: remove camera-\(id)")
        try credentials.removeScope("camera-\(id)")
        try transaction.remove(note, isDurable: true)
    }

    private static func set(_ settings: [String: SettingValue]?, of camera: inout StoredCamera) throws(CodedError) {
        guard let settings else { return }
        // What is not named stays: to take `viewers` away because somebody changed the bit rate would open the stream.
        var values = camera.settings
        for (key, value) in settings {
            if key == "grid" {
                guard case .integer(let position) = value, (0...9999).contains(position) else {
                    throw CodedError(.invalidValue, "settings.grid is not a position", hint: "Use 0 to 9999")
                }
                camera.gridPosition = Int(position)
            } else if StoreContent.cameraFields.contains(key) {
                throw CodedError(
                    .badRequest, "settings.\(key) is a field of the camera",
                    hint: "Give it as \(key == "active" ? "isActive" : key), next to settings")
            } else if case .string("") = value {
                // An empty string removes a setting, as of a relay.
                values[key] = nil
            } else {
                values[key] = value
            }
        }
        camera.settings = values
    }
}
