internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Settings

/// What the runtime directory and systemd should look like under some settings. Made of values only.
struct RuntimeTarget: Equatable {
    struct Camera: Equatable {
        /// Its unit's configuration; nil when it cannot run.
        var file: UnitFile?
        /// Why it is not started though it is active.
        var obstacle: CodedError?
        /// Active, without obstacle, and nobody asked for it to be stopped.
        var runs: Bool
        /// Why it is not known whether it can run: nothing of it is changed, started or stopped until that is known.
        var doubt: CodedError?
    }

    var cameras: [String: Camera] = [:]
    /// Of relay, KAS and hooks, when they are enabled; by unit.
    var services: [String: UnitFile] = [:]
    /// For the health daemon.
    var health = HealthServiceSettings()

    /// - Parameters:
    ///   - hasSecret: whether the store has a secret of this name for this camera (its own, or the box's); throws while
    ///     the store cannot be read.
    ///   - instance: which camera of an ID it is (`CameraConfiguration.instance`).
    ///   - stopped: cameras that somebody asked to stop.
    ///   - problem: why the operator's files are not what runs.
    ///   - signingSecret: the secret with which a camera signs this stream; nil when the box does not sign.
    init(
        settings: BoxSettings, paths: ControlPaths, stopped: Set<String>, problem: String?,
        instance: (_ camera: String) -> String? = { _ in nil },
        signingSecret: (_ stream: String) -> String? = { _ in nil },
        hasSecret: (_ name: String, _ camera: String) throws(CodedError) -> Bool
    ) {
        for (id, camera) in settings.cameras {
            var doubt: CodedError?
            let (file, obstacle) = Self.file(id, camera, settings, paths, instance(id), signingSecret) { name, id in
                do throws(CodedError) {
                    return try hasSecret(name, id)
                } catch {
                    doubt = Self.doubt(error, name, id)
                    return true
                }
            }
            let canRun = camera.active && file != nil && obstacle == nil
            let runs = canRun && !stopped.contains(id)
            cameras[id] = Camera(
                file: canRun ? file : nil, obstacle: camera.active ? obstacle : nil, runs: runs,
                doubt: runs ? doubt : nil)
        }
        let relay = settings.relayServer
        if relay.enabled, let address = HostAddress(listen: relay.listen) {
            services[UnitName.relay] = .relay(
                RelayServiceSettings(
                    host: address.host, port: address.port, tlsCertificateFile: relay.tlsCertificate,
                    tlsKeyFile: relay.tlsKey, publishKeysFile: relay.publishKeys, isOpen: relay.isOpen,
                    stateDirectory: RelayServiceSettings.stateDirectory, playKeysFile: relay.playKeys,
                    playLinkSecretFile: relay.playLinkSecret, allow: relay.allow, deny: relay.deny,
                    api: relay.apiListen.flatMap { HostAddress(listen: $0) }.map {
                        .init(host: $0.host, port: $0.port, tokenFile: relay.apiToken)
                    }, forward: relay.forward.isEmpty ? nil : relay.forward, forwardFile: relay.forwardFile,
                    forwardCAFile: relay.forwardCAFile))
        }
        if settings.kasServer.enabled, let address = HostAddress(listen: settings.kasServer.listen) {
            var tls: KeyAccessServiceSettings.TLSFiles?
            if let certificate = settings.kasServer.tlsCertificate, let key = settings.kasServer.tlsKey {
                tls = KeyAccessServiceSettings.TLSFiles(certificateChainFile: certificate, privateKeyFile: key)
            }
            services[UnitName.keyAccess] = .kas(
                KeyAccessServiceSettings(
                    host: address.host, port: address.port, tls: tls,
                    keyEpochSeconds: Int64(settings.kasServer.keyEpochHours) * 3600,
                    keyOverlapSeconds: Int64(settings.kasServer.keyRetentionDays) * 86_400))
        }
        services[UnitName.hooks] = Self.hooks(settings)
        health = health(settings, problem)
    }

