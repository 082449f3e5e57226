internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import ControlClient
internal import CredentialStore
internal import ErrorCatalog
internal import ONVIF
internal import Platform
internal import PrometheusText
internal import Settings
internal import Systemd

extension ControlCore {
    // MARK: Streams

    func streams() async -> [StreamDocument] {
        await refreshUnits()
        let answers = await processes.statuses(of: users(of: cameraOrder()))
        let stopped = runtime.stopped()
        return cameraOrder().compactMap { stream($0, answers[$0], stopped: stopped) }
    }

    func stream(_ id: String) async throws -> StreamDocument {
        _ = try requireCamera(id)
        await refreshUnits()
        let answers = await processes.statuses(of: users(of: [id]))
        guard let stream = stream(id, answers[id], stopped: runtime.stopped()) else {
            throw CodedError(.notFound, "there is no camera \(id)", object: id)
        }
        return stream
    }

    /// Of the units that run, by the camera's ID: whose socket is theirs.
    private func users(of ids: [String]) -> [String: UInt32] {
        ids.reduce(into: [:]) { users, id in
            if let unit = unitStates?[UnitName.camera(id)], unit.isUp { users[id] = unit.userIdentifier }
        }
    }

    /// The user of a camera's unit; `WB-8002` when it does not run.
    func user(of id: String) async throws -> UInt32 {
        await refreshUnits()
        guard let user = users(of: [id])[id] else {
            throw CodedError(
                .unreachable, "camera \(id) does not run", hint: "Run: watchboxctl stream show \(id)", object: id)
        }
        return user
    }

    /// Asks systemd unless it was asked within the last second and no job has ended since.
    private func refreshUnits() async {
        let ended = unitJobs.ended
        let now = clock.sinceBoot()
        if let asked = unitsAsked, asked.jobs == ended, now - asked.at < .seconds(1) { return }
        unitsAsked = (ended, now)
        if let listed = await listUnits() { unitStates = listed }
    }

    private func stream(_ id: String, _ process: CameraStatusDocument?, stopped: Set<String>) -> StreamDocument? {
        guard let camera = current.settings.cameras[id] else { return nil }
        let unit = UnitName.camera(id)
        let idle = UnitState(notLoaded: unit)
        let isUp = unitStates?[unit]?.isUp ?? true
        var document = StreamState(
            camera: id, stream: camera.streamName(id), relay: camera.relay, isActive: camera.active,
            obstacle: target.cameras[id]?.obstacle ?? (isUp ? nil : target.cameras[id]?.doubt),
            isStoppedByRequest: stopped.contains(id), unit: unitStates.map { $0[unit] ?? idle }, process: process
        ).document
        // Between the request and what systemd says of it.
        if document.state == .stopped, target.cameras[id]?.runs == true, unitJobs.busy.contains(unit) {
            document.state = .starting
            document.reason = nil
            document.code = nil
            document.hint = nil
        }
        return document
    }

    /// By grid position, then by ID.
    func cameraOrder() -> [String] {
        current.settings.cameras.sorted { ($0.value.grid, $0.key) < ($1.value.grid, $1.key) }.map(\.key)
    }

    // MARK: Cameras

    func cameras() async -> [CameraDocument] {
        let streams = await streams()
        return streams.compactMap { document($0) }
    }

    func camera(_ id: String) async throws -> (CameraDocument, revision: Int?) {
        let stream = try await stream(id)
        guard let document = document(stream) else {
            throw CodedError(.notFound, "there is no camera \(id)", object: id)
        }
        return (document, document.origin == "store" ? current.store.camera(id)?.changed : nil)
    }

