import Media
import RTP
import Testing
import Wire

/// H.265 payloads that no sender here makes (RFC 7798 §4.4).
struct HEVCTests {
    private static let sets = [
        "40010c01ffff01600000030090000003000003001e928090",
        "42010101600000030090000003000003001ea0308105964a924caf016808000003000800000300c840", "4401c172b42240",
    ].map(Units.hex)
    private static let key: [UInt8] = [0x26, 0x01, 0xAF] + [UInt8](repeating: 7, count: 60)
    private static let information: [UInt8] = [0x4E, 0x01, 5, 1, 0xAA, 0x80]

    private func track(hasDecodingOrder: Bool, sets: [[UInt8]] = []) -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: .hevc(parameterSets: sets, hasDecodingOrder: hasDecodingOrder), payloadType: 96,
                clockRate: 90000, ownSource: 1, name: "x"))
    }

    @Test(arguments: [false, true])
    func `aggregates, with decoding order numbers too`(hasNumbers: Bool) {
        var payload: [UInt8] = [0x60, 0x01]
        for (index, unit) in (Self.sets + [Self.information, Self.key]).enumerated() {
            if hasNumbers { payload += index == 0 ? [0, 9] : [0] }
            payload.appendUInt16(UInt16(unit.count))
            payload += unit
        }
        var sender = Sender()
        var track = track(hasDecodingOrder: hasNumbers)
        let units = track.received(sender.packet(payload, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Self.information, Self.key)])
        #expect(units.first?.isKeyFrame == true)
        #expect(units.first?.format?.codec == .hevc)
    }

    @Test(arguments: [false, true])
    func `fragments and single units, with decoding order numbers too`(hasNumbers: Bool) {
        var sender = Sender()
        var track = track(hasDecodingOrder: hasNumbers, sets: Self.sets)
        let number: [UInt8] = hasNumbers ? [1, 2] : []
        var single = Self.information
        single.insert(contentsOf: number, at: 2)
        #expect(track.received(sender.packet(single)).isEmpty)
        let body = Array(Self.key.dropFirst(2))
        #expect(track.received(sender.packet([0x62, 1, 0x80 | 19 as UInt8] + number + body[..<20])).isEmpty)
        #expect(track.received(sender.packet([0x62, 1, 19 as UInt8] + body[20..<40])).isEmpty)
        let units = track.received(sender.packet([0x62, 1, 0x40 | 19 as UInt8] + body[40...], marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Self.information, Self.key)])
    }

    @Test func `other layers, delimiters and packets with header extensions are left out`() {
        var sender = Sender()
        var track = track(hasDecodingOrder: false, sets: Self.sets)
        for payload in [[0x46, 0x01, 0x50], [0x26, 0x09, 0xAF, 1], [0x64, 0x01, 0, 0, 0], [0x26]] as [[UInt8]] {
            #expect(track.received(sender.packet(payload)).isEmpty)
        }
        let units = track.received(sender.packet(Self.key, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Self.key)])
    }

    @Test func `a byte stream inside of a packet is split`() {
        var sender = Sender()
        var track = track(hasDecodingOrder: false)
        var stream: [UInt8] = []
        for unit in Self.sets + [Self.key] { stream += [0, 0, 0, 1] + unit }
        let units = track.received(sender.packet(stream, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Self.key)])
        #expect(units.first?.format?.width == 96)
    }
}
