import RTP
import Testing

/// RFC 3640 beyond what ffmpeg sends.
struct AACTests {
    private func track(sizeLength: Int = 13, configuration: [UInt8] = [0x14, 0x08]) -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: .aac(configuration: configuration, sizeLength: sizeLength, indexLength: 3, indexDeltaLength: 3),
                payloadType: 96, clockRate: 16000, ownSource: 1, name: "x"))
    }

    @Test func `frames of one packet follow each other in time`() {
        var sender = Sender(timestamp: 0xFFFF_FFFF)
        var track = track()
        let units = track.received(sender.packet(Units.hex("002000100018" + "aabb" + "ccddee"), marker: true), at: 9)
        #expect(units.map(\.data) == [[0xAA, 0xBB], [0xCC, 0xDD, 0xEE]])
        #expect(units.map(\.timestamp) == [0xFFFF_FFFF, 1023])
        #expect(units.allSatisfy { $0.isKeyFrame && $0.format == nil && $0.arrival == 9 })
    }

    @Test func `the duration is in ticks of the stream's clock`() {
        // 8 kHz AAC of 960 samples under a clock of 16 kHz.
        var sender = Sender(timestamp: 0)
        var track = track(configuration: [0x15, 0x8C])
        let units = track.received(sender.packet(Units.hex("002000080008aabb")))
        #expect(units.map(\.timestamp) == [0, 1920])
    }

    @Test func `low bit rate mode`() {
        var sender = Sender(timestamp: 0)
        var track = RTPTrack(
            RTPTrack.Configuration(
                format: .aac(configuration: [], sizeLength: 6, indexLength: 2, indexDeltaLength: 2), payloadType: 96,
                clockRate: 8000, ownSource: 1, name: "x"))
        #expect(track.received(sender.packet(Units.hex("00100804aabbcc"))).map(\.data) == [[0xAA, 0xBB], [0xCC]])
    }

    @Test func `without AU headers the packet is a frame`() {
        var sender = Sender()
        var track = track(sizeLength: 0)
        #expect(track.received(sender.packet([1, 2, 3])).map(\.data) == [[1, 2, 3]])
    }

    @Test func `an ADTS header is taken off`() {
        var sender = Sender()
        var track = track()
        let adts = Units.hex("fff1605f" + "00" + "00fc") + []
        var frame = adts + [0x21, 0x22]
        frame[4] = UInt8(frame.count >> 3)
        frame[5] = UInt8(frame.count & 7) << 5 | 0x1F
        frame[3] &= 0xFC
        let header: [UInt8] = [0, 16, 0, UInt8(frame.count) << 3]
        #expect(track.received(sender.packet(header + frame)).map(\.data) == [[0x21, 0x22]])
    }

    @Test func `a fragment that stays alone is damage`() {
        var sender = Sender()
        var track = track()
        let head = Units.hex("0010" + "0020")  // four bytes
        #expect(track.received(sender.packet(head + [1, 2])).isEmpty)
        #expect(track.received(sender.packet(head + [3, 4], marker: true)).map(\.data) == [[1, 2, 3, 4]])
        sender.timestamp &+= 1024
        #expect(track.received(sender.packet(head + [1, 2])).isEmpty)
        #expect(track.received(sender.packet(head + [3, 4], marker: true, skipping: 1)).isEmpty)
        #expect(track.statistics.damaged == 2)
        sender.timestamp &+= 1024
        #expect(track.received(sender.packet(Units.hex("00100008aa"))).count == 1)
    }

    @Test(arguments: [
        "00", "0010", "001000", "0000aabb", "ffff00", "00100000", "0020" + "0010" + "0019" + "aabbccddee",
        "0020" + "0010" + "0800" + "aabb", "0020" + "0010" + "0080" + "aabbcc",
    ])
    func `headers that are broken or interleaved cost the packet`(text: String) {
        var sender = Sender()
        var track = track()
        let units = track.received(sender.packet(Units.hex(text), marker: true))
        #expect(units.count <= 1)
        #expect(track.statistics.damaged == 1)
    }
}
