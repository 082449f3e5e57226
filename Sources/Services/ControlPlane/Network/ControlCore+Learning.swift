internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Logging
internal import ONVIF

/// What control remembers of a network camera between two looks at it.
struct NetworkMemory {
    /// Remembered already.
    var learnedFacts: LearnedFacts?
    /// Number of the newest event that was passed on; nil before the first look.
    var lastEvent: UInt64?
    /// Of `CLOCK_BOOTTIME`: when its process was informed of an announcement, when an event said so, and when its last
    /// thumbnail was asked for.
    var announcedAt: Duration?
    var announcementReportedAt: Duration?
    var thumbnailAt: Duration?
    var thumbnailStoredAt: Duration?
    var allowance = EventAllowance()
    /// Where it seems to have moved, as its process said last.
    var moves: [NetworkStatistics.Move] = []
    /// Of `CLOCK_BOOTTIME`: since when, and when an event reported it; and which that event named.
    var movesSince: Duration?
    var movesReportedAt: Duration?
    var movesReported: [String] = []
    /// Of its certificates, as they are known.
    var keys: Set<String> = []
    /// Where it was asked who it is, without a login, and what it reported of what was not known.
    var identifiedAddress: String?
    var identity: DeviceIdentity?

    struct LearnedFacts: Equatable {
        var device: NetworkStatistics.Device?
        var address: String?
        var port: Int?
        var isLive: Bool
    }
}

extension ControlCore {
    /// What the processes of network cameras have learned and heard, out of what they say of themselves.
    func observeNetwork(_ streams: [StreamDocument]) {
        let known = Set(streams.map(\.camera))
        network = network.filter { known.contains($0.key) }
        thumbnails = thumbnails.filter { known.contains($0.key) }
        for stream in streams {
            guard let statistics = stream.statistics?.capture?.network, speaksOfItsSource(stream) else { continue }
            network[stream.camera, default: NetworkMemory()].keys = Set(
                [statistics.pin, statistics.servicePin].compactMap { $0 })
            learn(stream.camera, statistics)
            report(of: stream.camera, statistics)
        }
    }

    /// Not of a source before, or of the camera that had its ID: the process has begun with that, and does not know
    /// better.
    func speaksOfItsSource(_ stream: StreamDocument) -> Bool {
        guard let capture = stream.statistics?.capture else { return false }
        return capture.path == current.settings.cameras[stream.camera]?.source
    }

    // MARK: What is remembered

    /// Its unit does not restart for it: what the process works with is in its settings.
    private func learn(_ id: String, _ statistics: NetworkStatistics) {
        let learnedFacts = NetworkMemory.LearnedFacts(
            device: statistics.device, address: statistics.address, port: statistics.port,
            isLive: statistics.state == .live)
        guard network[id]?.learnedFacts != learnedFacts, memory != nil else { return }
        // Once: a process that says what is not taken is not asked to say it again every other second.
        network[id, default: NetworkMemory()].learnedFacts = learnedFacts
        var reported = LearnedCamera(learnedFacts.device, address: learnedFacts.address, port: learnedFacts.port)
        if learnedFacts.isLive { reported.lastConnected = clock.seconds }
        keep(reported, of: id)
    }

    /// For people and for finding the camera again; nothing goes by it. Of a camera of a file nothing is remembered.
    func keep(_ learned: LearnedCamera, of id: String) {
        guard let camera = rememberedCamera(id) else { return }
        do {
            try memory?.learned(learned, of: camera.uuid, at: camera.source)
        } catch {
            logger.warning(
                "what was learned of camera \(id) is not remembered: \(CodedError(of: error).what)",
                metadata: ["camera": "\(id)"])
        }
    }

    func remembered(_ id: String) -> LearnedCamera? {
        guard let camera = rememberedCamera(id) else { return nil }
        return try? memory?.camera(camera.uuid, at: camera.source)
    }

    func rememberedCamera(_ id: String) -> StoredCamera? {
        current.settings.origins["camera.\(id)"] == "store" ? current.store.camera(id) : nil
    }

    // MARK: Events

    /// Motion, tamper and inputs as the camera reported them.
    private func report(of id: String, _ statistics: NetworkStatistics) {
        // What happened before the first look was reported by whoever looked then; a count that went back is a new process.
        guard let last = network[id]?.lastEvent else {
            network[id, default: NetworkMemory()].lastEvent = statistics.eventCount
            return
        }
        let seen = last <= statistics.eventCount ? last : 0
        network[id]?.lastEvent = statistics.eventCount
        let new = statistics.events.filter { $0.number > seen && $0.number <= statistics.eventCount }
            .sorted { $0.number < $1.number }
        let now = clock.sinceBoot()
        let reported = network[id]?.allowance.take(new.count, at: now) ?? 0
        for event in new.suffix(reported) {
            let source = event.source.map { Printable.text($0, limit: 64) }
            let typed = SensorEvent.Kind(rawValue: event.kind).map {
                SensorEvent(kind: $0, isActive: event.isActive, source: source)
            }
            let kind = typed?.kind == .digitalInput ? "digital input" : Printable.text(event.kind, limit: 64)
            let what = source.map { "\(kind) (\($0))" } ?? kind
            let text =
                switch event.isActive {
                case true?: "\(what) began"
                case false?: "\(what) ended"
                case nil: what
                }
            hub.publish(.camera, object: id, text, sensorEvent: typed)
        }
        let missed = statistics.eventCount - seen
        if missed > UInt64(reported) { network[id]?.allowance.withhold(missed - UInt64(reported)) }
        if let rest = network[id]?.allowance.summary(at: now) {
            hub.publish(.camera, object: id, "\(rest) more events, not reported one by one")
        }
    }
}

extension LearnedCamera {
    init(_ device: NetworkStatistics.Device?, address: String?, port: Int?) {
        self.init(
            manufacturer: device?.manufacturer, model: device?.model, firmware: device?.firmware,
            identity: DeviceIdentity(endpoint: device?.endpoint, serial: device?.serial, mac: device?.mac),
            address: address, port: port,
            profiles: device.flatMap { $0.profiles.isEmpty ? nil : $0.profiles.prefix(64).map { StreamProfile($0) } })
    }

    init(_ report: StreamTestReport) {
        self.init(report.device, address: report.address, port: report.port)
    }
}

extension StreamProfile {
    /// With nothing for what the camera did not report.
    init(_ reported: NetworkStatistics.Profile) {
        self.init(
            id: reported.token, name: reported.name, source: reported.url ?? "", width: reported.width ?? 0,
            height: reported.height ?? 0, rate: reported.rate ?? 0, codec: reported.codec ?? "",
            bitrate: reported.bitrate,
            gop: reported.gop, service: reported.service, snapshot: reported.snapshotURL)
    }
}

extension NetworkStatistics.Profile {
    /// The one that the setting `profile` means: a token, `main` or nil for the largest image, `sub` for the smallest.
    static func used(_ profiles: [Self], requested: String?) -> Self? {
        if let named = profiles.first(where: { $0.token == requested }) { return named }
        func pixels(_ profile: Self) -> Int {
            guard let width = profile.width, let height = profile.height, (1...65_535).contains(width),
                (1...65_535).contains(height)
            else { return 0 }
            return width * height
        }
        let sized = profiles.filter { pixels($0) > 0 }
        switch requested {
        case nil, "main": return sized.max { pixels($0) < pixels($1) } ?? profiles.first
        case "sub": return sized.min { pixels($0) < pixels($1) } ?? profiles.last
        default: return nil
        }
    }
}
