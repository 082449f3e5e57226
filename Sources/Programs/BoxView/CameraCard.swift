internal import CameraModel
internal import Console
internal import ControlAPI
internal import ErrorCatalog

/// One camera: whether it is live, how it is viewed and where it goes come first; then what it is and how it is set.
enum CameraCard {
    typealias Facts = [(String, String)]

    static func lines(_ camera: CameraDocument, at place: CameraContext?, style: Style) -> [String] {
        var groups: [(title: String, facts: Facts)] = [("Camera", identity(camera))]
        groups += CameraSettingText.groups(camera.settings, source: camera.source)
        if !camera.profiles.isEmpty { groups.append(("What it offers", camera.profiles.map(profile))) }
        if let statistics = camera.stream.statistics {
            groups.append(("Since its start", running(statistics)))
        }
        let first = standing(camera, at: place)
        let width = ([first] + groups.map(\.facts)).joined().map { DisplayWidth.of($0.0) }.max() ?? 0
        var lines = Card.lines(camera.id, StatusView.state(of: camera.stream), first, style, nameWidth: width)
        for group in groups where !group.facts.isEmpty {
            lines += ["", "  " + style.paint(group.title, .strong)]
            lines += Card.facts(group.facts, style, nameWidth: width)
        }
        return lines
    }

    // MARK: What matters first

    private static func standing(_ camera: CameraDocument, at place: CameraContext?) -> Facts {
        let stream = camera.stream
        var facts: Facts = []
        if let next = next(camera) { facts.append(("Next", next)) }
        let sends = [
            stream.framesPerSecond.map { "\(Quantity.tenths($0)) fps" }, stream.bitsPerSecond.map(Quantity.bitRate),
            stream.acknowledgedSecondsAgo.map { "acknowledged by the relay \(Quantity.time(seconds: $0)) ago" },
        ].compactMap(\.self)
        if !sends.isEmpty {
            facts.append((stream.state == .live ? "Sends" : "Last sent", sends.joined(separator: ", ")))
        }
        if let recording = stream.statistics?.recording {
            facts.append(("Recording", RecordingView.line(recording, camera: camera.id)))
        }
        guard let place else {
            if let relay = stream.relay { facts.append(("Relay", relay)) }
            return facts
        }
        if let command = place.playCommand(stream.stream) { facts.append(("View", command)) }
        facts.append(("Relay", relay(stream, place.relay)))
        facts.append(("KAS", KeyAccessText.line(place.keyAccess)))
        return facts
    }

    private static func relay(_ stream: StreamDocument, _ relay: RelayDocument?) -> String {
        let name = stream.relay ?? "-"
        guard let relay else {
            return "\(name), which is not set: watchboxctl relay add \(ShellWord.quoted(name)) --url URL"
        }
        return "\(name), "
            + (relay.url.map { CameraContext.address($0, stream.stream) }
                ?? "its URL is a secret; stream \(stream.stream)")
    }

    /// What helps a stream that is not live; nil when nothing needs to be done.
    static func next(_ camera: CameraDocument) -> String? {
        let (stream, id) = (camera.stream, ShellWord.quoted(camera.id))
        guard camera.isActive else { return "watchboxctl camera enable \(id)" }
        switch stream.state {
        case .live: return nil
        case .stopped where stream.code == nil: return "watchboxctl stream start \(id)"
        case .starting where stream.code == nil: return nil
        case .starting, .waiting, .stopped, .failed, .unknown: break
        }
        // The catalog may send people to this very card.
        let step = stream.hint ?? stream.code?.entry?.hint(camera: camera.id, relay: stream.relay)
        guard let step, !step.contains("camera show") else { return "watchboxctl logs \(id)" }
        return NextStep.text(step)
    }

    // MARK: The rest

    private static func identity(_ camera: CameraDocument) -> Facts {
        var facts: Facts = [
            ("Name", camera.name), ("Source", camera.source), ("Active", camera.isActive ? "yes" : "no"),
            ("Defined in", camera.origin == "store" ? "this box, by command or dashboard" : camera.origin),
        ]
        if let user = camera.user {
            facts.append(("User", "\(user), password \(camera.hasPassword ? "stored" : "MISSING")"))
        }
        if let maker = camera.manufacturer { facts.append(("Maker", "\(maker) \(camera.model ?? "")")) }
        if let firmware = camera.firmware { facts.append(("Firmware", firmware)) }
        if let serial = camera.serial { facts.append(("Serial number", serial)) }
        if let mac = camera.mac { facts.append(("MAC", mac)) }
        if let endpoint = camera.endpoint { facts.append(("Endpoint", endpoint)) }
        if let address = camera.address {
            facts.append(("Address", camera.port.map { NetworkText.endpoint(address, $0) } ?? address))
        }
        if let added = camera.added { facts.append(("Added", Quantity.date(added))) }
        if let connected = camera.lastConnected { facts.append(("Last connected", Quantity.date(connected))) }
        return facts
    }

    private static func profile(_ profile: CameraDocument.Profile) -> (String, String) {
        let frame = NetworkText.frame(
            codec: profile.codec, width: profile.width, height: profile.height, rate: profile.rate,
            bitrate: profile.bitrate)
        return ("Profile \(profile.name)", frame + (profile.isDefault ? ", used" : ""))
    }

    private static func running(_ statistics: CameraStatistics) -> Facts {
        if let capture = statistics.capture { return CaptureText.facts(capture) }
        return statistics.video.delivered > 0 ? [("Frames", StreamView.frames(statistics.video))] : []
    }
}
