internal import CameraModel
internal import ErrorCatalog
internal import HTTPClient
internal import Logging
internal import ONVIF
internal import ONVIFClient
internal import Platform
internal import Synchronization

/// Finds an ONVIF camera's stream: asks the device where it is known to be, and, once it is not there any more, where a
/// device shows the key of the certificate that is known. Used by the source's thread.
///
/// Certificates: the pin of the settings was set by a person, and counts for the ONVIF service as for the stream.
/// Without it the memory holds a pin for each of the two, because they may show different certificates: each is trusted
/// as it was seen first. Who knows a pin does not go back: another address without TLS is not used then, and no stream
/// without TLS in place of an encrypted one. Another host than that of the settings is asked with a pin alone, again
/// before every connection, and its stream is pulled only when that is TLS and has a known key, too. The address of the
/// settings is used without TLS as long as the service never showed a certificate: a pin may be that of the stream
/// alone.
final class CameraFinder {
    struct Stream: Equatable, Sendable {
        var url: String
        /// Its profile's token; nil when it is remembered only.
        var profile: String?
    }

    private let network: CameraConfiguration.Network
    private let host: String
    private let port: UInt16?
    private let path: String?
    private let state: SharedState
    private let logger: Logger
    /// Something is done, or is waited for: a watchdog should know.
    private let progressed: () -> Void
    private var description: DeviceDescription?
    /// The stream's address is to be asked for before the next attempt.
    private var isStale = true
    private(set) var moves: CameraMoves
    /// A login that is refused is not followed by another one in the same attempt.
    var showsOneLogin = false
    /// Of the certificate that the ONVIF service showed last, also when nothing else could be asked of it.
    private(set) var shownPin: String?
    /// Where the newest answer came from.
    private(set) var shownAddress: String?

    /// Nanoseconds for a whole description; each call of it has its own.
    private static let timeout: UInt64 = 60_000_000_000

    init(
        _ network: CameraConfiguration.Network, host: String, port: UInt16?, path: String?, state: SharedState,
        logger: Logger, progressed: @escaping () -> Void = {}
    ) {
        self.network = network
        self.host = host
        self.port = port
        self.path = path
        self.state = state
        self.logger = logger
        self.progressed = progressed
        moves = CameraMoves(network, state: state)
    }

    /// The address of the stream may not be right any more.
    func mistrust() { isStale = true }

    private var profileKey: String { network.profile ?? "main" }

    /// - Throws: why there is none.
    func stream(password: String?, memory: inout CameraCache) throws(PullFault) -> Stream {
        // At another host the service shows its key each time.
        if !isStale, let description, memory.serviceURL.flatMap(Self.host(of:)) == host {
            let profile = try CameraDevice.profile(network.profile, of: description.device.profiles)
            return Stream(url: try permitted(profile.url ?? "", memory), profile: profile.token)
        }
        var last: PullFault?
        for url in services(memory) {
            do throws(PullFault) {
                return try ask(url, password: password, memory: &memory)
            } catch {
                // Only where nothing, or something else, answers may the device be at another port.
                guard error.mayHaveMoved, !state.wakeup.isStopped else { throw error }
                if last == nil || last?.code == .cameraUnreachable { last = error }
            }
        }
        let fault = last ?? PullFault(.cameraUnreachable, "the camera has no address", mayHaveMoved: true)
        if let moved = try follow(password: password, memory: &memory) { return moved }
        // A camera whose ONVIF is away may well send its stream; another camera would send its own.
        guard fault.code != .identityNotProven, let remembered = memory.streams[profileKey],
            network.rtspHost != nil || Self.host(of: remembered) == host
        else { throw fault }
        return Stream(url: try permitted(remembered, memory), profile: nil)
    }

    private func services(_ memory: CameraCache) -> [String] {
        var urls: [String] = []
        if let known = memory.serviceURL, isProtected(known, memory) { urls.append(known) }
        // A service whose certificate is known speaks TLS.
        for url in placed(memory.servicePin.map { .pinned($0) } ?? .firstUse) where !urls.contains(url) {
            urls.append(url)
        }
        return urls
    }

    /// Where the settings say that the service is, which do not mention TLS.
    private var configured: [String] {
        placed(.firstUse) + placed(.pinned(""))
    }

    private func placed(_ trust: HTTPTrust) -> [String] {
        ONVIFDevice.urls(host: host, port: port, trust: trust).map { url in
            path.map { Self.replacing(path: $0, in: url) } ?? url
        }
    }

