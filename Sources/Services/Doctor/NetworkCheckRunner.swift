internal import BoxConfiguration
internal import CameraModel
public import ControlAPI
internal import Cryptography
internal import ErrorCatalog
internal import Glibc
internal import HTTPClient
internal import KeyAccessClient
internal import Platform
internal import RTMP
internal import RTMPTransport
internal import RelayProbe
internal import Settings

/// Looks at the way from this box to its relays and its KAS: name, port, certificate, delay, packet size, speed.
public struct NetworkCheckRunner: Sendable {
    public enum Failure: Error, Equatable, Sendable {
        /// No configuration can be read.
        case noConfiguration
        /// There is no relay of this name.
        case noRelay(String)
    }

    /// The most relays of one run.
    private static let maxRelays = 8

    private let environment: Environment
    private let relay: String?
    private let url: String?
    private let forcesUpload: Bool

    /// - Parameters:
    ///   - relay: only this one, and no KAS; nil: all of them, and the KAS.
    ///   - url: used instead of the relay's own, which is a secret. Its host and port are shown, nothing else of it.
    ///   - forcesUpload: measures the upload although cameras are live, which may lose frames then.
    public init(in environment: Environment, relay: String? = nil, url: String? = nil, forcesUpload: Bool = false) {
        self.environment = environment
        self.relay = relay
        self.url = url
        self.forcesUpload = forcesUpload
    }

