internal import CameraModel
internal import ONVIF
internal import Platform
internal import RTSP

/// What becomes of devices at other addresses that may be the camera: a move to follow, where a certificate's key that
/// was known before proves it, or else one to propose to a person. Used by the source's thread.
struct CameraMoves {
    private let network: CameraConfiguration.Network
    private let state: SharedState
    /// Announced, and not the camera: not asked again and again.
    var refused = RefusedAddresses()
    /// Where the key that is known was shown, and not enough besides to follow the camera there.
    private var keyholders = RecentPlaces<String>(lifetime: 86_400_000_000_000)

    init(_ network: CameraConfiguration.Network, state: SharedState) {
        self.network = network
        self.state = state
    }

    private var isDevice: Bool { network.url.lowercased().hasPrefix("onvif:") }

    /// Of the device's service, or of the stream that is configured; nil: nothing can prove a move.
    func key(_ memory: CameraCache) -> String? {
        if isDevice { return network.pin ?? memory.servicePin }
        let isSecure = ["rtsps:", "https:"].contains { network.url.lowercased().hasPrefix($0) }
        return isSecure ? network.pin ?? memory.pin : nil
    }

    /// Whether this is where the settings say that the camera is.
    func isConfigured(_ host: String) -> Bool {
        [DeviceURL(network.url)?.host, network.rtspHost].contains { $0?.lowercased() == host.lowercased() }
    }

    /// Hosts where the camera is known to be.
    func known(_ memory: CameraCache) -> [String] {
        let urls = [network.url, memory.serviceURL, memory.movedURL].compactMap { $0 }
        return urls.compactMap { DeviceURL($0)?.host } + [memory.address].compactMap { $0 }
    }

    /// Devices whose key is worth a look, whoever they are.
    func candidates(_ memory: CameraCache, at now: UInt64) -> [SharedState.Announcement] {
        let known = known(memory)
        return state.announced.filter { announced in
            !announced.isKeyShared && AnnouncedAddress.mayBeAsked(announced.address, known: known)
                && refused.permits(announced.address, at: now)
        }
    }

    /// Whether a key that is known can be looked for somewhere else.
    func hasPlaces(_ memory: CameraCache, at now: UInt64) -> Bool {
        let known = known(memory)
        return key(memory) != nil && candidates(memory, at: now).contains { !known.contains($0.address) }
    }

    /// Where the configured stream would be, which has to show its key there.
    func streams(_ configured: RTSPURL, _ memory: CameraCache, at now: UInt64) -> [RTSPURL] {
        guard configured.isSecure, key(memory) != nil else { return [] }
        let known = known(memory)
        return candidates(memory, at: now).filter { !known.contains($0.address) }
            .map { configured.with(host: $0.address, port: configured.port) }
    }

    mutating func showedKey(_ address: String, at now: UInt64) {
        keyholders.heard(address, at: address, now: now)
    }

    /// What does not prove itself is for a person to decide, and is reported as missing a key where one is known: the
    /// camera may have been reset, or it is another device.
    func propose(_ memory: CameraCache) {
        // A pin that a person has set may be that of the stream alone.
        let hasKey = isDevice ? memory.servicePin != nil : key(memory) != nil
        let keyholders = keyholders.values(at: Clocks.monotonic)
        for announced in state.announced {
            guard var move = move(announced, memory) else { continue }
            if hasKey, !keyholders.contains(announced.address) { move.lacksKey = true }
            state.propose(move)
        }
    }

    /// Nil unless it is another address of a neighbour that can be written as a source.
    private func move(_ announced: SharedState.Announcement, _ memory: CameraCache) -> NetworkStatistics.Move? {
        let (known, address) = (known(memory), announced.address)
        guard AnnouncedAddress.mayBeAsked(address, known: known), !known.contains(address),
            var place = DeviceURL(network.url)
        else { return nil }
        place.host = address
        var source = place.text
        // The service's port and path are what the device says, where it says them of its own address.
        if isDevice, let reported = announced.url.flatMap({ DiscoveryAddress($0) }), reported.host == address {
            source = reported.source
        }
        guard (try? CameraConfiguration.Network.check(address: source)) != nil else { return nil }
        return NetworkStatistics.Move(address: address, source: source, evidence: announced.evidence)
    }
}
