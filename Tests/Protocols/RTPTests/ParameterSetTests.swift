import Media
import RTP
import Testing

/// What is kept of a stream's parameter sets, and when its format is reported again.
struct ParameterSetTests {
    private static let sets = [Units.sequence, Units.picture]

    /// A picture parameter set that is unreadable.
    private func junk(_ value: UInt8, size: Int = 60000) -> [UInt8] {
        [0x68, 0, 0x80] + [UInt8](repeating: value | 0x80, count: size)
    }

    private func send(_ unit: [UInt8], _ sender: inout Sender, to track: inout RTPTrack) {
        for payload in Units.fragments(unit, size: 30000) { _ = track.received(sender.packet(payload)) }
    }

    @Test func `of a flood of parameter sets the newest 128 KiB are kept`() {
        for count in [2, 3] as [UInt8] {
            var sender = Sender()
            var track = RTPTrack.h264()
            for unit in Self.sets { _ = track.received(sender.packet(unit)) }
            for value in 1...count { send(junk(value), &sender, to: &track) }
            #expect(track.received(sender.packet(Units.key(), marker: true)).count == (count == 2 ? 1 : 0))
            // The flood does no lasting harm.
            sender.timestamp &+= 3600
            let payload = Units.aggregate(Units.sequence, Units.picture, Units.key())
            #expect(track.received(sender.packet(payload, marker: true)).count == 1)
        }
    }

    @Test func `picture parameter sets of ever new ids make room`() throws {
        // Each with another id (Exp-Golomb), 30 KB: the format would grow to 7 MB.
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var records: [Int] = []
        for id in 1..<100 as Range<UInt32> {
            let length = 31 - (id + 1).leadingZeroBitCount
            // The id, then ones: sequence parameter set 0, and whatever.
            let code = UInt64(id + 1) << (63 - 2 * UInt64(length))
            let bits = code | UInt64.max >> (2 * UInt64(length) + 1)
            let fields = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
            send([0x68] + fields + [UInt8](repeating: 0xA5, count: 30000), &sender, to: &track)
            let units = track.received(sender.packet(Units.key(), marker: true))
            records += units.compactMap { $0.format?.configurationRecord.count }
            sender.timestamp &+= 3600
        }
        #expect(records.count > 50)
        #expect(try #require(records.max()) <= 256 << 10)
        #expect(!track.needsKeyFrame)
    }

    @Test func `behind a picture that could not be used a key frame must come, with its format`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        #expect(track.received(sender.packet(Units.key(), marker: true)).map { $0.format?.width } == [96])
        sender.timestamp &+= 3600
        track.requireKeyFrame()
        #expect(track.needsKeyFrame)
        #expect(track.received(sender.packet(Units.delta(), marker: true)).isEmpty)
        #expect(track.statistics.skipped == 1 && track.statistics.damaged == 0)
        for width in [96, nil] {
            sender.timestamp &+= 3600
            #expect(track.received(sender.packet(Units.key(), marker: true)).map { $0.format?.width } == [width])
        }
        #expect(!track.needsKeyFrame)
    }

    @Test func `audio needs no key frame`() {
        var track = RTPTrack(
            RTPTrack.Configuration(format: .pcmu, payloadType: 0, clockRate: 8000, ownSource: 1, name: "x"))
        var sender = Sender(payloadType: 0)
        track.requireKeyFrame()
        #expect(!track.needsKeyFrame)
        #expect(track.received(sender.packet([1])).count == 1)
    }
}
