import Media
import Testing

@testable import VideoCodec

@Suite struct EncoderLedgerTests {
    private func frame(_ number: Int64) -> EncoderLedger.Frame {
        EncoderLedger.Frame(presentationTime: MediaTime(milliseconds: number * 40), captureInstant: UInt64(number))
    }

    private func ledger(sent numbers: Range<Int64>) -> EncoderLedger {
        var ledger = EncoderLedger()
        for number in numbers { ledger.sent(frame(number), at: number + 100) }
        return ledger
    }

    private func received(
        _ ledger: inout EncoderLedger, _ tick: Int64, _ isKeyFrame: Bool, _ condition: EncoderLedger.Condition
    ) -> EncoderLedger.Verdict {
        ledger.received(tick: tick, isKeyFrame: isKeyFrame, condition)
    }

    @Test func `packets get the frames that they are of`() {
        var ledger = ledger(sent: 0..<3)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(received(&ledger, 101, false, .intact) == .deliver(frame(1)))
        #expect(ledger.waiting == 1)
        #expect(ledger.errors == 0 && ledger.drops == 0 && ledger.unmatched == 0)
    }

    @Test func `a packet of no frame is ignored and counted`() {
        var ledger = ledger(sent: 0..<2)
        #expect(received(&ledger, 0, false, .unreadable) == .ignore)
        #expect(received(&ledger, 7, true, .intact) == .ignore)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(ledger.unmatched == 2 && ledger.errors == 0)
    }

    @Test func `a packet that comes twice is of no frame the second time`() {
        var ledger = ledger(sent: 0..<2)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(received(&ledger, 100, true, .intact) == .ignore)
        #expect(ledger.unmatched == 1)
    }

    @Test func `frames that a later one passes over were dropped`() {
        var ledger = ledger(sent: 0..<6)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(received(&ledger, 103, false, .intact) == .deliver(frame(3)))
        #expect(ledger.drops == 2)
        #expect(ledger.waiting == 2)
    }

    @Test func `nothing is handed on from a damaged packet up to the next key frame`() {
        var ledger = ledger(sent: 0..<6)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(received(&ledger, 101, false, .flagged) == .giveUp(frame(1)))
        #expect(received(&ledger, 102, false, .intact) == .giveUp(frame(2)))
        // A damaged key frame does not count.
        #expect(received(&ledger, 103, true, .flagged) == .giveUp(frame(3)))
        #expect(received(&ledger, 104, true, .intact) == .deliver(frame(4)))
        #expect(received(&ledger, 105, false, .intact) == .deliver(frame(5)))
        #expect(ledger.errors == 3 && ledger.drops == 0)
    }

    @Test func `a damaged packet of no frame costs the frames up to the next key frame, too`() {
        var ledger = ledger(sent: 0..<3)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        #expect(received(&ledger, 0, false, .flagged) == .ignore)
        #expect(received(&ledger, 101, false, .intact) == .giveUp(frame(1)))
        #expect(received(&ledger, 102, true, .intact) == .deliver(frame(2)))
        #expect(ledger.errors == 2)
    }

    @Test func `nothing is handed on before the first key frame`() {
        var ledger = ledger(sent: 0..<3)
        #expect(received(&ledger, 101, false, .intact) == .giveUp(frame(1)))
        #expect(received(&ledger, 102, true, .intact) == .deliver(frame(2)))
        #expect(ledger.drops == 1 && ledger.errors == 1)
    }

    @Test func `what an encoder holds when it is closed is lost, and the next begins with a key frame`() {
        var ledger = ledger(sent: 0..<4)
        #expect(received(&ledger, 100, true, .intact) == .deliver(frame(0)))
        ledger.ended()
        #expect(ledger.drops == 3 && ledger.waiting == 0)
        ledger.sent(frame(9), at: 5)
        #expect(received(&ledger, 101, false, .intact) == .ignore)
        #expect(received(&ledger, 5, false, .intact) == .giveUp(frame(9)))
    }
}

@Suite struct EncodedPacketTests {
    private func packet(_ units: [[UInt8]], codec: VideoCodec = .h264) -> EncodedPacket {
        let bytes: [UInt8] = units.reduce(into: []) { $0 += [0, 0, 0, 1] + $1 }
        return bytes.withUnsafeBytes { EncodedPacket($0.bytes, codec: codec) }
    }

    @Test func `a key frame is recognised by its units`() {
        // Delimiter, parameter sets, supplemental information, two slices of an IDR frame.
        let key = packet([[9, 0xF0], [0x67, 1], [0x68, 2], [6, 5], [0x65, 3], [0x65, 4]])
        #expect(key.hasFrame && key.isKeyFrame)
        #expect(key.data.count == 10 * 2 + 10)
        let other = packet([[0x41, 9]])
        #expect(other.hasFrame && !other.isKeyFrame)
        let hevc = packet([[38, 1, 2]], codec: .hevc)
        #expect(hevc.hasFrame && hevc.isKeyFrame)
    }

    @Test func `a packet of parameter sets alone holds no frame, nor does junk`() {
        let sets = packet([[0x67, 1], [0x68, 2]])
        #expect(!sets.hasFrame && !sets.isKeyFrame && !sets.data.isEmpty)
        let junk = [UInt8](repeating: 0x55, count: 100).withUnsafeBytes { EncodedPacket($0.bytes, codec: .h264) }
        #expect(!junk.hasFrame && junk.data.isEmpty)
        let nothing = EncodedPacket(UnsafeRawBufferPointer(start: nil, count: 0).bytes, codec: .h264)
        #expect(!nothing.hasFrame && nothing.data.isEmpty)
    }
}
