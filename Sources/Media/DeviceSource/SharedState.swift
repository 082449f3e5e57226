internal import CameraModel
internal import Media
internal import Synchronization
internal import VideoCodec

/// What other threads see of a running source, and ask of it.
final class SharedState: Sendable {
    struct Requested: Equatable, Sendable {
        var device: CameraConfiguration.Device {
            didSet { mostBitrate = max(mostBitrate, device.bitrate) }
        }
        /// The highest bitrate that was asked for, bits per second: one that follows its uplink comes back to it.
        private(set) var mostBitrate: Int
        /// Grows with every change.
        var revision: UInt64 = 0

        init(device: CameraConfiguration.Device) {
            self.device = device
            mostBitrate = device.bitrate
        }
    }

    let clock = SourceClock()
    let requested: Mutex<Requested>
    let statistics: Mutex<CaptureStatistics>
    let isKeyFrameRequested = Atomic(false)
    let controlsQuestion = ControlsQuestion()
    /// CLOCK_MONOTONIC of the stream's zero, nanoseconds; 0: nothing was captured yet.
    private let epoch = Atomic<UInt64>(0)
    /// How much later than the capture of the first frame the stream's zero is heard and seen: the audio's encoder
    /// begins earlier than the audio.
    private let lead: MediaTime

    init(_ device: CameraConfiguration.Device, lead: MediaTime) {
        requested = Mutex(Requested(device: device))
        statistics = Mutex(CaptureStatistics(path: device.path))
        self.lead = lead
    }

    /// Begins the stream's time with its first frame.
    func begin(at instant: UInt64) {
        _ = epoch.compareExchange(expected: 0, desired: max(instant, 1), ordering: .acquiringAndReleasing)
    }

    /// Where an instant lies in the stream; nil before its first frame, or before that frame was taken.
    func time(of instant: UInt64) -> MediaTime? {
        let epoch = epoch.load(ordering: .acquiring)
        guard epoch != 0, instant >= epoch else { return nil }
        return MediaTime(nanoseconds: Int64(clamping: instant - epoch)) + lead
    }
}
