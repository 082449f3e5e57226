internal import Platform

/// Which address and port a scan asks next: the first port at every address, then the second, so that no camera is asked
/// several things at once and the likeliest ports come first.
struct ScanOrder {
    private let ranges: [AddressRange]
    private let ports: [UInt16]
    private var port = 0
    private var range = 0
    private var offset = 0

    /// Pairs in all.
    let total: Int

    /// - Parameter ranges: those that overlap are asked twice.
    init(ranges: [AddressRange], ports: [UInt16]) {
        self.ranges = ranges
        self.ports = ports
        total = ranges.reduce(0) { $0 + $1.count } * ports.count
    }

    var isExhausted: Bool { port >= ports.count || ranges.isEmpty }

    struct Next: Equatable {
        var address: SocketAddress
        /// The address comes for the first time.
        var isFirst: Bool
    }

    mutating func next() -> Next? {
        guard !isExhausted else { return nil }
        let address = SocketAddress(.ipv4(ranges[range].first + UInt32(offset)), port: ports[port])
        let next = Next(address: address, isFirst: port == 0)
        offset += 1
        if offset == ranges[range].count {
            offset = 0
            range += 1
            if range == ranges.count {
                range = 0
                port += 1
            }
        }
        return next
    }
}
