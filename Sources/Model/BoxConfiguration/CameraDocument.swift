public import CameraModel
public import ErrorCatalog
internal import Settings

extension BoxSettings {
    /// The configuration of one camera's process. Secrets are named as `credential:NAME`, which the process looks for
    /// among the credentials of its unit.
    ///
    /// - Parameters:
    ///   - stateDirectory: of the camera's unit; keeps the last good public key, and what was learned of a network camera.
    ///   - recordings: of all cameras.
    /// - Throws: WB-8003 when there is no such camera, WB-1010 or WB-1011 when it cannot run, WB-1004 with the key when
    ///   the camera's process would refuse its settings.
    public func cameraConfiguration(
        _ id: String, stateDirectory: String, recordings: String = CameraSettings.recordings
    ) throws(CodedError) -> CameraConfiguration {
        guard let camera = cameras[id] else {
            throw CodedError(
                .notFound, "There is no camera \(KeyText.shown(id))", object: "camera.\(KeyText.shown(id))")
        }
        if let obstacle = obstacle(to: id) { throw obstacle }
        guard let document = document(id, stateDirectory: stateDirectory, recordings: recordings) else {
            throw CodedError(.unsupportedSource, "Camera \(id) cannot run", object: "camera.\(id)")
        }
        do {
            try document.validate()
        } catch {
            let problem = error.problems[0]
            let place = CameraDocumentField.origin(of: problem)
            throw CodedError(
                .invalidValue, "`\(place.object(of: camera, id: id)).\(place.key)` is refused by the camera",
                why: place.reason, hint: place.hint, object: "camera.\(id)")
        }
        return document
    }

    /// Why this camera cannot run though its settings are valid; nil: it can, or there is no such camera.
    public func obstacle(to id: String) -> CodedError? {
        guard let camera = cameras[id] else { return nil }
        let object = "camera.\(id)"
        let what = "Camera \(id) cannot run"
        if (try? CameraSource(camera.source)) == nil {
            return CodedError(
                .unsupportedSource, what, why: "its source is of a kind that this version cannot use",
                hint: KeyDefinition.Kind.source.hint, object: object)
        }
        if relays[camera.relay] == nil, let refused = quarantined["relay.\(camera.relay)"] {
            return CodedError(
                .objectQuarantined, what, why: "its relay \(camera.relay) is quarantined: \(refused.reason)",
                hint: refused.hint, object: object)
        }
        if relays[camera.relay] == nil {
            return CodedError(
                .incompleteCamera, what, why: "its relay \(camera.relay) is not defined yet",
                hint: "Run: watchboxctl relay add \(camera.relay) --url URL", object: object)
        }
        if kas == nil, let refused = quarantined["kas"] {
            return CodedError(
                .objectQuarantined, what,
                why: "the key access server is quarantined, and nothing is sent unencrypted: \(refused.reason)",
                hint: refused.hint, object: object)
        }
        if kas == nil {
            return CodedError(
                .incompleteCamera, what, why: "no key access server is set, and nothing is sent unencrypted",
                hint: "Run: watchboxctl kas set --url URL", object: object)
        }
        return nil
    }

    /// IDs of the cameras whose units are to run: active, and nothing in the way.
    public var runningCameras: [String] {
        cameras.keys.sorted().filter { isRunning($0) }
    }

    func isRunning(_ id: String) -> Bool { cameras[id]?.active == true && obstacle(to: id) == nil }

    /// Unchecked, and with stand-ins for a relay or a KAS that is not there; nil for a source without a driver.
    func document(
        _ id: String, stateDirectory: String, recordings: String = CameraSettings.recordings
    ) -> CameraConfiguration? {
        guard let camera = cameras[id], let source = camera.documentSource(id, stateDirectory: stateDirectory) else {
            return nil
        }
        let stream = camera.streamName(id)
        let relay = relays[camera.relay]
        return CameraConfiguration(
            id: id, streamName: stream, source: source,
            relay: relay?.document(stream: stream) ?? .init(url: "rtmp://localhost/live/\(stream)"),
            kas: (kas ?? KeyAccessSettings(url: "https://localhost/kas")).document(stateDirectory: stateDirectory),
            policy: .init(dataAttributes: camera.attributes, dissem: camera.viewers),
            rotation: .init(seconds: camera.rotateSeconds), relayProfile: relay?.profile ?? .keepsMetadata,
            recording: camera.recording(in: "\(recordings)/\(id)", stateDirectory: stateDirectory),
            uplink: camera.uplink)
    }
}

extension CameraSettings {
    fileprivate func documentSource(_ id: String, stateDirectory: String) -> CameraConfiguration.Source? {
        switch try? CameraSource(source) {
        case .testPattern?: return .testPattern(video)
        case .file(let path)?: return .file(.init(path: path, loop: loop))
        case .device(let path)?:
            var device = device
            device.path = path
            (device.width, device.height, device.frameRate) = (video.width, video.height, video.frameRate)
            (device.bitrate, device.gopSeconds) = (video.bitrate, video.gopSeconds)
            device.overlay.name = showsName ? displayName(id) : nil
            device.encoderMemoryFile = "\(CameraDocumentField.runtimeDirectory)/\(id)/encoder.json"
            return .device(device)
        case .network(let url)?:
            var network = network
            network.url = url
            (network.user, network.passwordFile) = (user, passwordSecret.map(CredentialReference.to))
            network.audio = video.audio
            network.transcoding = .init(bitrate: video.bitrate, gopSeconds: video.gopSeconds)
            network.memoryFile = "\(stateDirectory)/network.json"
            return .network(network)
        case nil: return nil
        }
    }
}

