public import CameraModel
public import ErrorCatalog
internal import KeyAccessClient

extension BoxSettings {
    /// What the process of one camera is told. Secrets are named as `credential:NAME`, which the process looks for among
    /// the credentials of its unit.
    ///
    /// - Parameter stateDirectory: of the camera's unit; keeps the last good public key, and what was learned of a network
    ///   camera.
    /// - Throws: WB-8003 when there is no such camera, WB-1010 or WB-1011 when it cannot run, WB-1004 with the key when
    ///   the camera's process would refuse its settings.
    public func cameraConfiguration(
        _ id: String, stateDirectory: String
    ) throws(CodedError) -> CameraConfiguration {
        guard let camera = cameras[id] else {
            throw CodedError(
                .notFound, "There is no camera \(KeyText.shown(id))", object: "camera.\(KeyText.shown(id))")
        }
        if let obstacle = obstacle(to: id) { throw obstacle }
        guard let document = document(id, stateDirectory: stateDirectory) else {
            throw CodedError(.unsupportedSource, "Camera \(id) cannot run", object: "camera.\(id)")
        }
        do {
            try document.validate()
        } catch {
            let problem = error.problems[0]
            let place = CameraDocumentField.origin(of: problem)
            throw CodedError(
                .invalidValue, "`\(place.object(of: camera, id: id)).\(place.key)` is refused by the camera",
                why: place.reason, next: place.next, object: "camera.\(id)")
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
                next: KeyDefinition.Kind.source.advice, object: object)
        }
        if relays[camera.relay] == nil {
            return CodedError(
                .incompleteCamera, what, why: "its relay \(camera.relay) is not defined yet",
                next: "Run: watchboxctl relay add \(camera.relay) --url URL", object: object)
        }
        if kas == nil {
            return CodedError(
                .incompleteCamera, what, why: "no key access server is set, and nothing is sent unencrypted",
                next: "Run: watchboxctl kas set --url URL", object: object)
        }
        return nil
    }

    /// IDs of the cameras whose units shall run: active, and nothing in the way.
    public var runningCameras: [String] {
        cameras.keys.sorted().filter { isRunning($0) }
    }

    func isRunning(_ id: String) -> Bool { cameras[id]?.active == true && obstacle(to: id) == nil }

    /// Unchecked, and with stand-ins for a relay or a KAS that is not there; nil for a source without a driver.
    func document(_ id: String, stateDirectory: String) -> CameraConfiguration? {
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
            rotation: .init(seconds: camera.rotateSeconds), relayProfile: relay?.profile ?? .keepsMetadata)
    }
}

extension CameraSettings {
    fileprivate func documentSource(_ id: String, stateDirectory: String) -> CameraConfiguration.Source? {
        switch try? CameraSource(source) {
        case .testPattern?:
            .testPattern(
                .init(
                    width: width, height: height, frameRate: rate, bitrate: bitrate, gopSeconds: gop, audio: audio,
                    stallsAfter: stallAfter))
        case .file(let path)?: .file(.init(path: path, loop: loop))
        case .device(let path)?:
            .device(
                .init(
                    path: path, width: width, height: height, frameRate: rate, bitrate: bitrate, gopSeconds: gop,
                    pixelFormat: pixelFormat, encoder: encoder, rotation: rotation, flip: flip, masks: masks,
                    overlay: .init(time: showsTime, name: showsName ? displayName(id) : nil), controls: controls,
                    microphone: microphone,
                    encoderMemoryFile: "\(CameraDocumentField.runtimeDirectory)/\(id)/encoder.json"))
        case .network(let url)?:
            .network(
                .init(
                    url: url, user: user, passwordFile: passwordSecret.map(CredentialReference.to),
                    transport: transport, timestamps: timestamps, audio: audio, allowsBasic: allowsBasic, pin: pin,
                    snapshotRate: snapshotRate, profile: profile, rtspHost: rtspHost, rtspPort: rtspPort,
                    events: events, identity: identity, memoryFile: "\(stateDirectory)/network.json",
                    transcoding: .init(bitrate: bitrate, gopSeconds: gop)))
        case nil: nil
        }
    }
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
    var next: String

