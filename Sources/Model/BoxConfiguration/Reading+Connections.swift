internal import CameraModel
internal import ErrorCatalog
internal import TOML

/// What can only be checked across several keys or objects.
extension Reading {
    mutating func check(_ settings: BoxSettings) {
        checkCounts(settings)
        let holdings = ["relay": "a user, a password or a stream key", "hook": "a token, or is a secret itself"]
        for candidate in candidates.values {
            guard let holding = holdings[candidate.definition.name], !candidate.written.contains("url"),
                !candidate.written.contains("secret")
            else { continue }
            report(
                .invalidValue, candidate, nil, "has neither url nor secret",
                "Set url, or secret when the URL holds \(holding)")
        }
        checkHooks(settings)
        checkServers(settings)
        // Two cameras that publish under one name would throw each other out.
        checkNoneShares(
            "stream", settings, "is the stream", "Give each camera a stream of its own"
        ) { id, camera in camera.streamName(id) }
        let csi = CameraConfiguration.Device.csiScheme
        let isOneCSI = settings.cameras.values.contains { $0.active && $0.source == csi }
        // A camera delivers to one program at a time; the other would wait for ever.
        checkNoneShares(
            "source", settings, "is the device", "Give each camera a device of its own: watchboxctl discover"
        ) { _, camera in
            guard case .device(let path)? = try? CameraSource(camera.source) else { return nil }
            // Beside another one at a ribbon cable, `csi:` could only be that, or none.
            return path.hasPrefix(csi) && isOneCSI ? csi : path
        }
        checkPulls(settings)
        for (id, camera) in settings.cameras { check(id, camera, settings) }
    }

    private mutating func checkCounts(_ settings: BoxSettings) {
        for (name, all, limit) in [
            ("camera", settings.cameras.keys.sorted(), BoxSettings.cameraLimit),
            ("relay", settings.relays.keys.sorted(), BoxSettings.relayLimit),
            ("hook", settings.hooks.keys.sorted(), BoxSettings.hookLimit),
        ] where all.count > limit {
            report(
                .invalidValue, Place(), of: all.dropFirst(limit).map { "\(name).\($0)" }, name,
                "is defined \(all.count) times, but a box has at most \(limit)", "Remove some")
        }
    }

    /// A camera may come later, or have gone; events of one that was misspelt are never sent.
    private mutating func checkHooks(_ settings: BoxSettings) {
        for (name, hook) in settings.hooks {
            guard let candidate = candidates["hook.\(name)"] else { continue }
            if !hook.cameras.allSatisfy({
                settings.cameras[$0] != nil || settings.quarantined["camera.\($0)"] != nil
            }) {
                report(
                    .invalidValue, candidate, "cameras", "names a camera that does not exist",
                    "Use IDs of cameras: watchboxctl camera list", isWarning: true)
            }
            let secrets = [
                ("secret", hook.secret, HookSettings.secretPrefix),
                ("token_secret", hook.tokenSecret, HookSettings.tokenSecretPrefix),
            ]
            for case (let key, let secret?, let prefix) in secrets where !secret.hasPrefix(prefix) {
                report(
                    .invalidValue, candidate, key, "names a secret that is not for a hook",
                    "Use a name that begins with \(prefix): no other secret of the box is sent to a hook's receiver")
            }
            if hook.publicKeyPin != nil, hook.secret == nil, hook.url?.hasPrefix("http://") == true {
                report(
                    .invalidValue, candidate, "public_key_pin", "is set for a URL without TLS, which shows no key",
                    "Use https://, or take the pin out")
            }
        }
    }

    private mutating func checkServers(_ settings: BoxSettings) {
        let servers = [
            ("relay_server", settings.relayServer.tlsCertificate, settings.relayServer.tlsKey),
            ("kas_server", settings.kasServer.tlsCertificate, settings.kasServer.tlsKey),
        ]
        for (name, certificate, key) in servers {
            guard let candidate = candidates[name], (certificate == nil) != (key == nil),
                candidate.written.contains("tls_certificate") != candidate.written.contains("tls_key")
            else { continue }
            let (present, absent) = key == nil ? ("tls_certificate", "tls_key") : ("tls_key", "tls_certificate")
            report(.invalidValue, candidate, present, "is set without \(absent)", "Set both, or none")
        }
        checkRelayAPI(settings.relayServer)
        checkForwards(settings.relayServer)
        let server = settings.kasServer
        if server.enabled, let candidate = candidates["kas_server"], !candidate.written.contains("tls_certificate"),
            !candidate.written.contains("tls_key"), ListenAddress(server.listen)?.isLoopback == false
        {
            report(
                .invalidValue, candidate, "listen", "is reached from other machines, but has no TLS",
                "Set tls_certificate and tls_key, or use 127.0.0.1:9443")
        }
    }

    private mutating func checkForwards(_ server: RelayServerSettings) {
        guard let candidate = candidates["relay_server"] else { return }
        for url in server.forward {
            guard let finding = Location.relay(url) else { continue }
            report(
                .invalidValue, candidate, "forward", "has an entry that \(finding.reason)",
                "Use rtmps://host/app, or put a URL with a secret into forward_file")
        }
    }

