import RTP
import TestSupport
import Testing

/// Packets of real senders, cut, changed and made up: nothing traps, and what comes out keeps to its form.
struct HostileInputTests {
    private func check(_ units: [EncodedUnit], _ format: PayloadFormat) {
        for unit in units {
            switch format {
            case .h264, .hevc:
                var rest = unit.data[...]
                while rest.count >= 4 {
                    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    guard length > 0, length <= rest.count - 4 else { break }
                    rest = rest.dropFirst(4 + length)
                }
                #expect(rest.isEmpty && !unit.data.isEmpty)
            case .jpeg: #expect(unit.data.starts(with: [0xFF, 0xD8]) && unit.data.suffix(2) == [0xFF, 0xD9])
            case .aac, .pcmu, .pcma, .packets: #expect(!unit.data.isEmpty)
            }
        }
    }

    @Test(arguments: Recording.names)
    func `every prefix of a packet`(name: String) throws {
        let recording = try Recording(name)
        for (index, packet) in recording.packets.prefix(8).enumerated() {
            for count in 0..<packet.count {
                var track = recording.track()
                for earlier in recording.packets[..<index] { _ = track.received(earlier) }
                var cut = Array(packet[..<count])
                if count > 12, count % 2 == 0 { cut[1] |= 0x80 }
                check(track.received(cut), recording.format)
                if index + 1 < recording.packets.count {
                    check(track.received(recording.packets[index + 1]), recording.format)
                }
                _ = track.ticked(at: second)
            }
        }
    }

    @Test(arguments: Recording.names)
    func `every bit of the first bytes changed, and some of the others`(name: String) throws {
        let recording = try Recording(name)
        var random = SeededGenerator(seed: 11)
        for packetIndex in recording.packets.indices.prefix(6) {
            let packet = recording.packets[packetIndex]
            var places = (0..<min(40, packet.count) * 8).map { $0 }
            places += (0..<60).map { _ in Int.random(in: 0..<(packet.count * 8), using: &random) }
            for place in places {
                var track = recording.track(reorders: place % 2 == 0)
                var units: [EncodedUnit] = []
                for (index, original) in recording.packets.prefix(packetIndex + 6).enumerated() {
                    var bytes = original
                    if index == packetIndex { bytes[place / 8] ^= 1 << UInt8(place % 8) }
                    units += track.received(bytes)
                }
                units += track.ticked(at: second)
                check(units, recording.format)
            }
        }
    }

    @Test(arguments: Recording.names, [21, 22])
    func `made up payloads`(name: String, seed: UInt64) throws {
        let recording = try Recording(name)
        var random = SeededGenerator(seed: seed)
        var track = recording.track(reorders: seed == 22)
        var sender = Sender(payloadType: recording.payloadType)
        for index in 0..<4000 {
            var payload = random.bytes(Int.random(in: 0..<80, using: &random))
            // Zeros and small numbers, so that lengths fit and start codes occur.
            for place in payload.indices where Bool.random(using: &random) { payload[place] &= 0x03 }
            if let first = payload.indices.first, index % 2 == 0 {
                payload[first] = [24, 25, 26, 27, 28, 29, 0x60, 0x62, 0x65, 0x67, 0x42, 0x26][index / 2 % 12]
            }
            if Int.random(in: 0..<3, using: &random) == 0 { sender.timestamp &+= 3600 }
            let bytes = sender.packet(payload, marker: Bool.random(using: &random), skipping: index % 97 == 0 ? 2 : 0)
            check(track.received(bytes, at: UInt64(index) * millisecond), recording.format)
            check(track.ticked(at: UInt64(index) * millisecond), recording.format)
        }
        #expect(track.statistics.packets > 3500)
    }

    @Test func `made up control packets`() {
        var random = SeededGenerator(seed: 31)
        var sender = Sender()
        var track = RTPTrack.h264([Units.sequence, Units.picture])
        _ = track.received(sender.packet(Units.key(), marker: true))
        for index in 0..<20_000 {
            var bytes = random.bytes(Int.random(in: 0..<64, using: &random))
            if bytes.count > 3 {
                bytes[0] = 0x80 | bytes[0] & 0x3F
                bytes[1] = 200 + bytes[1] % 6
                bytes[2] = 0
                bytes[3] %= 16
            }
            track.receivedControl(bytes[...], at: UInt64(index))
            #expect(track.receiverReport(at: UInt64(index)).count % 4 == 0)
        }
    }

    @Test func `a stream of start codes stays within its bounds`() {
        var sender = Sender()
        var track = RTPTrack.h264([Units.sequence, Units.picture])
        let codes = (0..<20_000).flatMap { _ in [0, 0, 1, 6] as [UInt8] }
        for (index, flags) in ([0x85] + [UInt8](repeating: 0x05, count: 20) + [0x45]).enumerated() {
            let bytes = sender.packet([0x7C, flags, 0x88] + codes, marker: index == 21)
            #expect(track.received(bytes).isEmpty)
        }
        #expect(track.needsKeyFrame)
    }
}