extension CameraSettings {
    fileprivate func recording(in directory: String, stateDirectory: String) -> CameraConfiguration.Recording? {
        let occasions: CameraConfiguration.Recording.Occasions?
        switch record {
        case .off: return nil
        case .continuous where recordSchedule.isEmpty: occasions = nil
        case .continuous, .events:
            occasions = .init(
                sensors: record == .events, before: recordBefore, after: recordAfter, schedule: recordSchedule)
        }
        return .init(
            directory: directory, maxBytes: Self.bytes(recordGigabytes), maxDays: recordDays,
            minFreeBytes: Self.bytes(recordFreeGigabytes), keyCacheFile: "\(stateDirectory)/kas-archive-key.json",
            recoveryKey: recordRecoveryKey, occasions: occasions)
    }

    /// Nil where nothing differs from the defaults, so that cameras that know nothing of it stay as they are.
    fileprivate var uplink: CameraConfiguration.Uplink? {
        adapt && minBitrate == nil ? nil : .init(adapt: adapt, minBitrate: minBitrate)
    }

    private static func bytes(_ gigabytes: Double) -> Int64 { Int64((gigabytes * 1e9).rounded()) }
}

extension RelaySettings {
    func document(stream: String) -> CameraConfiguration.Relay {
        let hosts = redirectHosts.isEmpty ? nil : redirectHosts
        return .init(
            url: secret == nil ? url.map { Location.publishing($0, stream: stream) } : nil,
            urlFile: secret.map(CredentialReference.to), caFile: caFile, publicKeyPin: publicKeyPin,
            redirectHosts: hosts)
    }
}

extension KeyAccessSettings {
    func document(stateDirectory: String) -> KASConfiguration {
        KASConfiguration(
            url: url, token: secret.map { .file(CredentialReference.to($0)) } ?? .none,
            certificateAuthorityFile: caFile,
            publicKeyPin: publicKeyPin, keyIdentifier: keyIdentifiers,
            publicKeyCacheFile: "\(stateDirectory)/kas-public-key.json")
    }
}

/// Which key of the configuration a field of a camera's document comes from.
struct CameraDocumentField {
    /// Of the units of cameras (`RuntimeDirectory=`): outlives a process, and not a boot.
    static let runtimeDirectory = "/run/watchbox-camera"

    /// `camera`, `relay` or `kas`.
    var object: String
    var key: String
    var reason: String
    var hint: String

    /// - Parameter problem: as `CameraConfiguration.validate()` reports it.
    static func origin(of problem: ConfigurationProblem) -> CameraDocumentField {
        let field = problem.field
        let (object, key) = origin(ofField: field)
        if field.hasPrefix("source.device.") || field.hasPrefix("source.network.") || field.hasSuffix(".publicKeyPin") {
            // Names no field of the document, and quotes nothing but numbers.
            return CameraDocumentField(
                object: object, key: key, reason: "it \(problem.reason)", hint: problem.hint)
        }
        let hint = KeyTable.objects.first { $0.name == object }?.key(key)?.kind.hint ?? "Correct it"
        return CameraDocumentField(
            object: object, key: key,
            reason: field == "policy" ? "attributes and viewers are longer than readers accept" : "it is not possible",
            hint: field == "policy" ? "Use fewer or shorter entries" : hint)
    }

    /// Fields are called as their keys are, in the other spelling, but for these.
    private static let others = [
        "stream_name": "stream", "width": "size", "height": "size", "frame_rate": "rate", "gop_seconds": "gop",
        "stalls_after": "stall_after", "rotation": "rotate", "password_file": "secret",
        "max_bytes": "record_gigabytes", "max_days": "record_days", "min_free_bytes": "record_free_gigabytes",
        "recovery_key": "record_recovery_key", "before": "record_before", "after": "record_after",
        "schedule": "record_schedule",
    ]

    private static func origin(ofField field: String) -> (object: String, key: String) {
        var parts = field.split(separator: ".").map { snake($0.prefix { $0 != "[" }) }
        let first = parts.isEmpty ? "" : parts.removeFirst()
        switch (first, parts.first) {
        case ("relay", "url_file"): return ("relay", "secret")
        case ("relay", let key), ("kas", let key):
            let definition = KeyTable.object(first)
            return (first, key.flatMap { definition?.key($0)?.name } ?? "url")
        case ("rotation", _): return ("camera", "rotate_seconds")
        case ("policy", let key): return ("camera", key == "dissem" ? "viewers" : "attributes")
        case ("recording", _), ("uplink", _): break
        case ("source", _): parts.removeFirst(min(1, parts.count))
        default: parts = [first]
        }
        if parts.first == "transcoding" { parts.removeFirst() }
        let names = [parts.joined(separator: "_"), parts.first ?? ""].map { others[$0] ?? $0 }
        return ("camera", names.first { KeyTable.camera.key($0) != nil } ?? "source")
    }

    /// `snapshotRate` → `snapshot_rate`
    private static func snake(_ name: some StringProtocol) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
    }

    func object(of camera: CameraSettings?, id: String = "") -> String {
        switch object {
        case "relay": "relay.\(camera?.relay ?? "")"
        case "kas": "kas"
        default: "camera.\(id)"
        }
    }
}