    private mutating func checkRelayAPI(_ server: RelayServerSettings) {
        guard server.enabled, let candidate = candidates["relay_server"], !candidate.written.contains("api_token"),
            let listen = server.apiListen, ListenAddress(listen)?.isLoopback == false
        else { return }
        report(
            .invalidValue, candidate, "api_listen", "is reached from other machines, but has no token",
            "Set api_token, or use 127.0.0.1:1985")
    }

    /// - Parameter thing: what only one active camera can have; nil: this one has none.
    private mutating func checkNoneShares(
        _ key: String, _ settings: BoxSettings, _ reason: String, _ hint: String,
        _ thing: (_ id: String, _ camera: CameraSettings) -> String?
    ) {
        var owners: [String: String] = [:]
        for (id, camera) in settings.cameras.sorted(by: { $0.key < $1.key }) where camera.active {
            guard let thing = thing(id, camera) else { continue }
            guard let owner = owners[thing] else {
                owners[thing] = id
                continue
            }
            guard let candidate = candidates["camera.\(id)"] else { continue }
            report(.invalidValue, candidate, key, "\(reason) of camera.\(owner), too", hint)
        }
    }

    private mutating func checkPulls(_ settings: BoxSettings) {
        // A limit that cannot be read is not the usual one: what ran with it goes on.
        guard settings.quarantined["box"] == nil, !isPart else { return }
        let pulled = settings.cameras.filter { $0.value.active && $0.value.isNetworkCamera }.keys.sorted()
        guard pulled.count > settings.pulls else { return }
        var place = Place()
        var position: TOMLPosition?
        if let candidate = candidates["box"], candidate.written.contains("pulls") {
            (place, position) = (candidate.place, candidate.place.position("pulls"))
        }
        report(
            .invalidValue, place, at: position, of: pulled.dropFirst(settings.pulls).map { "camera.\($0)" },
            "box.pulls", "allows \(settings.pulls) active network cameras, but there are \(pulled.count)",
            "Switch some off, or raise box.pulls")
    }

    private mutating func check(_ id: String, _ camera: CameraSettings, _ settings: BoxSettings) {
        guard let candidate = candidates["camera.\(id)"] else { return }
        // A relay that was misspelt is an error; the usual one may be defined later.
        if !isPart, settings.relays[camera.relay] == nil, camera.relay != CameraSettings().relay,
            settings.quarantined["relay.\(camera.relay)"] == nil
        {
            let meant = NearestName.nearest(camera.relay, in: Array(settings.relays.keys))
            report(
                .invalidValue, candidate, "relay",
                "is not the name of a relay\(meant.map { ", did you mean \"\($0)\"?" } ?? "")",
                "Define that relay, or use one that is there")
            return
        }
        if candidate.values["source"] == nil { return }
        checkDocument(id, candidate, settings)
        checkMasks(candidate, camera)
        checkUnused(candidate, camera)
        // A source of no known kind is reported with its key already.
        if let obstacle = settings.obstacle(to: id), camera.active, obstacle.code != .unsupportedSource {
            report(
                obstacle.code, candidate, nil, "cannot run: \(obstacle.why ?? obstacle.what)",
                obstacle.hint ?? obstacle.code.entry?.hint ?? "",
                isWarning: true)
        }
    }

    /// A setting of the stream that does nothing is reported to whoever wrote it into a file. What is stored was reported
    /// when it was set.
    private mutating func checkUnused(_ candidate: Candidate, _ camera: CameraSettings) {
        guard candidate.place.file != nil, case .network(let url)? = try? CameraSource(camera.source) else { return }
        var network = camera.network
        network.url = url
        for problem in network.unused(of: Set(candidate.values.keys)) {
            report(
                .invalidValue, candidate, problem.setting, "\(problem.reason), so it does nothing", problem.hint,
                isWarning: true)
        }
    }

    /// Other settings that a source has no use for wait for one that has; no one may believe that something is hidden
    /// that is not.
    private mutating func checkMasks(_ candidate: Candidate, _ camera: CameraSettings) {
        guard !camera.device.masks.isEmpty else { return }
        switch try? CameraSource(camera.source) {
        case .testPattern?, .file?, .network?:
            report(
                .invalidValue, candidate, "masks", "can only be applied to cameras of this machine",
                "Take them out, or use a source such as v4l2:/dev/video0")
        case .device?, nil: break
        }
    }

    /// The camera's process decides in the end what it takes.
    private mutating func checkDocument(_ id: String, _ candidate: Candidate, _ settings: BoxSettings) {
        guard let document = settings.document(id, stateDirectory: "/") else { return }
        do {
            try document.validate()
        } catch {
            for problem in error.problems {
                let place = CameraDocumentField.origin(of: problem)
                let source = place.object == "camera" ? candidate : candidates[place.object(of: settings.cameras[id])]
                // What is missing or was refused by the table is reported already.
                guard let source, source.values[place.key] != nil || problem.field == "policy" else { continue }
                report(.invalidValue, source, place.key, "is refused by the camera: \(place.reason)", place.hint)
            }
        }
    }
}
