import Testing
import Wire

@testable import RTP

/// RTCP (RFC 3550 §6).
struct ControlTests {
    private static let report = "80c8000612345678e1e2e3e4f1f2f3f4000004d20000000500000006"

    @Test func `a sender report is kept, another source's is not`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        // Of which source it will be is not known yet.
        track.receivedControl(Units.hex(Self.report)[...], at: 1)
        #expect(track.senderReport == nil)
        _ = track.received(sender.packet(Units.delta(), marker: true))
        track.receivedControl(Units.hex(Self.report)[...], at: 2)
        #expect(track.senderReport == SenderReport(ntp: 0xE1E2_E3E4_F1F2_F3F4, timestamp: 1234, arrival: 2))
        track.receivedControl(Units.hex(Self.report.replacing("12345678", with: "99999999"))[...], at: 3)
        #expect(track.senderReport?.arrival == 2)
    }

    @Test func `a sender report before the first packet is kept when its source was named`() {
        var track = RTPTrack.h264(source: 0x1234_5678)
        track.receivedControl(Units.hex(Self.report)[...], at: 1)
        #expect(track.senderReport?.timestamp == 1234)
    }

    @Test func `a control packet on the data channel is one`() {
        var track = RTPTrack.h264(source: 0x1234_5678)
        #expect(track.received(Units.hex(Self.report), at: 1).isEmpty)
        #expect(track.senderReport != nil)
        #expect(track.statistics.discarded == 0)
    }

    @Test func `a compound packet is read as far as it is whole`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        _ = track.received(sender.packet(Units.delta(), marker: true))
        // Description, then goodbye, then junk.
        let compound = Self.report + "81ca0002123456780101610000000000" + "82cb00029999999912345678" + "ff00"
        for count in 0..<(compound.utf8.count / 2) {
            var copy = track
            copy.receivedControl(Units.hex(compound)[..<count], at: 1)
            #expect((copy.senderReport != nil) == (count >= 28))
        }
        track.receivedControl(Units.hex(Self.report + "81cb000112345678ff")[...], at: 1)
        #expect(track.hasLeft)
    }

    @Test func `a report of nothing is empty but for the name`() {
        var track = RTPTrack.h264()
        // Report without blocks; description with CNAME "3f1c" and two zeros.
        #expect(
            track.receiverReport(at: 0) == Units.hex("80c90001cafef00d" + "81ca0003cafef00d" + "0104336631630000"))
    }

    @Test func `loss, highest number, jitter and the last sender report are reported`() {
        var sender = Sender(sequence: 65534)
        var track = RTPTrack.h264()
        // 4 packets at once, one missing between, wrapping.
        _ = track.received(sender.packet(Units.delta(), marker: true), at: 0)
        _ = track.received(sender.packet(Units.delta(), marker: true), at: 0)
        _ = track.received(sender.packet(Units.delta(), marker: true, skipping: 1), at: 0)
        track.receivedControl(Units.hex(Self.report)[...], at: second)
        let report = track.receiverReport(at: 3 * second)
        // Fraction 1/4, one lost in all, number 1 after one wrap, no jitter; two seconds since.
        #expect(
            Array(report.prefix(32))
                == Units.hex(
                    "81c90007cafef00d" + "12345678" + "40000001" + "00010001" + "00000000" + "e3e4f1f2" + "00020000"))
        // Nothing since then.
        #expect(Array(track.receiverReport(at: 3 * second)[12..<16]) == [0, 0, 0, 1])
    }

    @Test func `jitter is that of RFC 3550`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        // Every 40 ms by the camera's clock; every second packet is 10 ms late.
        for index in 0..<200 as Range<UInt64> {
            _ = track.received(
                sender.packet(Units.delta(), marker: true), at: index * 40 * millisecond + index % 2 * 10 * millisecond)
            sender.timestamp &+= 3600
        }
        let jitter = track.statistics.jitterNanoseconds
        #expect(jitter > 9 * millisecond && jitter <= 10 * millisecond)
        let report = track.receiverReport(at: 0)
        let ticks = report[20..<24].reduce(0) { $0 << 8 | UInt64($1) }
        #expect(ticks == jitter * 90000 / second)
    }

    @Test func `a long name is cut to what the field holds`() {
        var track = RTPTrack(
            RTPTrack.Configuration(
                format: .pcma, payloadType: 8, clockRate: 8000, ownSource: 1,
                name: String(repeating: "n", count: 400)))
        let report = track.receiverReport(at: 0)
        #expect(report[17] == 255)
        #expect(report.count % 4 == 0)
        #expect(report.count == 8 + 4 + 4 * (Int(report[10]) << 8 | Int(report[11])))
    }
}
