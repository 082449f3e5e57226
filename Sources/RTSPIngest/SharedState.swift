internal import CameraModel
internal import Synchronization

/// What other threads see of a running source, and ask of it.
final class SharedState: Sendable {
    struct Announcement: Equatable, Sendable {
        var address: String
        var url: String?
    }

    struct Wishes: Sendable {
        var announcement: Announcement?
        /// How many there were.
        var announcements: UInt64 = 0
        var transcoding: CameraConfiguration.Network.Transcoding
        var isKeyFrameWanted = false
    }

    let wakeup = Wakeup()
    let statistics: Mutex<CaptureStatistics>
    let wishes: Mutex<Wishes>
    /// Of an ONVIF camera, once it is known where it is.
    let device: Mutex<CameraDevice?>

    init(_ network: CameraConfiguration.Network) {
        var statistics = CaptureStatistics(path: network.url)
        statistics.network = NetworkStatistics()
        statistics.network?.transport = network.transport.rawValue
        self.statistics = Mutex(statistics)
        wishes = Mutex(Wishes(transcoding: network.transcoding))
        device = Mutex(nil)
    }

    /// As others may see it: bounded, and without the passwords that cameras write into their own addresses.
    var shown: CaptureStatistics {
        var shown = statistics.withLock { $0 }
        let url = shown.network?.url
        shown.network?.url = CameraDevice.shown(url)
        return shown.boundedForNetwork
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