    /// Nil when nothing is to be reported to anyone.
    private static func hooks(_ settings: BoxSettings) -> UnitFile? {
        let hooks = settings.hooks.sorted { $0.key < $1.key }.filter(\.value.enabled).map { name, hook in
            HookServiceSettings.Hook(
                name: name, kind: hook.kind.rawValue, url: hook.secret == nil ? hook.url : nil, urlSecret: hook.secret,
                tokenSecret: hook.tokenSecret, events: hook.events.map(\.rawValue), cameras: hook.cameras,
                certificateAuthorityFile: hook.caFile, publicKeyPin: hook.publicKeyPin)
        }
        return hooks.isEmpty ? nil : .hooks(HookServiceSettings(box: settings.name, hooks: hooks))
    }

    private static func doubt(_ error: CodedError, _ name: String, _ id: String) -> CodedError {
        CodedError(
            error.code, "camera \(id) needs the secret \"\(name)\", and this box's store cannot be read",
            why: error.why ?? error.what, hint: error.hint, object: id)
    }

    private static func file(
        _ id: String, _ camera: CameraSettings, _ settings: BoxSettings, _ paths: ControlPaths, _ instance: String?,
        _ signingSecret: (_ stream: String) -> String?,
        _ hasSecret: (_ name: String, _ camera: String) -> Bool
    ) -> (file: UnitFile?, obstacle: CodedError?) {
        if let obstacle = settings.obstacle(to: id) { return (nil, obstacle) }
        let needed = [
            // A network camera without its password runs, and says so.
            (camera.isNetworkCamera ? nil : camera.secret, "watchboxctl camera password \(id)"),
            (settings.relays[camera.relay]?.secret, "watchboxctl relay edit \(camera.relay) --secret-file FILE"),
            (settings.kas?.secret, "watchboxctl kas set --token-file FILE"),
        ]
        for case (let name?, let next) in needed where !hasSecret(name, id) {
            return (
                nil,
                CodedError(
                    .missingSecret, "camera \(id) needs the secret \"\(name)\"",
                    why: "it is not in this box's store", hint: "Give it: \(next)", object: id)
            )
        }
        do {
            var configuration = try settings.cameraConfiguration(
                id, stateDirectory: paths.cameraState(id), recordings: paths.recordings)
            configuration.instance = instance
            // Until it has its key it runs without, and is started again then.
            if let name = signingSecret(camera.streamName(id)), hasSecret(name, id) {
                configuration.kas.signingKeyFile = CredentialReference.to(name)
            }
            return (.camera(configuration), nil)
        } catch {
            return (nil, error)
        }
    }

    private func health(_ settings: BoxSettings, _ problem: String?) -> HealthServiceSettings {
        let relays = settings.relays.sorted { $0.key < $1.key }.compactMap { name, relay in
            relay.url.flatMap { HostAddress(url: $0) }.map {
                HealthServiceSettings.Peer(name: name, host: $0.host, port: UInt16($0.port), tls: $0.isEncrypted)
            }
        }
        let kas = settings.kas.flatMap { HostAddress(url: $0.url) }.map {
            HealthServiceSettings.Peer(name: "kas", host: $0.host, port: UInt16($0.port), tls: $0.isEncrypted)
        }
        return HealthServiceSettings(
            reboot: settings.health.reboot, metricsListen: settings.health.metricsListen, relays: relays, kas: kas,
            cameras: settings.cameras.sorted { $0.key < $1.key }.compactMap { id, camera in
                cameras[id]?.runs == true ? HealthServiceSettings.Camera(id: id, relay: camera.relay) : nil
            }, configurationProblem: problem, quarantine: Self.quarantine(settings))
    }

    /// The first three, so that the line stays one.
    private static func quarantine(_ settings: BoxSettings) -> String? {
        let all = settings.quarantined.values.sorted { $0.object < $1.object }
        guard !all.isEmpty else { return nil }
        let more = all.count > 3 ? "; and \(all.count - 3) more" : ""
        return "quarantined: " + all.prefix(3).map { "\($0.object), \($0.reason)" }.joined(separator: "; ") + more
    }
}