    private func document(_ stream: StreamDocument) -> CameraDocument? {
        let id = stream.camera
        guard let settings = current.settings.cameras[id] else { return nil }
        let origin = current.settings.origins["camera.\(id)"] ?? "store"
        let known = remembered(id)
        let values = current.settings.values("camera.\(id)") ?? [:]
        let stored = (known?.profiles ?? []).map { NetworkStatistics.Profile($0) }
        let used = NetworkStatistics.Profile.used(stored, requested: settings.network.profile)?.token
        var profiles = stored.map {
            CameraDocument.Profile(
                name: $0.name, width: $0.width, height: $0.height, rate: $0.rate, codec: $0.codec,
                isDefault: $0.token == used, token: $0.token, bitrate: $0.bitrate, gop: $0.gop)
        }
        if profiles.isEmpty, settings.source == "test:" {
            profiles = [
                CameraDocument.Profile(
                    name: "main", width: settings.video.width, height: settings.video.height,
                    rate: Double(settings.video.frameRate),
                    codec: "h264", isDefault: true)
            ]
        }
        return CameraDocument(
            id: id, name: settings.displayName(id), source: settings.source, user: settings.user,
            hasPassword: hasPassword(id, settings), isActive: settings.active, gridPosition: settings.grid,
            added: origin == "store" ? current.store.camera(id)?.added : nil, lastConnected: known?.lastConnected,
            manufacturer: known?.manufacturer, model: known?.model, firmware: known?.firmware,
            endpoint: known?.identity.endpoint, serial: known?.identity.serial, mac: known?.identity.mac,
            address: known?.address, port: known?.port,
            settings: values.filter { !StoreContent.cameraFields.contains($0.key) },
            profiles: profiles, origin: origin, stream: stream)
    }

    /// What a network camera offers: as its process says, else as it was stored.
    func profiles(_ id: String) async throws -> CameraProfileListDocument {
        let settings = try requireCamera(id)
        guard settings.isNetworkCamera else {
            throw CodedError(
                .badRequest, "camera \(id) has no profiles", why: "it is not a camera on the network",
                hint: "See its settings: watchboxctl camera show \(id)", object: id)
        }
        let network = try await stream(id).statistics?.capture?.network
        var profiles = network?.device?.profiles ?? []
        if profiles.isEmpty {
            profiles = (remembered(id)?.profiles ?? []).map { NetworkStatistics.Profile($0) }
        }
        return CameraProfileListDocument(
            camera: id,
            used: network?.profile
                ?? NetworkStatistics.Profile.used(profiles, requested: settings.network.profile)?.token,
            profiles: profiles)
    }

    // MARK: Keys

    func keys() async -> [KeyDocument] { await streams().compactMap { KeyDocument($0) } }

    func key(_ id: String) async throws -> KeyDocument {
        guard let key = KeyDocument(try await stream(id)) else {
            throw CodedError(
                .unreachable, "camera \(id) does not answer", why: "so its key is not known",
                hint: "Run: watchboxctl stream show \(id)", object: id)
        }
        return key
    }

    // MARK: The box

    func status() async -> BoxStatus {
        async let health = health()
        let agreement = StatusAgreement(await cameras(), await health)
        let (cameras, report) = (agreement.cameras, agreement.health)
        let assessment = assess(cameras, report)
        let quarantined = quarantined()
        let clockCheck = report?.checks.first { $0.check == "clock" && $0.object == nil }?.state
        return BoxStatus(
            name: current.settings.name, version: version, state: assessment == nil ? .ok : .degraded,
            reason: assessment?.reason, hint: assessment?.hint, time: clock.seconds,
            uptimeSeconds: clock.sinceBoot().components.seconds,
            isClockSynchronised: clockCheck.flatMap { $0 == .unknown ? nil : $0 == .ok },
            generation: current.number, configurationProblem: configurationProblem, cameras: cameras,
            relays: relays(), keyAccess: keyAccess(), health: report,
            recoveriesToday: report?.recoveries.values.reduce(0, +) ?? 0,
            secretProtection: credentials.protection.rawValue,
            // Debian's way to say that an update wants one.
            rebootRequired: SmallFile.exists("/run/reboot-required"),
            quarantined: quarantined.isEmpty ? nil : quarantined)
    }

    /// From control's start until the health daemon has to answer.
    private static let healthGrace = Duration.seconds(20)

    private func health() async -> HealthReport? {
        let client = ControlClient(socketPath: paths.healthSocket, readTimeout: deadlines.status)
        return try? await client.get(HealthReport.self, APIPath.health())
    }

    private var configurationProblem: String? {
        (generationStoreProblem ?? filesProblem).map { Self.message($0) } ?? memoryFailure.map { Self.message($0) }
            ?? secretsProblem.map { Self.message($0) }
            ?? savingProblem.map { "the configuration is not saved: \(Self.message($0))" }
    }

    static func message(_ error: CodedError) -> String {
        "\(error.code) \(error.what)\(error.why.map { ": \($0)" } ?? "")"
    }

