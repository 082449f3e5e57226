internal import BoxReadings
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// The network layer by layer: the lowest one that fails is named, those above it are reported as unknown.
enum NetworkChecks {
    struct Outcome: Equatable, Sendable {
        var findings: [Finding]
        /// For L3: carrier, and then no address or no gateway.
        var link: EscalationLadder.Link?
    }

    static func local(_ reading: NetworkReading) -> Outcome {
        let names = reading.interfaces.map(\.name).joined(separator: ", ")
        guard !reading.interfaces.isEmpty else {
            return Outcome(findings: [
                Finding(.networkLink, nil, .unknown, "this machine shows no network interface"),
                Finding(.networkAddress, nil, .unknown, "there is no interface"),
                Finding(.networkGateway, nil, .unknown, "there is no interface"),
            ])
        }
        let linked = reading.interfaces.filter(\.hasCarrier)
        guard let first = linked.first else {
            return Outcome(findings: [
                Finding(.networkLink, nil, .fail, "no carrier on \(names)", code: .noCarrier),
                Finding(.networkAddress, nil, .unknown, "there is no link"),
                Finding(.networkGateway, nil, .unknown, "there is no link"),
            ])
        }
        let link = Finding(
            .networkLink, nil, .ok, "carrier on \(linked.map(\.name).joined(separator: ", "))")
        guard let addressed = linked.first(where: { !$0.addresses.isEmpty }) else {
            let why = "\(first.name) has carrier and no address"
            return Outcome(
                findings: [
                    link, Finding(.networkAddress, nil, .fail, why, code: .noAddress),
                    Finding(.networkGateway, nil, .unknown, "there is no address"),
                ], link: .init(interface: first.name, reason: why))
        }
        let address = Finding(
            .networkAddress, nil, .ok, "\(addressed.name): \(addressed.addresses.prefix(4).joined(separator: ", "))")
        let (gateway, trouble) = gateway(reading, interface: addressed.name)
        return Outcome(findings: [link, address, gateway], link: trouble)
    }

    private static func gateway(
        _ reading: NetworkReading, interface: String
    ) -> (Finding, EscalationLadder.Link?) {
        guard let gateway = reading.gateway else {
            if reading.defaultInterface != nil {
                return (
                    Finding(
                        .networkGateway, nil, .unknown, "the default route has no IPv4 gateway that could be asked"),
                    nil
                )
            }
            let why = "\(interface) has an address and no default route"
            return (Finding(.networkGateway, nil, .warn, why, code: .noGateway), nil)
        }
        switch gateway.neighbour {
        case .known:
            return (Finding(.networkGateway, nil, .ok, "\(gateway.address) answers on \(gateway.interface)"), nil)
        case .unasked:
            return (
                Finding(
                    .networkGateway, nil, .unknown,
                    "no program has asked for \(gateway.address) on \(gateway.interface)"),
                nil
            )
        case .silent:
            let why = "\(gateway.address) does not answer on \(gateway.interface)"
            return (
                Finding(.networkGateway, nil, .fail, why, code: .noGateway),
                .init(interface: gateway.interface, reason: why)
            )
        }
    }

    /// Of one relay or the key access server, and of the name server that had to be asked for it.
    static func peer(
        _ peer: HealthServiceSettings.Peer, _ reading: PeerReading, as check: CheckName
    ) -> [Finding] {
        let place = "\(peer.host) port \(peer.port)"
        let code: ErrorCode = check == .kas ? .keyAccessUnreachable : .relayUnreachable
        func names(_ state: HealthState, _ evidence: String) -> [Finding] {
            PeerReading.isAddress(peer.host) ? [] : [Finding(.networkDNS, peer.host, state, evidence, code: .noDNS)]
        }
        switch reading {
        case .vouched(let evidence):
            return [Finding(check, peer.name, .ok, evidence)] + names(.ok, "its stream is running")
        case .connected(let address, let milliseconds):
            return [
                Finding(check, peer.name, .ok, "\(place) (\(address)) took a connection in \(milliseconds.tenths) ms")
            ] + names(.ok, "\(peer.host) is \(address)")
        case .noNameServer(let why):
            return [Finding(check, peer.name, .unknown, "its name \(peer.host) could not be looked up")]
                + names(.fail, "\(peer.host) could not be looked up: \(why)")
        case .noSuchName:
            return [Finding(check, peer.name, .fail, "there is no host \(peer.host)", code: code)]
                + names(.ok, "the name server answers, and knows no \(peer.host)")
        case .refused(let why):
            return [Finding(check, peer.name, .fail, why, code: code)] + names(.ok, "\(peer.host) was found")
        }
    }

    /// The monitor speaks no TLS: the process that does would have to report when a certificate expires.
    static func certificate(_ peer: HealthServiceSettings.Peer) -> Finding {
        Finding(
            .certificate, peer.name, .unknown,
            "the end of its certificate is not reported; one that has expired is refused, and reported as WB-4202")
    }
}
