internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import Discovery
internal import ErrorCatalog
internal import ONVIF

extension ControlCore {
    /// Looks for cameras that are away, reports where they seem to be, and learns what finds those that are there.
    func observeMoves(_ streams: [StreamDocument]) {
        for stream in streams { reportMoves(stream) }
        let away = streams.filter { Self.isAway($0) && !identity(of: $0.camera).isEmpty }.map(\.camera)
        guard moveTask == nil else { return }
        if awayWatch.isDue(Set(away), at: clock.sinceBoot()) {
            lookAround(for: away, live: streams.filter { $0.state == .live })
        } else {
            learnIdentity(streams)
        }
    }

    /// Nothing answers where the camera was, or another device.
    private static func isAway(_ stream: StreamDocument) -> Bool {
        guard let capture = stream.statistics?.capture, capture.network != nil, capture.state == .waiting else {
            return false
        }
        let codes: [ErrorCode] = [
            .cameraUnreachable, .cameraTimeout, .notRTSP, .cameraProtocol, .identityNotProven, .certificateChanged,
            .loginRefused, .noSuchStream, .streamRedirected, .cameraCertificate, .loginNeeded, .loginUnsupported,
            .accessForbidden,
        ]
        return capture.code.map { codes.contains($0) } ?? false
    }

    private static func address(_ stream: StreamDocument) -> String? { stream.statistics?.capture?.network?.address }

    /// Who it is, as far as anybody knows.
    func identity(of id: String) -> DeviceIdentity {
        let stored = remembered(id)?.identity
        let set = current.settings.cameras[id]?.identity
        let seen = network[id]?.identity
        return DeviceIdentity(
            endpoint: stored?.endpoint ?? set?.endpoint ?? seen?.endpoint,
            serial: stored?.serial ?? set?.serial ?? seen?.serial, mac: stored?.mac ?? set?.mac ?? seen?.mac)
    }

    // MARK: Looking

    /// Makers that ship one key in all devices: at another host it is that of another device. Several channels of a
    /// recorder are at one.
    func isKeyShared(_ id: String) -> Bool {
        func keys(_ id: String) -> Set<String> {
            (network[id]?.keys ?? []).union([current.settings.cameras[id]?.network.pin].compactMap { $0 })
        }
        let (mine, place) = (keys(id), host(of: id))
        return current.settings.cameras.keys.contains { other in
            other != id && host(of: other) != place && !keys(other).isDisjoint(with: mine)
        }
    }

    private func host(of id: String) -> String? {
        current.settings.cameras[id].flatMap { NetworkPlace($0.source) }?.host
    }

    private func lookAround(for away: [String], live streams: [StreamDocument]) {
        let live = Dictionary(grouping: streams.map(\.camera)) { id in
            streams.first { $0.camera == id }.flatMap(Self.address) ?? ""
        }
        let known = Dictionary(uniqueKeysWithValues: away.map { ($0, places(of: $0)) })
        let near = away.filter { identity(of: $0).mac != nil }.flatMap { known[$0] ?? [] }
        let look = sightings
        moveTask = Task {
            let seen = await look(near)
            for id in away {
                await self.announce(seen, to: id, places: known[id] ?? [], live: live)
            }
            self.moveTask = nil
        }
    }