    /// The worst that there is to say, and what to do about it; nil when all is well.
    private func assess(_ cameras: [CameraDocument], _ health: HealthReport?) -> (reason: String, hint: String)? {
        // A camera that waits for one of them says so itself.
        if let first = quarantined().first {
            let count = current.settings.quarantined.count
            return (
                count == 1
                    ? "\(first.object) is quarantined: \(first.reason)"
                    : "\(count) objects of the configuration are quarantined, the first is \(first.object): \(first.reason)",
                "watchboxctl config validate"
            )
        }
        let active = cameras.filter(\.isActive)
        let missing = active.filter { $0.stream.state != .live && $0.stream.reason != "stopped by request" }
        if let first = missing.first {
            let verb = missing.count == 1 ? "is" : "are"
            return (
                "\(missing.count) of \(active.count) camera\(active.count == 1 ? "" : "s") \(verb) not publishing",
                first.stream.code == .missingSecret
                    ? target.cameras[first.id]?.obstacle?.hint ?? "watchboxctl camera show \(first.id)"
                    : "watchboxctl camera show \(first.id)"
            )
        }
        if let problem = configurationProblem { return (problem, "watchboxctl config validate") }
        if let failed = health?.checks.first(where: { $0.state == .fail && !$0.isAcknowledged }) {
            let object = failed.object.map { " (\($0))" } ?? ""
            return ("\(failed.check)\(object): \(failed.evidence)", failed.hint ?? "watchboxctl health show")
        }
        // Nobody looks after the box: that is not "all is well". Both start together, and a start is not an alarm.
        if health == nil, clock.sinceBoot() >= startedAt + Self.healthGrace {
            return ("the health daemon does not answer", "systemctl status watchbox-health")
        }
        return nil
    }

    // MARK: Metrics

    func metrics() -> String {
        MetricFamily.text([
            MetricFamily(
                "watchbox_build_info", .gauge, help: "The version that runs.",
                samples: [.init(1, labels: [("version", version), ("role", "control")])]),
            MetricFamily(
                "watchbox_cameras_configured", .gauge, help: "Cameras in the configuration.",
                samples: [.init(Double(current.settings.cameras.count))]),
            MetricFamily(
                "watchbox_config_generation", .gauge, help: "Number of the configuration that runs.",
                samples: [.init(Double(current.number))]),
            MetricFamily(
                "watchbox_config_problem", .gauge, help: "1 while the files are not what runs.",
                samples: [.init(configurationProblem == nil ? 0 : 1)]),
            MetricFamily(
                "watchbox_config_objects_quarantined", .gauge,
                help: "Objects of the configuration that this version refuses.",
                samples: [.init(Double(current.settings.quarantined.count))]),
            MetricFamily(
                "watchbox_event_watchers", .gauge, help: "Clients that follow events or logs.",
                samples: [.init(Double(hub.watchers))]),
        ])
    }
}

extension NetworkStatistics.Profile {
    /// As it was stored.
    init(_ stored: StreamProfile) {
        self.init(
            token: stored.id, name: stored.name, service: stored.service ?? "media", url: stored.source,
            snapshotURL: stored.snapshot, codec: stored.codec, width: stored.width > 0 ? stored.width : nil,
            height: stored.height > 0 ? stored.height : nil, rate: stored.rate > 0 ? stored.rate : nil,
            bitrate: stored.bitrate, gop: stored.gop)
    }
}

extension KeyDocument {
    /// Nil while the process does not answer.
    init?(_ stream: StreamDocument) {
        guard let statistics = stream.statistics else { return nil }
        self.init(
            camera: stream.camera, stream: stream.stream, collection: statistics.collection,
            ivUsed: statistics.itemsInCollection, rotations: statistics.rotations,
            headersRegistered: statistics.headersRegistered, headersUnregistered: statistics.headersUnregistered)
    }
}

extension UnitState {
    /// systemd does not list what it has not loaded: such a unit does not run.
    init(notLoaded name: String) {
        self.init(
            name: name, load: "loaded", active: "inactive", sub: "dead", result: "success", statusText: "", mainPID: 0,
            restarts: 0, invocationID: "", activeSinceMonotonic: nil, execMainStatus: 0)
    }
}
