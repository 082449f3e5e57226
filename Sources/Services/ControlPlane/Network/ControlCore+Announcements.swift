internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import Discovery
internal import ErrorCatalog
internal import ONVIF
internal import Wire

extension ControlCore {
    /// Between two messages to one camera's process; announcements are forged easily.
    private static let announcementPause = Duration.seconds(5)
    /// Between two events about one camera's announcements.
    static let announcementEventPause = Duration.seconds(60)

    /// Somebody on the network says that a device has come or goes. Whether it is that device, is for the camera's
    /// process to find out before it shows it a password; a Bye changes nothing.
    ///
    /// - Returns: when the processes that it concerns have been informed; no one has to wait for that.
    @discardableResult
    func heard(_ announcement: Announcement) -> Task<Void, Never>? {
        guard (1...64).contains(announcement.address.utf8.count), announcement.url?.utf8.count ?? 0 <= 512 else {
            return nil
        }
        let cameras = cameras(ofEndpoint: announcement.endpoint)
        guard !cameras.isEmpty else { return nil }
        let now = clock.sinceBoot()
        var reported: [String] = []
        for id in cameras.keys.sorted() {
            var memory = network[id] ?? NetworkMemory()
            defer { network[id] = memory }
            if memory.announcementReportedAt.map({ now - $0 >= Self.announcementEventPause }) ?? true {
                memory.announcementReportedAt = now
                let address = Printable.text(announcement.address, limit: 64)
                hub.publish(
                    .camera, object: id,
                    announcement.kind == .hello
                        ? "a device that says it is this camera announced itself at \(address)"
                        : "a device that says it is this camera leaves the network")
            }
            guard announcement.kind == .hello, memory.announcedAt.map({ now - $0 >= Self.announcementPause }) ?? true
            else {
                continue
            }
            memory.announcedAt = now
            reported.append(id)
        }
        guard !reported.isEmpty else { return nil }
        return Task {
            for id in reported {
                let request = AnnouncedRequest(
                    address: announcement.address, url: announcement.url, evidence: cameras[id],
                    isKeyShared: self.isKeyShared(id) ? true : nil)
                guard let user = try? await self.user(of: id) else { continue }
                try? await self.processes.announce(request, to: id, user: user)
            }
        }
    }

    /// Several for a recorder, each with what it has in common with who has this endpoint.
    private func cameras(ofEndpoint endpoint: String) -> [String: NetworkStatistics.Move.Evidence] {
        guard (1...256).contains(endpoint.utf8.count) else { return [:] }
        let claimed = DeviceIdentity(endpoint: endpoint)
        return current.settings.cameras.reduce(into: [:]) { cameras, entry in
            guard entry.value.active, entry.value.isNetworkCamera else { return }
            cameras[entry.key] = identity(of: entry.key).trait(sharedWith: claimed).flatMap {
                NetworkStatistics.Move.Evidence(rawValue: $0.rawValue)
            }
        }
    }

    // MARK: Searches

    /// Which of them are cameras of this box.
    func marked(_ document: NetworkSearchDocument) -> NetworkSearchDocument {
        var document = document
        let known: [KnownCamera] = current.settings.cameras.compactMap { id, camera in
            guard let place = NetworkPlace(camera.source) else { return nil }
            return KnownCamera(
                id: id, endpoint: identity(of: id).endpoint, place: place,
                address: remembered(id)?.address)
        }.sorted { $0.id < $1.id }
        for index in document.found.indices {
            guard let camera = known.first(where: { $0.isLike(document.found[index]) }) else { continue }
            document.found[index].mark = .added
            document.found[index].camera = camera.id
        }
        return document
    }

    private struct KnownCamera {
        var id: String
        var endpoint: String?
        var place: NetworkPlace
        /// Where it was last seen.
        var address: String?

        func isLike(_ found: FoundCameraDocument) -> Bool {
            if let endpoint, let other = found.endpoint { return endpoint == other }
            guard place.host == found.address.lowercased() || address == found.address else { return false }
            // Several cameras may be behind one address, each at its own port.
            guard found.kind == .rtsp, place.scheme != "onvif" else { return true }
            return place.port == found.port
        }
    }
}

/// Host and port of a network camera's source.
struct NetworkPlace: Equatable {
    var scheme: String
    /// In lower case, without brackets.
    var host: String
    var port: Int

    /// Nil for a source of this machine.
    init?(_ source: String) {
        guard let separator = source.firstRange(of: "://") else { return nil }
        scheme = String(source[..<separator.lowerBound])
        let authority = source[separator.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        guard !authority.contains("@"), let place = HostPort(authority: authority[...]), !place.host.isEmpty,
            let defaultValue = HostPort.standardPort(ofScheme: scheme), !scheme.hasPrefix("rtmp")
        else { return nil }
        host = String(place.host)
        port = Int(place.port(defaultValue: defaultValue) ?? defaultValue)
    }
}
