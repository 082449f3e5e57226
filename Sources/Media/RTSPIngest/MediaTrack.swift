internal import Media
internal import Platform
internal import RTP
internal import RTSP

/// One medium of a running session: its packets become units with a place on this machine's clock.
struct MediaTrack {
    let choice: MediaChoice
    var rtp: RTPTrack
    var clock: StreamClock
    /// Of UDP and multicast; nil: the packets come over the connection.
    let datagrams: DatagramPair?
    var nextReport: UInt64
    /// Units that came at a time for which there is no place.
    private(set) var unplaced: UInt64 = 0
    /// A frame was left out: those that refer to it are, too.
    private var isBroken = false

    struct Unit {
        var encoded: EncodedUnit
        var placement: StreamClock.Placement
    }

    init(
        _ choice: MediaChoice, source: UInt32?, datagrams: DatagramPair?, timestamps: StreamClock.Policy = .auto,
        name: String, at now: UInt64
    ) {
        self.choice = choice
        self.datagrams = datagrams
        var configuration = RTPTrack.Configuration(
            format: choice.format, payloadType: choice.payloadType, clockRate: choice.clockRate, source: source,
            reorders: datagrams != nil, ownSource: .random(in: 1 ... .max), name: name)
        configuration.dimensions = choice.dimensions
        rtp = RTPTrack(configuration)
        clock = StreamClock(clockRate: choice.clockRate, policy: timestamps)
        nextReport = now &+ StreamPull.reportInterval
    }

    mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [Unit] {
        placed(rtp.received(bytes, at: now))
    }

    mutating func ticked(at now: UInt64) -> [Unit] {
        placed(rtp.ticked(at: now))
    }

    private mutating func placed(_ units: [EncodedUnit]) -> [Unit] {
        if units.isEmpty { return [] }
        var placed: [Unit] = []
        placed.reserveCapacity(units.count)
        for unit in units {
            if unit.beginsSource { clock.restart() }
            // Those that came out together with the one that was left out; the ones after them do not come out.
            if isBroken, !unit.isKeyFrame {
                unplaced += 1
                continue
            }
            if let placement = clock.place(unit.timestamp, arrival: unit.arrival) {
                isBroken = false
                placed.append(Unit(encoded: unit, placement: placement))
            } else {
                unplaced += 1
                isBroken = choice.kind.isVideo
                if isBroken { rtp.requireKeyFrame() }
            }
        }
        return placed
    }

    /// The camera's wall clock minus this machine's, milliseconds, by its newest sender report.
    var clockAheadMilliseconds: Double? {
        guard let report = rtp.senderReport else { return nil }
        let camera = Double(report.ntp >> 32) - 2_208_988_800 + Double(report.ntp & 0xFFFF_FFFF) / 4_294_967_296
        let arrival = Double(Clocks.wall) / 1e9 - Double(Clocks.monotonic &- report.arrival) / 1e9
        let ahead = (camera - arrival) * 1000
        // Cameras without a clock count from 1970 or 1900: that is not a time of day.
        return abs(ahead) < 86_400_000 * 400 ? ahead.rounded() : nil
    }
}
