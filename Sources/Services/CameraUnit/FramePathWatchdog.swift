public import CameraModel

/// Decides what a camera's process reports to systemd: when it is ready, when it is alive, and with which text.
///
/// Alive is what the frame path shows, never that a timer still runs: since the last ping a frame was captured,
/// encrypted and handed to the transport; or the process waits for something that it has declared (its key, its relay,
/// its camera), and that wait gets on. A source that delivers nothing, an encoder that hangs and a seal that stalls all
/// end in no ping, and then systemd restarts this one camera.
public struct FramePathWatchdog: Sendable {
    public enum Action: Equatable, Sendable {
        /// `READY=1`
        case ready
        /// `WATCHDOG=1`
        case alive
        /// `STATUS=`
        case status(String)
        /// `EXTEND_TIMEOUT_USEC=`: the start takes longer, and something still happens.
        case extendStart(seconds: Int)
    }

    /// Nanoseconds that a declared wait may last without any step. The longest pause between two attempts is 300 s,
    /// after a relay has refused the key (`ReconnectBackoff`): to be killed before would undo it.
    static let longestWait: UInt64 = 360_000_000_000
    /// Nanoseconds that a stream may wait for a key frame after it began again or lost frames to congestion or on the
    /// way from a camera: a source that is passed through cannot always be asked for one.
    static let longestGroup: UInt64 = 60_000_000_000
    /// Nanoseconds that the start may take without a step, while the process says that it is not hanging.
    static let maxStartTime: UInt64 = 40_000_000_000
    /// Nanoseconds between two looks for a camera that is not there.
    static let maxLookTime: UInt64 = 60_000_000_000

    private struct Progress: Equatable {
        var state: CameraStatistics.State
        var connections: UInt64
        var attempts: UInt64
        var collections: UInt64

        init(_ statistics: CameraStatistics) {
            state = statistics.state
            connections = statistics.connections
            attempts = statistics.attempts
            collections = statistics.collections
        }
    }

    /// Of a source that waits for its camera, or looks for an encoder.
    private struct Search: Equatable {
        var state: CaptureStatistics.State
        var attempts: UInt64

        /// Nil once it is found, and where there is none.
        init?(_ capture: CaptureStatistics?) {
            guard let capture, capture.state == .starting || capture.state == .waiting else { return nil }
            state = capture.state
            attempts = capture.attempts
        }

        var longest: UInt64 { state == .waiting ? maxLookTime : maxStartTime }
    }

    private var isReady = false
    private var sealed: UInt64 = 0
    private var delivered: UInt64 = 0
    private var dropped: UInt64 = 0
    private var packets: UInt64 = 0
    private var sealedAt: UInt64?
    private var progress: Progress?
    private var progressAt: UInt64 = 0
    private var search: Search?
    private var searchAt: UInt64 = 0
    private var status = ""

    public init() {}

    /// - Parameters:
    ///   - statistics: of this moment.
    ///   - rates: frames and bits per second.
    ///   - now: CLOCK_MONOTONIC in nanoseconds.
    public mutating func observed(_ statistics: CameraStatistics, rates: CameraRates, at now: UInt64) -> [Action] {
        var actions: [Action] = []
        let step = Progress(statistics)
        if step != progress {
            progress = step
            progressAt = now
        }
        let waits = now > progressAt ? now - progressAt : 0
        let look = Search(statistics.capture)
        if look != search {
            search = look
            searchAt = now
        }
        var isSearching = false
        if let look { isSearching = now < searchAt + look.longest }
        // Frames decide: a camera whose audio goes on while its frame hangs is a camera that hangs.
        let hasSealed = statistics.video.sealed > sealed
        let hasNewFrame = statistics.video.delivered > delivered
        let hasDropped = statistics.video.dropped > dropped
        // A camera that is connected and sends, but what comes is not a frame until its next key frame, since a part
        // was lost. Whatever did come was sealed: nothing hangs here.
        let arrived = statistics.capture?.network.map { $0.state == .live ? $0.packets : packets } ?? 0
        let awaitsKeyFrame = arrived > packets && statistics.queue.units == 0
        packets = arrived
        sealed = statistics.video.sealed
        delivered = statistics.video.delivered
        dropped = statistics.video.dropped
        if hasSealed { sealedAt = now }
        let sinceSealed = sealedAt.map { now > $0 ? now - $0 : 0 } ?? waits

        let isAlive: Bool
        switch statistics.state {
        case .publishing:
            isAlive =
                hasSealed || isSearching
                || (hasNewFrame && hasDropped || awaitsKeyFrame) && sinceSealed < Self.longestGroup
        case .waitingForKey, .connecting, .waitingToReconnect:
            // The source begins with the first stream, or at once where it is recorded, and runs on while there is no relay:
            // then it must get on as well. One that is held back, because nothing of it may be lost, waits with a full queue.
            let hasBegun = statistics.connections > 0 || statistics.recording != nil && delivered > 0
            isAlive =
                waits < Self.longestWait
                && (hasNewFrame || !hasBegun || statistics.queue.units > 0 || isSearching)
        case .starting: isAlive = waits < Self.maxStartTime
        case .stopping, .stopped: isAlive = waits < Self.maxStartTime
        case .failed: isAlive = false
        }

        if !isReady {
            let isDeclaredWait =
                statistics.state == .waitingForKey || statistics.state == .waitingToReconnect
                || statistics.state == .publishing && isSearching && look?.state == .waiting
            if hasSealed || isDeclaredWait {
                isReady = true
                actions.append(.ready)
            } else if isAlive {
                actions.append(.extendStart(seconds: 10))
            }
        }
        if isAlive { actions.append(.alive) }
        let text = Self.text(statistics, rates, at: now)
        if text != status {
            status = text
            actions.append(.status(text))
        }
        return actions
    }

    static func text(_ statistics: CameraStatistics, _ rates: CameraRates, at now: UInt64) -> String {
        let because = statistics.reason.map { ": \($0)" } ?? ""
        switch statistics.state {
        case .publishing:
            if let capture = statistics.capture, capture.state == .waiting {
                return "waiting for the camera" + (capture.reason.map { ": \($0)" } ?? "")
            }
            var text = "\(tenths(rates.framesPerSecond)) fps, \(bits(rates.bitsPerSecond))"
            if let acknowledged = statistics.lastAcknowledged {
                let ago = now > acknowledged ? Double(now - acknowledged) / 1e9 : 0
                text += ", ack \(tenths(ago)) s"
            }
            return statistics.video.delivered == 0 ? "publishing, no frame yet" : text
        case .starting: return "starting" + because
        case .waitingForKey: return "waiting for the key access server" + because
        case .connecting: return "connecting to the relay"
        case .waitingToReconnect: return "waiting for the relay" + because
        case .stopping: return "stopping"
        case .stopped: return "stopped"
        case .failed: return "failed" + because
        }
    }

    private static func tenths(_ value: Double) -> String {
        let scaled = Int64((max(0, min(value, 1e9)) * 10).rounded())
        return "\(scaled / 10).\(scaled % 10)"
    }

    private static func bits(_ rate: Double) -> String {
        rate >= 1e6 ? "\(tenths(rate / 1e6)) Mb/s" : "\(Int64(max(0, rate) / 1000)) kb/s"
    }
}
