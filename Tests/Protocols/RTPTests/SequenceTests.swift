import RTP
import TestSupport
import Testing

/// Loss, order and numbers that begin again (RFC 3550 A.1).
struct SequenceTests {
    private func track(reorders: Bool = false, firstSequence: UInt16? = nil) -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: .pcmu, payloadType: 0, clockRate: 8000, firstSequence: firstSequence, reorders: reorders,
                ownSource: 1, name: "x"))
    }

    private func packets(_ count: Int, from sequence: UInt16 = 65530) -> [[UInt8]] {
        var sender = Sender(payloadType: 0, sequence: sequence)
        return (0..<count).map { sender.packet([UInt8(truncatingIfNeeded: $0)]) }
    }

    @Test func `numbers wrap`() {
        var track = track()
        let units = packets(300).flatMap { track.received($0) }
        #expect(units.count == 300)
        #expect(track.statistics.lost == 0 && track.statistics.packets == 300)
    }

    @Test func `what is missing is counted, what comes late is not taken`() {
        var track = track()
        let packets = packets(20)
        for index in [0, 1, 5, 3, 6, 5, 7] { _ = track.received(packets[index]) }
        #expect(track.statistics.lost == 3)
        #expect(track.statistics.discarded == 2)
        #expect(track.statistics.packets == 5)
    }

    @Test func `numbers that begin again are believed with the second packet`() {
        for reorders in [false, true] {
            var track = track(reorders: reorders)
            var units = packets(3, from: 100).flatMap { track.received($0) }
            units += packets(4, from: 40000).flatMap { track.received($0) }
            #expect(units.map { $0.data[0] } == [0, 1, 2, 1, 2, 3])
            #expect(track.statistics.discarded == 1)
            #expect(track.statistics.lost == 0)
        }
    }

    @Test func `one packet from far away changes nothing`() {
        var track = track()
        _ = packets(3, from: 100).map { track.received($0) }
        #expect(track.received(packets(1, from: 40000)[0]).isEmpty)
        #expect(track.received(packets(1, from: 103)[0]).count == 1)
        #expect(track.statistics.lost == 0)
    }

    @Test func `an early packet waits for the one before it`() {
        var track = track(reorders: true)
        let packets = packets(4)
        #expect(track.received(packets[0], at: 0).count == 1)
        #expect(track.received(packets[2], at: 10 * millisecond).isEmpty)
        #expect(track.received(packets[2], at: 11 * millisecond).isEmpty)
        #expect(track.ticked(at: 200 * millisecond).isEmpty)
        let units = track.received(packets[1], at: 205 * millisecond)
        #expect(units.map { $0.data[0] } == [1, 2])
        #expect(track.statistics.reordered == 1 && track.statistics.lost == 0 && track.statistics.discarded == 1)
    }

    @Test func `a packet that does not come is given up after 200 ms`() {
        for ticks in [false, true] {
            var track = track(reorders: true)
            let packets = packets(6)
            #expect(track.received(packets[0], at: 0).count == 1)
            #expect(track.received(packets[3], at: 10 * millisecond).isEmpty)
            #expect(track.received(packets[4], at: 20 * millisecond).isEmpty)
            #expect(track.ticked(at: 209 * millisecond).isEmpty)
            let units =
                ticks
                ? track.ticked(at: 210 * millisecond) : track.received(packets[5], at: 210 * millisecond)
            #expect(units.map { $0.data[0] } == (ticks ? [3, 4] : [3, 4, 5]))
            #expect(track.statistics.lost == 2)
            #expect(track.received(packets[1], at: 211 * millisecond).isEmpty)
            #expect(track.statistics.discarded == 1)
        }
    }

    @Test func `at most 512 packets wait`() {
        var track = track(reorders: true)
        let packets = packets(600)
        _ = track.received(packets[0])
        var counts: [Int] = []
        for packet in packets.dropFirst(2) { counts.append(track.received(packet).count) }
        #expect(counts.prefix(512).allSatisfy { $0 == 0 })
        #expect(counts[512] == 513)
        #expect(counts.suffix(from: 513).allSatisfy { $0 == 1 })
        #expect(track.statistics.lost == 1)
    }

    @Test func `at the start the number of RTP-Info is waited for`() {
        var track = track(reorders: true, firstSequence: 100)
        let packets = packets(3, from: 100)
        #expect(track.received(packets[1]).isEmpty)
        #expect(track.received(packets[0]).map { $0.data[0] } == [0, 1])
    }

    @Test(arguments: [0, 90, 65000, 101] as [UInt16])
    func `a number of RTP-Info that is a lie costs 200 ms at most`(hint: UInt16) {
        var track = track(reorders: true, firstSequence: hint)
        var units = packets(3, from: 100).flatMap { track.received($0, at: 0) }
        units += track.ticked(at: 200 * millisecond)
        #expect(units.map { $0.data[0] } == [0, 1, 2])
        #expect(track.statistics.lost == 0)
    }

    @Test func `without reordering the hint changes nothing`() {
        var track = track(firstSequence: 90)
        #expect(track.received(packets(1, from: 100)[0]).count == 1)
    }

    @Test func `another payload type is not of this stream`() {
        var track = track()
        var sender = Sender(payloadType: 8)
        #expect(track.received(sender.packet([1])).isEmpty)
        #expect(track.received([1, 2, 3]).isEmpty)
        #expect(track.statistics.discarded == 2 && track.statistics.lastPacket == nil)
    }

    /// Pictures of one packet each: a key frame, then others, from `sequence` on.
    private func pictures(_ count: Int, from sequence: UInt16, timestamp: UInt32) -> [[UInt8]] {
        var sender = Sender(sequence: sequence, timestamp: timestamp)
        return (0..<count).map { index in
            sender.timestamp &+= 3600
            return sender.packet(index == 0 ? Units.key() : Units.delta(UInt8(index)), marker: true)
        }
    }

    @Test(arguments: [1, 2, 50, 100] as [UInt16])
    func `numbers that begin again a little further down are believed with the second packet`(distance: UInt16) {
        for reorders in [false, true] {
            var track = RTPTrack.h264([Units.sequence, Units.picture], reorders: reorders)
            #expect(pictures(120, from: 0, timestamp: 0).flatMap { track.received($0) }.count == 120)
            var again = pictures(1, from: 120 - distance, timestamp: 1 << 30)
            again += pictures(3, from: 121 - distance, timestamp: 1 << 30 + 3600)
            let units = again.flatMap { track.received($0) }
            #expect(units.map(\.isKeyFrame) == [true, false, false])
            #expect(track.statistics.discarded == 1 && track.statistics.lost == 0)
            #expect(!track.needsKeyFrame)
        }
    }

    @Test func `what comes behind a run of late packets must begin with a key frame`() {
        var track = RTPTrack.h264([Units.sequence, Units.picture])
        #expect(pictures(120, from: 0, timestamp: 0).flatMap { track.received($0) }.count == 120)
        // Numbers and times begin again together, so that these could be the old packets.
        let again = pictures(60, from: 80, timestamp: 80 * 3600)
        #expect(track.received(again[0]).isEmpty && !track.needsKeyFrame)
        #expect(again.dropFirst().flatMap { track.received($0) }.isEmpty)
        #expect(track.needsKeyFrame)
        #expect(pictures(2, from: 140, timestamp: 140 * 3600).flatMap { track.received($0) }.count == 2)
    }

    @Test func `datagrams that were given up and come after all change nothing`() {
        var track = RTPTrack.h264([Units.sequence, Units.picture], reorders: true)
        let packets = pictures(20, from: 0, timestamp: 0)
        for packet in packets[..<5] + packets[10...] { _ = track.received(packet, at: 0) }
        #expect(track.ticked(at: 200 * millisecond).isEmpty)
        let key = pictures(1, from: 20, timestamp: 20 * 3600)
        #expect(track.received(key[0], at: 210 * millisecond).count == 1)
        for packet in packets[5..<10] { #expect(track.received(packet, at: 220 * millisecond).isEmpty) }
        #expect(!track.needsKeyFrame)
        // Neither do those that were sent before the first one that came.
        let earlier = pictures(2, from: 65530, timestamp: 0 &- 7 * 3600)
        for packet in earlier { #expect(track.received(packet, at: 230 * millisecond).isEmpty) }
        let next = pictures(2, from: 20, timestamp: 20 * 3600)[1]
        #expect(track.received(next, at: 240 * millisecond).count == 1)
    }
}
