internal import ONVIF

/// When which Probe is sent: three variants, each twice with 100–300 ms in between, and then only listening.
struct ProbeSchedule {
    private var pending: [(time: UInt64, types: DiscoveryProbe.Types)]
    /// When the listening ends.
    let end: UInt64

    /// - Parameter spacing: from the first round to the second, in nanoseconds; drawn by the caller.
    init(begin: UInt64, spacing: UInt64, listening: UInt64) {
        let variants = DiscoveryProbe.Types.allCases
        var pending: [(time: UInt64, types: DiscoveryProbe.Types)] = []
        for round in 0..<UInt64(2) {
            for (index, types) in variants.enumerated() {
                // Not all at once: the smallest cameras hold one datagram.
                pending.append((begin + round * spacing + UInt64(index) * 30_000_000, types))
            }
        }
        pending.sort { $0.time < $1.time }
        end = (pending.last?.time ?? begin) + listening
        self.pending = pending
    }

    /// Those whose time has come.
    mutating func due(at now: UInt64) -> [DiscoveryProbe.Types] {
        let count = pending.prefix { $0.time <= now }.count
        defer { pending.removeFirst(count) }
        return pending.prefix(count).map(\.types)
    }

    /// When something is to be done next.
    var next: UInt64 { pending.first?.time ?? end }
}
