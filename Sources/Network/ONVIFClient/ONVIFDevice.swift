public import HTTPClient
public import Logging
public import ONVIF
internal import Synchronization

/// An ONVIF device and what can be asked of it. From any task; at most two calls are under way at once.
///
/// The first call reads the device's clock without showing who asks; after it, `LoginDialogue` finds the login that the
/// device accepts, and stays with it.
public final class ONVIFDevice: Sendable {
    /// One thing that the device announced.
    public typealias Event = EventNotification
    /// A place that the device's motors remember.
    public typealias Preset = PTZMessages.Preset

    let access: Access
    let logger: Logger
    let client = HTTPClient(
        configuration: HTTPClient.Configuration(plainHTTP: .anywhere, idleTime: .seconds(5), maximumRequests: 16))
    let gate = CallGate(2)
    /// The device's clock is read by one, and the others wait.
    let clockGate = CallGate(1)
    let state: Mutex<DeviceState>
    /// How long a reading of the device's clock is not doubted.
    let clockMilliseconds: UInt64
    /// Nanoseconds until a subscription that was refused is asked for again.
    let refusalPause: UInt64

    /// Sends nothing yet.
    public convenience init(_ access: Access, logger: Logger) {
        self.init(access, clockMilliseconds: 30_000, logger: logger)
    }

    init(
        _ access: Access, clockMilliseconds: UInt64, refusalPause: UInt64 = PullPointDialogue.refusalPause,
        logger: Logger
    ) {
        self.access = access
        self.refusalPause = refusalPause
        self.clockMilliseconds = clockMilliseconds
        self.logger = logger
        state = Mutex(DeviceState(url: access.url, trust: access.trust))
    }

    /// Of the device service: as given, or with the scheme that was found.
    var serviceURL: String { state.withLock { $0.url } }

    /// Where device services are found at this host, the most probable first: at this port alone when there is one, and
    /// with TLS alone when a pin is known.
    public static func urls(host: String, port: UInt16?, trust: HTTPTrust = .firstUse) -> [String] {
        let path = "/onvif/device_service"
        var isPinned = false
        if case .pinned = trust { isPinned = true }
        func url(_ port: UInt16) -> String {
            let scheme = isPinned || port == 443 ? "https" : "http"
            let usual: UInt16 = scheme == "https" ? 443 : 80
            return DeviceURL(scheme: scheme, host: host, port: port == usual ? nil : port, rest: path).text
        }
        if let port { return [url(port)] }
        return (isPinned ? [443, 2020, 8000, 8899, 8080] : [80, 443, 2020, 8000, 8899, 8080]).map { url($0) }
    }

    public var learnedFacts: LearnedFacts {
        state.withLock { state in
            var learnedFacts = LearnedFacts()
            learnedFacts.clock = state.login?.provenReading?.candidate
            learnedFacts.clockOffsetMilliseconds =
                (state.login?.provenReading ?? state.clock?.candidates.readings.first)?.offset
            learnedFacts.scheme = state.login?.provenScheme
            learnedFacts.pin = state.pin
            learnedFacts.address = state.address
            learnedFacts.url = state.url
            learnedFacts.nextClock = state.login?.nextCandidate
            return learnedFacts
        }
    }

    /// Reads the device's clock again: without a login, and with one when it wants that.
    public func clock() async throws(ONVIFError) -> CameraClock {
        try await readClock()
        if state.withLock({ $0.clock?.isReported }) == false, access.user != nil {
            try? await readClockWithLogin()
        }
        guard let clock = knownClock else {
            throw .malformed(operation: "GetSystemDateAndTime", reason: "no time in it")
        }
        return clock
    }

    /// Nil before it was read.
    var knownClock: CameraClock? {
        state.withLock { state in
            guard let clock = state.clock else { return nil }
            let proven = state.login?.provenReading
            let reading =
                proven ?? clock.candidates.readings.first ?? ClockCandidates.Reading(candidate: .own, offset: 0)
            return CameraClock(
                candidate: reading.candidate, isProven: proven != nil, offsetMilliseconds: reading.offset,
                zone: clock.zone)
        }
    }

    /// Asks for a key frame at once.
    public func setSynchronizationPoint(profile: String) async throws(ONVIFError) {
        let services = try await services()
        let known = state.withLock { $0.profiles?.first { $0.token == profile }?.service }
        let service = known ?? (services.media2 != nil ? .media2 : .media)
        _ = try await call(service.synchronizationRequest(profile: profile), at: url(of: service, services))
    }
}