    /// Where a camera is known to be: IP addresses, and the host of its source.
    private func places(of id: String) -> [String] {
        let source = host(of: id)
        let stored = remembered(id)?.address
        return [stored, network[id]?.learnedFacts?.address, source].compactMap { $0 }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Informs its process of those that may be the camera, the likeliest last: of too many, it keeps the newest.
    private func announce(
        _ sightings: [Sighting], to id: String, places: [String], live: [String: [String]]
    ) async {
        let known = identity(of: id)
        var alike: [(sighting: Sighting, evidence: NetworkStatistics.Move.Evidence)] = []
        for sighting in sightings where !places.contains(sighting.address) {
            guard let trait = known.trait(sharedWith: sighting.identity),
                let evidence = NetworkStatistics.Move.Evidence(rawValue: trait.rawValue)
            else { continue }
            // Cheap makers give one serial number to all: another camera of this box is not this one because of it.
            guard evidence != .serial || !(live[sighting.address] ?? []).contains(where: { differs($0, known) }) else {
                continue
            }
            alike.append((sighting, evidence))
        }
        let order = NetworkStatistics.Move.Evidence.allCases
        let isKeyShared = isKeyShared(id) ? true : nil
        alike.sort { (order.firstIndex(of: $0.evidence) ?? 0) < (order.firstIndex(of: $1.evidence) ?? 0) }
        guard !alike.isEmpty, let user = try? await user(of: id) else { return }
        for (sighting, evidence) in alike.prefix(NetworkStatistics.maxMoves).reversed() {
            let request = AnnouncedRequest(
                address: sighting.address, url: sighting.url, evidence: evidence, isKeyShared: isKeyShared)
            try? await processes.announce(request, to: id, user: user)
        }
    }

    private func differs(_ id: String, _ known: DeviceIdentity) -> Bool {
        let other = identity(of: id)
        func differ(_ left: String?, _ right: String?) -> Bool { left != nil && right != nil && left != right }
        return differ(other.endpoint, known.endpoint) || differ(other.mac, known.mac)
    }

    // MARK: What its process makes of it

    /// An event for places that are new, once a minute at most, and none of a camera that only restarts.
    private func reportMoves(_ stream: StreamDocument) {
        let id = stream.camera
        guard let statistics = stream.statistics?.capture?.network, speaksOfItsSource(stream) else { return }
        let moves = Array((statistics.moves ?? []).prefix(NetworkStatistics.maxMoves))
        var memory = network[id] ?? NetworkMemory()
        defer { network[id] = memory }
        memory.moves = moves
        guard !moves.isEmpty else {
            (memory.movesSince, memory.movesReported) = (nil, [])
            return
        }
        let now = clock.sinceBoot()
        let since = memory.movesSince ?? now
        memory.movesSince = since
        guard now - since >= AwayWatch.graceTime,
            memory.movesReportedAt.map({ now - $0 >= Self.announcementEventPause }) ?? true,
            !moves.allSatisfy({ memory.movesReported.contains($0.place) }),
            let text = NetworkStatistics.Move.message(moves, camera: id)
        else { return }
        (memory.movesReportedAt, memory.movesReported) = (now, moves.map(\.place))
        hub.publish(.camera, object: id, code: .identityNotProven, Printable.text(text, limit: 512))
    }

    /// The source of a camera whose move a person accepts: only what was proposed can be, and just as it was shown.
    func acceptedSource(of id: String, at place: String) throws(CodedError) -> String {
        let moves = network[id]?.moves ?? []
        if let move = moves.first(where: { $0.place == place }) { return move.source }
        throw CodedError(
            .invalidValue, "camera \(id) does not seem to have moved to \(Printable.text(place, limit: 64))",
            why: moves.isEmpty
                ? "nothing says that it has moved"
                : "it seems to be at \(moves.map(\.place).joined(separator: " or "))",
            hint:
                "See: watchboxctl camera show \(id); or give it its address: watchboxctl camera edit \(id) --source URL",
            object: id)
    }

    // MARK: Learning

    /// Asks one camera that is there for what it has not reported: most have no call for their endpoint reference, and none
    /// that is added by its stream reports anything.
    private func learnIdentity(_ streams: [StreamDocument]) {
        for stream in streams
        where stream.statistics?.capture?.network?.state == .live && speaksOfItsSource(stream) {
            let id = stream.camera
            guard let address = Self.address(stream), network[id]?.identifiedAddress != address else { continue }
            network[id, default: NetworkMemory()].identifiedAddress = address
            let known = identity(of: id)
            guard known.endpoint == nil || known.mac == nil else { continue }
            let ask = identityAt
            moveTask = Task {
                if let seen = await ask(address) { self.learn(seen, of: id, at: address) }
                self.moveTask = nil
            }
            return
        }
    }

    /// What is known stays: nothing of this was reported to a client with a password.
    private func learn(_ seen: DeviceIdentity, of id: String, at address: String) {
        guard network[id]?.identifiedAddress == address, network[id]?.learnedFacts?.address ?? address == address else {
            return
        }
        let known = identity(of: id)
        let new = DeviceIdentity(
            endpoint: known.endpoint == nil ? seen.endpoint : nil, serial: known.serial == nil ? seen.serial : nil,
            mac: known.mac == nil ? seen.mac : nil)
        guard !new.isEmpty else { return }
        network[id]?.identity = new
        keep(LearnedCamera(identity: new), of: id)
    }
}
