internal import BoxConfiguration
internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog
internal import KeyAccessClient
internal import Platform
internal import Settings

extension DoctorCheck {
    static let networkChecks: [DoctorCheck] = [
        DoctorCheck(reading: "network", network),
        DoctorCheck(reading: "dns", nameServers),
        DoctorCheck("relay", examine: relay),
        DoctorCheck("kas", examine: keyAccess),
    ]

    private static func network(_ environment: Environment) -> Finding {
        let reading = NetworkReading.read(environment.boxPaths)
        guard let interface = reading.defaultInterface else {
            // A relay on the same network needs none.
            return .warn("there is no default route", .noGateway)
        }
        let carrier = SmallFile.number(environment.path("/sys/class/net/\(interface)/carrier"))
        if carrier == 0 { return .fail("\(interface) has no link", .noCarrier) }
        guard reading.addressCount > 0 else { return .fail("\(interface) has no address", .noAddress) }
        return .ok("default route by \(interface), \(counted(reading.addressCount, "address", "addresses"))")
    }

    private static func nameServers(_ environment: Environment) -> Finding {
        guard let text = SmallFile.text(environment.path("/etc/resolv.conf")) else {
            return .fail("/etc/resolv.conf cannot be read", .noDNS)
        }
        let servers = text.split(separator: "\n")
            .map { $0.split(whereSeparator: \.isWhitespace) }
            .filter { $0.count > 1 && $0[0] == "nameserver" }
        return servers.isEmpty
            ? .fail("/etc/resolv.conf names no server", .noDNS)
            : .ok("\(counted(servers.count, "name server")) set")
    }

    private static func relay(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("no configuration can be read", hint: "Run it with sudo")
        }
        guard !settings.relays.isEmpty else {
            return .warn("none is set, so no camera can publish", .incompleteCamera, hint: "Run: watchboxctl setup")
        }
        guard !context.environment.isOffline else { return CheckContext.Absence.offline.finding }
        var findings: [Finding] = []
        // As many as a box has; more would only make it late.
        for (name, relay) in settings.relays.sorted(by: { $0.key < $1.key }).prefix(8) {
            findings.append(await finding(of: name, relay))
        }
        return Finding.worst(of: findings) ?? .unknown("none was asked")
    }

    private static func finding(of name: String, _ relay: RelaySettings) async -> Finding {
        guard relay.secret == nil, let url = relay.url else {
            return .unknown("\(name): its address is a secret; its cameras report whether it is reached")
        }
        guard let endpoint = Endpoint(url) else { return .fail("\(name): its URL has no host", .invalidValue) }
        let outcome = await OwnThread.result { () throws(Reachability.Failure) in
            try Reachability.connect(endpoint.host, endpoint.port)
        }
        switch outcome {
        case .success(let times)?:
            return .ok(
                "\(name) \(endpoint.host): DNS \(times.lookup.tenths) ms, TCP \(times.connect.tenths) ms"
            )
        case .failure(.name(let why, _))?: return .fail("\(name): \(endpoint.host) is not found: \(why)", .noDNS)
        case .failure(.port(let why, _))?:
            return .fail("\(name): \(endpoint.host):\(endpoint.port) does not answer: \(why)", .relayUnreachable)
        case nil: return .unknown("\(name): no thread can be made")
        }
    }

    private static func keyAccess(_ context: CheckContext) async -> Finding {
        guard let settings = await context.settings() else {
            return .unknown("no configuration can be read", hint: "Run it with sudo")
        }
        guard let kas = settings.kas else {
            return .warn("none is set, so no camera can publish", .incompleteCamera, hint: "Run: watchboxctl setup")
        }
        guard !context.environment.isOffline else { return CheckContext.Absence.offline.finding }
        let begin = ContinuousClock.now
        let fingerprint: String
        do throws(KeyAccessError) {
            fingerprint = try await KASProbe.publicKeyFingerprint(
                KASConfiguration(
                    url: kas.url, certificateAuthorityFile: kas.caFile, publicKeyPin: kas.publicKeyPin))
        } catch {
            return .fail(
                "its public key cannot be fetched: \(error)",
                error.isDistrust ? .certificateRefused : .keyAccessUnreachable)
        }
        let time = (ContinuousClock.now - begin).milliseconds.tenths
        if case .success(let status) = await context.status(), !status.keyAccess.hasToken {
            return .warn(
                "public key read in \(time) ms, but there is no token", .missingSecret,
                hint: "Run: watchboxctl kas set --token-file FILE")
        }
        if case .success(let status) = await context.status() {
            if let code = status.keyAccess.code {
                return code == .tokenEnded
                    ? .fail("public key read in \(time) ms, but the box's token has ended", code)
                    : .warn("public key read in \(time) ms, but the box's token ends within a week", code)
            }
            let count = status.cameras.count { $0.stream.state == .live }
            if let own = status.keyAccess.camerasWithOwnToken, own < count {
                return .ok("public key read in \(time) ms; cameras use the box's token: the KAS made none of their own")
            }
        }
        return .ok("public key \(fingerprint.prefix(16))… read in \(time) ms")
    }
}
