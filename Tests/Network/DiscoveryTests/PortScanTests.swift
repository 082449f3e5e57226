import Glibc
import Testing

@testable import Discovery

struct PortScanTests {
    private let hour: UInt64 = 3_600_000_000_000

    @Test(arguments: [EAGAIN, EMFILE]) func `after a shortage a scan gets its connections back`(shortage: Int32) throws
    {
        let network = LoopbackNetwork()
        // One for all of the network; none of them is looked at before its time is over.
        let peers = try (0..<4).map { _ in try TCPPeer("0.0.0.0", .silent) }
        defer { for peer in peers { peer.stop() } }
        var options = SearchOptions()
        options.multicast = false
        options.ranges = [try AddressRange(network.range)]
        options.ports = peers.map(\.port)
        options.concurrency = 8
        var begun = 0
        let scan = PortScan(try SearchPlan(options, interfaces: [])) { target, now in
            begun += 1
            guard begun != 3 else { return .failed(errno: shortage) }
            return ScanConnection.start(target, at: now, connectTime: 1, answerTime: 1)
        }
        var underWay: [Int] = []
        for round in 1...4 as ClosedRange<UInt64> {
            scan.fill(at: round * hour) { _ in }
            underWay.append(scan.waits.count)
            #expect(!scan.hasRoom)
            _ = scan.advance(ready: [], at: round * hour + 1)
        }
        #expect(underWay == [2, 4, 8, 8])
        #expect(scan.probed == 22)
        #expect(scan.problems.isEmpty)
    }
}
