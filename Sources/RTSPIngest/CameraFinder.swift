internal import CameraModel
internal import ErrorCatalog
internal import HTTPClient
internal import Logging
internal import ONVIF
internal import ONVIFClient
internal import Synchronization

/// Finds an ONVIF camera's stream: asks the device where it is known to be, and where it was announced to be once it is
/// not there any more and who announced it has proved to be it. Used by the source's thread.
///
/// Certificates: the pin of the settings is a person's word, and counts for the ONVIF service as for the stream. Without it
/// the memory holds a pin for each of the two, because they may show different certificates: each is trusted as it was seen
/// first. Who knows a pin does not go back: an address without TLS that was announced or is remembered is not used then,
/// and no stream without TLS in place of an encrypted one. The address of the settings is used without TLS as long as the
/// service never showed a certificate: a pin may be that of the stream alone.
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
    /// Announced, and not the camera: not asked again and again.
    private var refused = RefusedAddresses()
    /// Of the certificate that the ONVIF service showed last, also when nothing else could be asked of it.
    private(set) var shownPin: String?
    /// Where the newest answer came from.
    private(set) var shownAddress: String?

    /// Nanoseconds for a whole description; each call of it has its own.
    private static let patience: UInt64 = 60_000_000_000

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
    }

    /// The address of the stream may not be right any more.
    func mistrust() { isStale = true }

    private var profileKey: String { network.profile ?? "main" }

    /// - Throws: why there is none.
    func stream(password: String?, memory: inout CameraMemory) throws(PullFault) -> Stream {
        if !isStale, let description {
            let profile = try CameraDevice.profile(network.profile, of: description.device.profiles)
            return Stream(url: try permitted(profile.url ?? "", memory), profile: profile.token)
        }
        var last: PullFault?
        for url in services(memory) {
            do throws(PullFault) {
                return try ask(url, password: password, memory: &memory)
            } catch {
                // Only where nobody, or something else, answers may the device be at another port.
                guard error.mayHaveMoved, !state.wakeup.isStopped else { throw error }
                if last == nil || last?.code == .cameraUnreachable { last = error }
            }
        }
        let fault = last ?? PullFault(.cameraUnreachable, "the camera has no address", mayHaveMoved: true)
        if let moved = try moved(password: password, memory: &memory) { return moved }
        // A camera whose ONVIF is away may well send its stream; another camera would send its own.
        guard fault.code != .identityNotProven, let remembered = memory.streams[profileKey] else { throw fault }
        return Stream(url: try permitted(remembered, memory), profile: nil)
    }

    private func services(_ memory: CameraMemory) -> [String] {
        var urls: [String] = []
        if let known = memory.serviceURL, isProtected(known, memory) { urls.append(known) }
        // A service whose certificate is known speaks TLS.
        for url in placed(memory.servicePin.map { .pinned($0) } ?? .firstUse) where !urls.contains(url) {
            urls.append(url)
        }
        return urls
    }

    /// Where the settings say that the service is, which say nothing of TLS.
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

    /// Whether a service that was announced or is remembered may be used: where a pin is known, with TLS only.
    private func isProtected(_ url: String, _ memory: CameraMemory) -> Bool {
        Self.isEncrypted(url) || (memory.servicePin == nil && (network.pin == nil || configured.contains(url)))
    }

    /// A stream whose certificate is known does not go on without TLS because somebody says so.
    private func permitted(_ told: String, _ memory: CameraMemory) throws(PullFault) -> String {
        let stream = network.placed(told)
        let wasEncrypted = memory.pin != nil || (memory.streams[profileKey].map(Self.isEncrypted) ?? false)
        guard wasEncrypted, network.pin ?? memory.pin != nil, !Self.isEncrypted(stream) else { return stream }
        throw PullFault(
            .certificateChanged, "the camera's stream was encrypted, and now it tells an address without encryption",
            next:
                "Switch encryption on in the camera again, or take its address anew: watchboxctl camera edit ID --pin none",
            ending: .person)
    }

    /// - Parameter proof: what was learned of a device while it proved to be the camera: the one that is asked is held to
    ///   it. Nil: it is asked where the settings or the memory say.
    func access(
        _ url: String, password: String?, memory: CameraMemory, proof: ONVIFDevice.Learnt? = nil
    ) -> ONVIFDevice.Access {
        let pin = network.pin ?? memory.servicePin ?? proof?.pin
        return ONVIFDevice.Access(
            url: url, user: network.user, password: password,
            // Readable only for the device that the settings name, not for one that announced itself.
            allowsPlainPassword: network.allowsBasic && proof == nil && configured.contains(url),
            trust: pin.map { .pinned($0) } ?? .firstUse,
            clock: proof?.clock ?? proof?.nextClock ?? memory.clock.flatMap { ClockCandidate(rawValue: $0) })
    }

    private func ask(
        _ service: String, password: String?, memory: inout CameraMemory, proof: ONVIFDevice.Learnt? = nil
    ) throws(PullFault) -> Stream {
        let camera = CameraDevice(access(service, password: password, memory: memory, proof: proof), logger: logger)
        let result = awaited { await Self.describe(camera.device) }
        let learnt = camera.device.learnt
        shownPin = learnt.pin
        shownAddress = learnt.address
        guard let result else {
            throw PullFault(.cameraTimeout, "the camera did not describe itself in time", mayHaveMoved: true)
        }
        let found: DeviceDescription
        switch result {
        case .success(let description): found = description
        case .failure(let error):
            // Where to go on, after as many refusals as a camera bears.
            memory.clock = learnt.nextClock?.rawValue ?? memory.clock
            throw PullFault(error)
        }
        if proof == nil { try check(found.device.identity) } else { try check(found.device.identity, proven: memory) }
        let profile = try CameraDevice.profile(network.profile, of: found.device.profiles)
        let url = try permitted(profile.url ?? "", memory)
        memory.serviceURL = learnt.url.isEmpty ? service : learnt.url
        memory.clock = learnt.clock?.rawValue ?? memory.clock
        memory.scheme = learnt.scheme?.rawValue ?? memory.scheme
        memory.servicePin = learnt.pin ?? memory.servicePin
        memory.serial = found.device.serial
        memory.mac = found.device.mac
        memory.endpoint = found.device.endpoint
        memory.streams[profileKey] = url
        description = found
        isStale = false
        state.device.withLock { $0 = camera }
        let statistics = CameraDevice.statistics(found.device, keeping: profile.token)
        state.change { _, network in
            network.device = statistics
            network.profile = profile.token
            network.clockAheadMilliseconds =
                (found.clock?.offsetMilliseconds ?? learnt.clockOffsetMilliseconds).map { Double($0) }
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
        var told = Monotonic.now
        let progressed = progressed
        return Awaited.result(state.wakeup, until: told &+ Self.patience) {
            guard Monotonic.now >= told &+ PullSupervision.step else { return }
            told = Monotonic.now
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
    private func check(_ found: DeviceIdentity) throws(PullFault) {
        guard let known = identity, known.matches(found) == false else { return }
        throw Self.other
    }

    /// Who proved to be the camera has to be the one that describes itself, too: by what the proof went by.
    private func check(_ found: DeviceIdentity, proven memory: CameraMemory) throws(PullFault) {
        guard let known = identity(memory) else { return }
        let pairs = [(known.serial, found.serial), (known.endpoint, found.endpoint), (known.mac, found.mac)]
        for case (let mine?, let theirs?) in pairs {
            guard mine == theirs else { throw Self.other }
            return
        }
        throw Self.other
    }

    private static var other: PullFault {
        PullFault(
            .identityNotProven, "another device than this camera answers at its address",
            next:
                "If you exchanged or reset it, accept the device: watchboxctl camera edit ID --accept-device; else look "
                + "for who answers there",
            mayHaveMoved: true)
    }

    /// As it was learned when the camera was added.
    private var identity: DeviceIdentity? {
        let identity = network.identity.map {
            DeviceIdentity(endpoint: $0.endpoint, serial: $0.serial, mac: $0.mac)
        }
        return identity?.isEmpty == false ? identity : nil
    }

    private func identity(_ memory: CameraMemory) -> DeviceIdentity? {
        if let identity { return identity }
        let remembered = DeviceIdentity(endpoint: memory.endpoint, serial: memory.serial, mac: memory.mac)
        return remembered.isEmpty ? nil : remembered
    }

    /// Asks who announced itself as this camera at another address to prove it.
    private func moved(password: String?, memory: inout CameraMemory) throws(PullFault) -> Stream? {
        let announcement = state.wishes.withLock { wishes in
            defer { wishes.announcement = nil }
            return wishes.announcement
        }
        guard let announcement, let identity = identity(memory) else { return nil }
        let trust = access("", password: nil, memory: memory).trust
        let offered =
            announcement.url.map { [$0] }
            ?? ONVIFDevice.urls(host: announcement.address, port: port, trust: trust)
        let known = [host] + [memory.address, memory.serviceURL.flatMap { Self.host(of: $0) }].compactMap { $0 }
        var failed: [String] = []
        for url in offered.prefix(6) {
            guard let there = Self.host(of: url), AnnouncedAddress.mayBeAsked(there, known: known),
                isProtected(url, memory), refused.permits(there, at: Monotonic.now)
            else {
                logger.debug("an announcement of this camera at \(DeviceURL.shown(url)) is not looked at")
                continue
            }
            var access = access(url, password: password, memory: memory)
            access.allowsPlainPassword = false
            let claimed = ONVIFDevice(access, logger: logger)
            switch awaited({ await claimed.prove(identity) }) {
            case .proven:
                refused.proven(there)
                logger.notice("the camera is at another address now: \(there)")
                let learnt = claimed.learnt
                return try ask(
                    learnt.url.isEmpty ? url : learnt.url, password: password, memory: &memory, proof: learnt)
            case .notProven(let reason):
                refused.refused(there, at: Monotonic.now)
                logger.warning(
                    "a device at \(there) claims to be this camera and does not prove it: \(reason)",
                    metadata: ["code": "\(ErrorCode.identityNotProven)"])
            case .failed(let error):
                logger.info("\(there), announced as this camera: \(error)")
                failed.append(there)
            case nil:
                // It was stopped, or answers so slowly that it is as good as none.
                failed.append(there)
                Self.note(failed, in: &refused)
                return nil
            }
        }
        // Only now: of one address, several ports are tried.
        Self.note(failed, in: &refused)
        return nil
    }

    private static func note(_ failed: [String], in refused: inout RefusedAddresses) {
        let now = Monotonic.now
        for address in Set(failed) where refused.permits(address, at: now) { refused.refused(address, at: now) }
    }

    /// The stream is asked for where the settings say.
    var isAtConfiguredAddress: Bool {
        state.device.withLock { $0 }.map { configured.contains($0.serviceURL) } ?? true
    }

    /// Without brackets; nil for what is no URL.
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
