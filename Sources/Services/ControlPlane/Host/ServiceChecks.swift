internal import BoxConfiguration
internal import ErrorCatalog
internal import Settings

/// What relay and KAS are set to do and this machine does not let them: ports that their units may not bind, files that
/// their users may not read. Valid by every rule of the configuration, and the unit would run into its start limit.
struct ServiceChecks: Sendable {
    /// Of units, the first with precedence.
    var directories: [String]
    /// Of systemd's libraries.
    var libraries: [String]

    /// - Parameter running: what runs; what is wrong with a service that is the same there is a warning only: it may
    ///   have been well when it started.
    func issues(_ settings: BoxSettings, running: BoxSettings? = nil) -> [ConfigurationIssue] {
        var issues: [ConfigurationIssue] = []
        let relay = settings.relayServer
        if relay.enabled {
            var found: [ConfigurationIssue] = []
            let place = Place(
                table: "relay_server", unit: "watchbox-relay.service", origin: origin("relay_server", settings))
            found += port(relay.listen, "listen", place)
            if let api = relay.apiListen { found += port(api, "api_listen", place) }
            let files = [
                ("publish_keys", relay.publishKeys, "relay-publish-keys"),
                ("play_keys", relay.playKeys, "relay-play-keys"),
                ("play_link_secret", relay.playLinkSecret, "relay-play-link-secret"),
                ("forward_file", relay.forwardFile, "relay-forwards"),
                ("forward_ca_file", relay.forwardCAFile, nil), ("api_token", relay.apiToken, "relay-api-token"),
                ("tls_certificate", relay.tlsCertificate, nil), ("tls_key", relay.tlsKey, "relay-tls-key"),
            ]
            found += files.compactMap { file($0.1, $0.0, credential: $0.2, place) }
            issues += relay == running?.relayServer ? found.map(\.asWarning) : found
        }
        let kas = settings.kasServer
        if kas.enabled {
            var found: [ConfigurationIssue] = []
            let place = Place(table: "kas_server", unit: "watchbox-kas.service", origin: origin("kas_server", settings))
            found += port(kas.listen, "listen", place)
            let files = [("tls_certificate", kas.tlsCertificate, nil), ("tls_key", kas.tlsKey, "kas-tls-key")]
            found += files.compactMap { file($0.1, $0.0, credential: $0.2, place) }
            issues += kas == running?.kasServer ? found.map(\.asWarning) : found
        }
        return issues
    }

    private struct Place {
        var table: String
        var unit: String
        var origin: String?
    }

    private func origin(_ table: String, _ settings: BoxSettings) -> String? {
        settings.origins[table].flatMap { $0 == "store" ? nil : $0 }
    }

    private func port(_ listen: String, _ key: String, _ place: Place) -> [ConfigurationIssue] {
        guard let port = HostAddress(listen: listen)?.port,
            let ports = UnitFiles.read(unit: place.unit, directories: directories).map({ UnitPorts(files: $0) })
        else { return [] }
        let reason: String
        var lines = "SocketBindAllow=tcp:\(port)"
        var isWarning = false
        switch ports.allows(port) {
        case .allowed: return []
        case .filtered where port >= 1024 || ports.isPrivileged:
            reason = "names port \(port), which \(place.unit) may not bind"
            isWarning = !BindFilter.acts(libraries: libraries)
        case .filtered, .privileged:
            reason = "names port \(port), and \(place.unit) may not bind one below 1024"
            lines +=
                ", AmbientCapabilities=CAP_NET_BIND_SERVICE, CapabilityBoundingSet=CAP_NET_BIND_SERVICE and PrivateUsers=no"
        }
        let allowed = (ports.allowed ?? []).map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
        }
        let choice = allowed.isEmpty ? "" : "Use \(allowed.joined(separator: ", ")), or allow it: "
        return [
            ConfigurationIssue(
                code: .invalidValue, file: place.origin, key: "\(place.table).\(key)", reason: reason,
                hint: "\(choice)systemctl edit \(place.unit), with [Service] and \(lines)",
                isWarning: isWarning)
        ]
    }

    private func file(_ path: String?, _ key: String, credential: String?, _ place: Place) -> ConfigurationIssue? {
        guard let path, let obstacle = OpenFile.obstacle(path) else { return nil }
        // Somebody may have given the unit the means.
        let isWarning =
            ![OpenFile.missing, OpenFile.noFile].contains(obstacle)
            && UnitFiles.read(unit: place.unit, directories: directories).map { UnitRights(files: $0).mayRead(path) }
                ?? false
        let next =
            credential.map {
                "Give it to the unit: systemd-creds encrypt --name=\($0) FILE /etc/credstore.encrypted/\($0), and name "
                    + "/run/credentials/\(place.unit)/\($0)"
            } ?? "Put it where everybody may read it, it is not a secret, for example in /etc/watchbox"
        return ConfigurationIssue(
            code: .unreadableFile, file: place.origin, key: "\(place.table).\(key)", reason: "\(path) \(obstacle)",
            hint: next, isWarning: isWarning)
    }
}

extension ConfigurationIssue {
    fileprivate var asWarning: ConfigurationIssue {
        var issue = self
        issue.isWarning = true
        return issue
    }
}