    private static func isEncrypted(_ url: String) -> Bool {
        let scheme = url.lowercased()
        return scheme.hasPrefix("https://") || scheme.hasPrefix("rtsps://")
    }

    /// Whether a service that is remembered may be used: at another host than that of the settings with a pin only, and
    /// where a pin is known with TLS only.
    private func isProtected(_ url: String, _ memory: CameraCache) -> Bool {
        let isAtHost = Self.host(of: url) == host
        if Self.isEncrypted(url) { return isAtHost || moves.key(memory) != nil }
        return isAtHost && memory.servicePin == nil && (network.pin == nil || configured.contains(url))
    }

    /// A stream whose certificate is known does not go on without TLS because someone says so.
    private func permitted(_ reported: String, _ memory: CameraCache) throws(PullFault) -> String {
        let stream = network.placed(reported)
        let wasEncrypted = memory.pin != nil || (memory.streams[profileKey].map(Self.isEncrypted) ?? false)
        guard wasEncrypted, network.pin ?? memory.pin != nil, !Self.isEncrypted(stream) else { return stream }
        throw PullFault(
            .certificateChanged, "the camera's stream was encrypted, and now it reports an address without encryption",
            hint:
                "Switch encryption on in the camera again, or take its address again: watchboxctl camera edit ID --pin none",
            ending: .person)
    }

    func access(_ url: String, password: String?, memory: CameraCache) -> ONVIFDevice.Access {
        let pin = network.pin ?? memory.servicePin
        var access = ONVIFDevice.Access(
            url: url, user: network.user, password: password,
            // Readable only for the device that the settings name.
            allowsPlainPassword: network.allowsBasic && configured.contains(url),
            trust: pin.map { .pinned($0) } ?? .firstUse,
            clock: memory.clock.flatMap { ClockCandidate(rawValue: $0) })
        if showsOneLogin { access.maxLogins = 1 }
        return access
    }

    private func ask(
        _ service: String, password: String?, memory: inout CameraCache
    ) throws(PullFault) -> Stream {
        // At another host than that of the settings, its key is all that speaks for it.
        let hasMoved = Self.host(of: service) != host
        let camera = CameraDevice(access(service, password: password, memory: memory), logger: logger)
        let result = awaited { await Self.describe(camera.device) }
        let learnedFacts = camera.device.learnedFacts
        shownPin = learnedFacts.pin
        shownAddress = learnedFacts.address
        guard let result else {
            throw PullFault(.cameraTimeout, "the camera did not describe itself in time", mayHaveMoved: true)
        }
        let found: DeviceDescription
        switch result {
        case .success(let description): found = description
        case .failure(let error):
            // Where to go on, after as many refusals as a camera bears.
            memory.clock = learnedFacts.nextClock?.rawValue ?? memory.clock
            throw PullFault(error)
        }
        try check(found.device.identity, hasMoved ? identity(memory) : identity)
        let profile = try CameraDevice.profile(network.profile, of: found.device.profiles)
        let url = try permitted(profile.url ?? "", memory)
        // Who only passes on what the service says has no key of the stream.
        guard !hasMoved || Self.isEncrypted(url) && (network.pin ?? memory.pin) != nil else {
            // As an earlier version may have left it: not where the camera is any more, so that it can be proposed.
            if memory.serviceURL == service { (memory.serviceURL, memory.address) = (nil, nil) }
            throw Self.elsewhere
        }
        memory.serviceURL = learnedFacts.url.isEmpty ? service : learnedFacts.url
        memory.clock = learnedFacts.clock?.rawValue ?? memory.clock
        memory.scheme = learnedFacts.scheme?.rawValue ?? memory.scheme
        memory.servicePin = learnedFacts.pin ?? memory.servicePin
        memory.serial = found.device.serial
        memory.mac = found.device.mac
        memory.endpoint = found.device.endpoint
        memory.streams[profileKey] = url
        description = found
        isStale = false
        state.device.withLock { $0 = camera }
        let statistics = CameraDevice.shown(found.device, keeping: profile.token)
        state.change { _, network in
            network.device = statistics
            network.profile = profile.token
            network.servicePin = learnedFacts.pin
            network.clockAheadMilliseconds =
                (found.clock?.offsetMilliseconds ?? learnedFacts.clockOffsetMilliseconds).map { Double($0) }
        }
        for repaired in found.repairedAddresses.prefix(8) {
            logger.info(
                "the camera gave \(DeviceURL.shown(repaired.given)), used is \(DeviceURL.shown(repaired.used))")
        }
        for remark in found.remarks.prefix(16) { logger.debug("\(remark)") }
        return Stream(url: url, profile: profile.token)
    }

