internal import RTP

/// What came from a camera, over all attempts.
struct PullCounters: Equatable, Sendable {
    var packets: UInt64 = 0
    var lost: UInt64 = 0
    var reordered: UInt64 = 0
    var discarded: UInt64 = 0
    /// Frames alone.
    var damaged: UInt64 = 0
    var timelines: UInt64 = 0

    mutating func add(_ track: MediaTrack) {
        let statistics = track.rtp.statistics
        packets &+= statistics.packets
        lost &+= statistics.lost
        reordered &+= statistics.reordered
        discarded &+= statistics.discarded &+ (track.datagrams?.unknownSenders ?? 0)
        if track.choice.kind.isVideo {
            damaged &+= statistics.damaged &+ statistics.skipped &+ track.unplaced
            timelines &+= track.clock.timelines
        }
    }

    mutating func add(_ other: PullCounters) {
        packets &+= other.packets
        lost &+= other.lost
        reordered &+= other.reordered
        discarded &+= other.discarded
        damaged &+= other.damaged
        timelines &+= other.timelines
    }
}
