internal import CameraModel
internal import Platform
internal import Synchronization

/// What other threads see of a running source, and ask of it.
final class SharedState: Sendable {
    struct Announcement: Equatable, Sendable {
        var address: String
        var url: String?
        var evidence = NetworkStatistics.Move.Evidence.endpoint
        /// Another camera of this box has shown the same key: then it proves nothing.
        var isKeyShared = false
    }

    struct Requests: Sendable {
        /// Devices that may be the camera; an address that changes without a restart is announced before the frames
        /// stop.
        var announced = RecentPlaces<Announcement>(lifetime: 600_000_000_000)
        /// How many there were.
        var announcements: UInt64 = 0
        var transcoding: CameraConfiguration.Network.Transcoding
        var isKeyFrameRequested = false
    }

    let wakeup = Wakeup()
    let statistics: Mutex<CaptureStatistics>
    let requests: Mutex<Requests>
    /// Of an ONVIF camera, once it is known where it is.
    let device: Mutex<CameraDevice?>
    /// Who hears of what the camera reports.
    let sensors = Mutex<(@Sendable (SensorEvent) -> Void)?>(nil)
    /// Moves that no one has accepted. Control looks for the camera every quarter of an hour, and finds again what is
    /// true.
    private let moves = Mutex(RecentPlaces<NetworkStatistics.Move>(lifetime: 2_400_000_000_000))

    init(_ network: CameraConfiguration.Network) {
        var statistics = CaptureStatistics(path: network.url)
        statistics.network = NetworkStatistics()
        statistics.network?.transport = network.transport.rawValue
        self.statistics = Mutex(statistics)
        requests = Mutex(Requests(transcoding: network.transcoding))
        device = Mutex(nil)
    }

    /// As others may see it: bounded, and without the passwords that cameras write into their own addresses.
    var shown: CaptureStatistics {
        var shown = statistics.withLock { $0 }
        let url = shown.network?.url
        shown.network?.url = CameraDevice.shown(url)
        return shown.boundedForNetwork
    }

    // MARK: - Moves

    /// What was announced within the last minutes.
    var announced: [Announcement] {
        let now = Clocks.monotonic
        return requests.withLock { $0.announced.values(at: now) }
    }

    func propose(_ move: NetworkStatistics.Move) {
        let now = Clocks.monotonic
        moves.withLock { $0.heard(move, at: move.address, now: now) }
    }

    /// What a person may accept now, the likeliest first; also for the status.
    func proposedMoves() -> [NetworkStatistics.Move] {
        let now = Clocks.monotonic
        let all = moves.withLock { $0.values(at: now) }
        let current = NetworkStatistics.Move.Evidence.allCases.flatMap { kind in all.filter { $0.evidence == kind } }
        change { _, network in network.moves = current.isEmpty ? nil : current }
        return current
    }

    /// The camera is there: whoever else claims to be it is not.
    func forgetMoves() {
        requests.withLock { $0.announced.removeAll() }
        moves.withLock { $0.removeAll() }
        change { _, network in network.moves = nil }
    }

    func change(_ body: (inout CaptureStatistics, inout NetworkStatistics) -> Void) {
        statistics.withLock { statistics in
            var network = statistics.network ?? NetworkStatistics()
            // Two copies of its lists would be made otherwise.
            statistics.network = nil
            body(&statistics, &network)
            statistics.network = network
        }
    }
}