    /// - Parameter problem: as `CameraConfiguration.validate()` tells it.
    static func origin(of problem: ConfigurationProblem) -> CameraDocumentField {
        let keys: [(prefix: String, object: String, key: String)] = [
            ("streamName", "camera", "stream"), ("source.testPattern.width", "camera", "size"),
            ("source.testPattern.height", "camera", "size"), ("source.testPattern.frameRate", "camera", "rate"),
            ("source.testPattern.bitrate", "camera", "bitrate"), ("source.testPattern.gopSeconds", "camera", "gop"),
            ("source.testPattern.stallsAfter", "camera", "stall_after"),
            ("source.device.width", "camera", "size"), ("source.device.height", "camera", "size"),
            ("source.device.frameRate", "camera", "rate"), ("source.device.bitrate", "camera", "bitrate"),
            ("source.device.gopSeconds", "camera", "gop"), ("source.device.pixelFormat", "camera", "pixel_format"),
            ("source.device.encoderMemoryFile", "camera", "source"), ("source.device.encoder", "camera", "encoder"),
            ("source.device.rotation", "camera", "rotate"), ("source.device.flip", "camera", "flip"),
            ("source.device.masks", "camera", "masks"), ("source.device.overlay", "camera", "overlay"),
            ("source.device.controls", "camera", "controls"),
            ("source.device.microphone", "camera", "microphone"),
            ("source.network.passwordFile", "camera", "secret"), ("source.network.user", "camera", "user"),
            ("source.network.pin", "camera", "pin"), ("source.network.profile", "camera", "profile"),
            ("source.network.snapshotRate", "camera", "snapshot_rate"),
            ("source.network.rtspHost", "camera", "rtsp_host"), ("source.network.rtspPort", "camera", "rtsp_port"),
            ("source.network.identity.endpoint", "camera", "identity_endpoint"),
            ("source.network.identity.serial", "camera", "identity_serial"),
            ("source.network.identity.mac", "camera", "identity_mac"),
            ("source.network.transcoding.bitrate", "camera", "bitrate"),
            ("source.network.transcoding.gopSeconds", "camera", "gop"),
            ("source", "camera", "source"), ("relay.urlFile", "relay", "secret"),
            ("relay.publicKeyPin", "relay", "public_key_pin"), ("kas.publicKeyPin", "kas", "public_key_pin"),
            ("relay.redirectHosts", "relay", "redirect_hosts"), ("relay", "relay", "url"),
            ("kas", "kas", "url"), ("rotation", "camera", "rotate_seconds"), ("policy.dissem", "camera", "viewers"),
            ("policy", "camera", "attributes"),
        ]
        let field = problem.field
        let origin = keys.first { field.hasPrefix($0.prefix) }
        let key = origin?.key ?? "source"
        let object = origin?.object ?? "camera"
        if field.hasPrefix("source.device.") || field.hasPrefix("source.network.") || field.hasSuffix(".publicKeyPin") {
            // Names no field of the document, and quotes nothing but numbers.
            return CameraDocumentField(
                object: object, key: key, reason: "it \(problem.reason)", next: problem.next)
        }
        let advice = KeyTable.objects.first { $0.name == object }?.key(key)?.kind.advice ?? "Correct it"
        return CameraDocumentField(
            object: object, key: key,
            reason: field == "policy" ? "attributes and viewers are longer than readers accept" : "it is not possible",
            next: field == "policy" ? "Use fewer or shorter entries" : advice)
    }

    func object(of camera: CameraSettings?, id: String = "") -> String {
        switch object {
        case "relay": "relay.\(camera?.relay ?? "")"
        case "kas": "kas"
        default: "camera.\(id)"
        }
    }
}