    /// - Parameter progress: what is being looked at.
    public func run(
        progress: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(Failure) -> NetworkCheckReport {
        let context = CheckContext(environment)
        guard let settings = await context.settings() else { throw .noConfiguration }
        var peers: [NetworkPeer] = []
        var live: (count: Int, bitsPerSecond: Double) = (0, 0)
        if case .success(let status) = await context.status() {
            let streams = status.cameras.map(\.stream).filter { $0.state == .live }
            live = (streams.count, streams.reduce(0) { $0 + ($1.bitsPerSecond ?? 0) })
        }
        var relays = settings.relays.sorted { $0.key < $1.key }
        if let relay {
            relays = relays.filter { $0.key == relay }
            guard !relays.isEmpty else { throw .noRelay(relay) }
        }
        for (name, relay) in relays.prefix(Self.maxRelays) {
            let needed = settings.cameras.values.filter { $0.active && $0.relay == name && !$0.isNetworkCamera }
                .reduce(0.0) { $0 + Double($1.video.bitrate) }
            peers.append(await examine(name, relay, needed: needed, live: live, progress))
        }
        for (name, _) in relays.dropFirst(Self.maxRelays) {
            var peer = NetworkPeer(name: name)
            peer.add(
                "dns",
                .unknown(
                    "not examined: at most \(Self.maxRelays) relays in one run",
                    hint: "Run: watchboxctl netcheck --relay \(name)"))
            peers.append(peer)
        }
        if relay == nil, let kas = settings.kas { peers.append(await examine(kas, progress)) }
        return NetworkCheckReport(time: Clocks.wallSeconds, version: environment.version, peers: peers)
    }

    // MARK: - A relay

    private func examine(
        _ name: String, _ relay: RelaySettings, needed: Double, live: (count: Int, bitsPerSecond: Double),
        _ progress: @Sendable (String) -> Void
    ) async -> NetworkPeer {
        var peer = NetworkPeer(name: name)
        guard let text = url ?? (relay.secret == nil ? relay.url : nil) else {
            peer.add(
                "dns",
                .unknown(
                    "its address is a secret",
                    hint: "Put its URL into a file, and run: watchboxctl netcheck --relay \(name) --url-file FILE"))
            return peer
        }
        let place: (url: RTMPURL, isOurs: Bool)
        do throws(RTMPURLError) {
            place = try Self.place(text)
        } catch {
            peer.add("dns", .fail("\(error)", .invalidValue))
            return peer
        }
        guard await reach(place.url.host, place.url.port, .relayUnreachable, &peer, progress) else { return peer }
        let isEncrypted = place.url.scheme == .rtmps
        guard place.isOurs else {
            let text = "not measured: the URL names a stream, and a camera may be using it"
            if isEncrypted { peer.add("tls", .unknown(text)) }
            peer.addLink()
            peer.add("upload", .unknown(text))
            return peer
        }
        let isBusy = live.count > 0 && !forcesUpload
        progress("\(name): \(isBusy ? "TLS and RTMP" : "upload, at most 8 MB")")
        let begin = ContinuousClock.now
        let link = await Self.link(to: place.url, relay, measuresUpload: !isBusy)
        let time = (ContinuousClock.now - begin).milliseconds
        // Its round trip is that of a full line, and reported as such.
        let loaded = isBusy ? nil : link.facts.roundTrip.map { Double($0) / 1e6 }
        if let size = link.facts.pathMTU { peer.pathMTU = size }
        addTLS(isEncrypted, link, &peer)
        peer.addLink()
        switch link.outcome {
        case .failed(let error) where NetworkDiagnosis.distrusted(error) != nil:
            peer.add("upload", .unknown("not measured: the relay is not trusted"))
        case .failed(let error): peer.add("upload", NetworkDiagnosis.refused(error), milliseconds: time)
        case .published where isBusy:
            let rate = (live.bitsPerSecond / 1e6).tenths
            peer.add(
                "upload",
                .unknown(
                    "not measured: \(counted(live.count, "camera")) would lose frames; live now: \(rate) Mb/s",
                    hint: "Run: watchboxctl netcheck --upload"))
        case .published(let upload):
            peer.uploadBitsPerSecond = upload?.bitsPerSecond
            peer.uploadIsAtLeast = upload?.isAtLeast
            peer.uploadBytes = upload?.bytes
            peer.roundTripUnderLoadMilliseconds = loaded
            peer.add(
                "upload", NetworkDiagnosis.upload(upload, needed: needed, roundTrip: loaded), milliseconds: time)
        }
        return peer
    }

    /// And whether the stream's name is made up here.
    private static func place(_ text: String) throws(RTMPURLError) -> (url: RTMPURL, isOurs: Bool) {
        do {
            return (try RTMPURL(text), false)
        } catch .missingStreamName {
            let name = "watchbox-test-\(UInt32.random(in: 0 ... .max))"
            return (try RTMPURL(server: text, streamName: name), true)
        }
    }

    private static func link(to url: RTMPURL, _ relay: RelaySettings, measuresUpload: Bool) async -> RelayLink {
        do {
            let tls = try RTMPClientTLS(authorityFile: relay.caFile, pin: relay.publicKeyPin)
            return try await RelayLinkProbe(url: url, tls: tls).run(measuresUpload: measuresUpload)
        } catch {
            let error = error as? RTMPTransportError ?? RTMPTransportError(.tlsConfiguration("\(error)"))
            return RelayLink(outcome: .failed(error), facts: RTMPLinkFacts())
        }
    }

    private func addTLS(_ isEncrypted: Bool, _ link: RelayLink, _ peer: inout NetworkPeer) {
        if case .failed(let error) = link.outcome, let finding = NetworkDiagnosis.distrusted(error) {
            peer.add("tls", finding)
        } else if !isEncrypted {
            peer.add("tls", .ok("none (rtmp://): frames are sealed, the stream's name and key are not"))
        } else if link.facts.tlsVersion == nil {
            peer.add("tls", .unknown("not measured: the connection ended before"))
        } else {
            let now = Clocks.wallSeconds
            peer.tlsVersion = link.facts.tlsVersion
            peer.certificateDays = link.facts.certificateEnd.map { ($0 - now) / 86_400 }
            peer.add(
                "tls",
                NetworkDiagnosis.trusted(link.facts.tlsVersion, certificateEnd: link.facts.certificateEnd, now: now))
        }
    }

    // MARK: - Both

    /// Name and port. False: nobody answers.
    private func reach(
        _ host: String, _ port: UInt16, _ code: ErrorCode, _ peer: inout NetworkPeer,
        _ progress: @Sendable (String) -> Void
    ) async -> Bool {
        peer.host = host
        peer.port = Int(port)
        progress("\(peer.name): DNS and TCP")
        guard let endpoint = Endpoint(host: host, port: port) else {
            peer.add("dns", .fail("\(host) is not a name of a host", .invalidValue))
            return false
        }
        let outcome = await TimeLimit.within(.seconds(20)) {
            await OwnThread.result { () throws(Reachability.Failure) in
                var link: TCPLink?
                let times = try Reachability.connect(endpoint.host, endpoint.port) { link = TCPLink(descriptor: $0) }
                return (times: times, link: link)
            }
        }
        switch outcome {
        case .success(let (times, link))??:
            peer.lookupMilliseconds = times.lookup
            peer.connectMilliseconds = times.connect
            peer.roundTripMilliseconds = link?.roundTripMilliseconds
            peer.pathMTU = link?.pathMTU
            peer.add("dns", NetworkDiagnosis.lookup(times.lookup, host: host))
            peer.add("tcp", .ok("port \(port) in \(times.connect.tenths) ms"))
            return true
        case .failure(.name(let why, _))??: peer.add("dns", .fail("\(host) is not found: \(why)", .noDNS))
        case .failure(.port(let why, _))??:
            peer.add("dns", .ok(host))
            peer.add("tcp", .fail("\(host) port \(port) does not answer: \(why)", code))
        case .some(nil): peer.add("dns", .unknown("no thread can be made"))
        case nil:
            peer.add("dns", .fail("the resolver does not answer within 20 s", .noDNS))
        }
        return false
    }

    // MARK: - The KAS

    private func examine(_ kas: KeyAccessSettings, _ progress: @Sendable (String) -> Void) async -> NetworkPeer {
        var peer = NetworkPeer(name: "kas")
        guard let endpoint = Endpoint(kas.url) else {
            peer.add("dns", .fail("its URL has no host", .invalidValue))
            return peer
        }
        guard await reach(endpoint.host, endpoint.port, .keyAccessUnreachable, &peer, progress) else { return peer }
        progress("kas: TLS, and its public key")
        if kas.url.lowercased().hasPrefix("https:") {
            await addTLS(kas, endpoint, &peer)
        } else {
            peer.add("tls", .ok("none (http://), for this machine alone"))
        }
        peer.add("rtt", NetworkDiagnosis.roundTrip(peer.roundTripMilliseconds))
        let begin = ContinuousClock.now
        do throws(KeyAccessError) {
            _ = try await KASProbe.publicKeyFingerprint(
                KASConfiguration(
                    url: kas.url, certificateAuthorityFile: kas.caFile, publicKeyPin: kas.publicKeyPin))
            let time = (ContinuousClock.now - begin).milliseconds
            peer.add("key", .ok("its public key in \(time.tenths) ms"), milliseconds: time)
        } catch {
            peer.add(
                "key",
                .fail(
                    "its public key cannot be fetched: \(error)",
                    error.isDistrust ? .certificateRefused : .keyAccessUnreachable))
        }
        return peer
    }

    private func addTLS(_ kas: KeyAccessSettings, _ endpoint: Endpoint, _ peer: inout NetworkPeer) async {
        struct Seen: Sendable {
            var certificateEnd: Int64?
            var link: TCPLink?
        }
        let options = RawConnection.Options(
            host: endpoint.host, port: endpoint.port, trust: .system, connectTimeout: .seconds(8),
            certificateAuthorityFile: kas.caFile, publicKeyPin: kas.publicKeyPin)
        let outcome = await OwnThread.result { () throws(HTTPClientError) in
            let connection = try RawConnection(options) { false }
            return Seen(
                certificateEnd: connection.certificate.flatMap {
                    (try? CertificateValidity.all(pem: Array($0.utf8)))?.first?.end
                },
                link: TCPLink(descriptor: connection.descriptor))
        }
        switch outcome {
        case .success(let seen)?:
            let now = Clocks.wallSeconds
            peer.certificateDays = seen.certificateEnd.map { ($0 - now) / 86_400 }
            if let link = seen.link { peer.roundTripMilliseconds = link.roundTripMilliseconds }
            peer.add("tls", NetworkDiagnosis.trusted(nil, certificateEnd: seen.certificateEnd, now: now))
        case .failure(let error)?: peer.add("tls", .fail("\(error)", .certificateRefused))
        case nil: peer.add("tls", .unknown("no thread can be made"))
        }
    }
}

extension NetworkPeer {
    mutating func add(_ check: String, _ finding: Finding, milliseconds: Double = 0) {
        findings.append(
            DoctorFinding(
                check: "\(name) \(check)", state: finding.state, evidence: finding.evidence, code: finding.code,
                hint: finding.hint, milliseconds: (milliseconds * 10).rounded() / 10))
    }

    /// What the kernel knows of the connection.
    mutating func addLink() {
        add("rtt", NetworkDiagnosis.roundTrip(roundTripMilliseconds))
        add("mtu", NetworkDiagnosis.pathMTU(pathMTU))
    }
}