    private func awaited<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value? {
        progressed()
        var reported = Clocks.monotonic
        let progressed = progressed
        return Awaited.result(state.wakeup, until: reported &+ Self.timeout) {
            guard Clocks.monotonic >= reported &+ PullSupervision.step else { return }
            reported = Clocks.monotonic
            progressed()
        } of: {
            await work()
        }
    }

    private static func describe(_ device: ONVIFDevice) async -> Result<DeviceDescription, ONVIFError> {
        do throws(ONVIFError) {
            return .success(try await device.describe())
        } catch {
            return .failure(error)
        }
    }

    /// Another camera at the address of this one does not go out under its name.
    private func check(_ found: DeviceIdentity, _ known: DeviceIdentity?) throws(PullFault) {
        guard let known, known.matches(found) == false else { return }
        throw Self.other
    }

    private static var other: PullFault {
        PullFault(
            .identityNotProven, "another device than this camera answers at its address",
            hint:
                "If you exchanged or reset it, accept the device: watchboxctl camera edit ID --accept-device; else look "
                + "for who answers there",
            mayHaveMoved: true)
    }

    private static var elsewhere: PullFault {
        PullFault(
            .identityNotProven,
            "the camera is at another address, and its stream there has no key that was known before",
            mayHaveMoved: true)
    }

    /// As it was learned when the camera was added.
    private var identity: DeviceIdentity? {
        let identity = network.identity.map {
            DeviceIdentity(endpoint: $0.endpoint, serial: $0.serial, mac: $0.mac)
        }
        return identity?.isEmpty == false ? identity : nil
    }

    private func identity(_ memory: CameraCache) -> DeviceIdentity? {
        if let identity { return identity }
        let remembered = DeviceIdentity(endpoint: memory.endpoint, serial: memory.serial, mac: memory.mac)
        return remembered.isEmpty ? nil : remembered
    }

    /// Goes where a device shows the key that is known. Nothing but a TLS handshake is made with any other.
    private func follow(password: String?, memory: inout CameraCache) throws(PullFault) -> Stream? {
        guard let key = moves.key(memory) else { return nil }
        let asked = services(memory)
        for announced in moves.candidates(memory, at: Clocks.monotonic) {
            let there = announced.address
            var isSilent = true
            var urls = ONVIFDevice.urls(host: there, port: port, trust: .pinned(key))
            if let reported = announced.url, Self.isEncrypted(reported), Self.host(of: reported) == there {
                urls.insert(reported, at: 0)
            }
            for url in urls.prefix(6) where !asked.contains(url) && !state.wakeup.isStopped {
                do throws(PullFault) {
                    let stream = try ask(url, password: password, memory: &memory)
                    moves.refused.proven(there)
                    logger.notice("the camera is at another address now, and shows its key there: \(there)")
                    return stream
                } catch {
                    // Beyond its key, what it says is only the camera's claim.
                    guard error.ending == .broken || error.ending == .away || error.code == .certificateChanged else {
                        throw error
                    }
                    if error == Self.elsewhere {
                        isSilent = false
                        moves.showedKey(there, at: Clocks.monotonic)
                    } else if error.code == .certificateChanged || error.code == .identityNotProven {
                        isSilent = false
                        logger.warning(
                            "a device at \(there) claims to be this camera and does not prove it: \(error.what)",
                            metadata: ["code": "\(ErrorCode.identityNotProven)"])
                    } else {
                        logger.debug("\(DeviceURL.shown(url)), where the camera may be: \(error.what)")
                        continue
                    }
                    break
                }
            }
            // Of one address, several ports were tried: it counts once.
            moves.refused.refused(there, at: Clocks.monotonic, isSilent: isSilent)
        }
        return nil
    }

    /// Without brackets; nil for an invalid URL.
    static func host(of url: String) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let authority = parts[1].prefix { $0 != "/" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    private static func replacing(path: String, in url: String) -> String {
        let parts = url.split(separator: "://", maxSplits: 1)
        guard parts.count == 2 else { return url }
        return "\(parts[0])://\(parts[1].prefix { $0 != "/" })\(path)"
    }
}
