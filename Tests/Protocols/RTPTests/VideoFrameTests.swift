import Media
import RTP
import Testing
import Wire

/// H.264 payloads (RFC 6184) as cameras send them, the wrong ways too.
struct PictureTests {
    private static let sets = [Units.sequence, Units.picture]

    /// A track that has shown its first key frame.
    private func started(_ sender: inout Sender) -> RTPTrack {
        var track = RTPTrack.h264(Self.sets)
        #expect(track.received(sender.packet(Units.key(), marker: true)).count == 1)
        sender.timestamp &+= 3600
        return track
    }

    @Test func `delimiters, parameter sets and filler are left out, supplemental information stays`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        var units: [EncodedUnit] = []
        for unit in [Units.delimiter, Units.sequence, Units.picture, Units.information, Units.key()] {
            units += track.received(sender.packet(unit))
        }
        units += track.received(sender.packet(Units.filler, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key())])
        #expect(units.first?.isKeyFrame == true)
        #expect(units.first?.format?.width == 96)
    }

    @Test func `an aggregate is taken apart`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        let payload = Units.aggregate(Units.sequence, Units.picture, Units.information, Units.key())
        let units = track.received(sender.packet(payload, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key())])
    }

    @Test(arguments: [25, 26, 27] as [UInt8])
    func `interleaved aggregates are taken apart`(type: UInt8) {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var payload: [UInt8] = [type, 0, 7]
        for unit in [Units.information, Units.key()] {
            payload.appendUInt16(UInt16(unit.count))
            payload += [UInt8](repeating: 9, count: type == 25 ? 0 : Int(type) - 23)
            payload += unit
        }
        let units = track.received(sender.packet(payload, marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key())])
    }

    @Test func `fragments become a unit, with a decoding order number too`() {
        for hasNumber in [false, true] {
            var sender = Sender()
            var track = RTPTrack.h264(Self.sets)
            var payloads = Units.fragments(Units.key(size: 100), size: 30)
            if hasNumber {
                payloads[0][0] += 1
                payloads[0].insert(contentsOf: [1, 2], at: 2)
            }
            let units = payloads.enumerated().flatMap { index, payload in
                track.received(sender.packet(payload, marker: index == payloads.count - 1))
            }
            #expect(units.map(\.data) == [Units.accessUnit(Units.key(size: 100))])
        }
    }

    @Test func `only the first fragment says the type`() {
        // scottlamb/moonfire-nvr#344.
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var payloads = Units.fragments(Units.key(size: 100), size: 30)
        for index in payloads.indices.dropFirst() { payloads[index][1] = payloads[index][1] & 0xC0 | 1 }
        let units = payloads.enumerated().flatMap { index, payload in
            track.received(sender.packet(payload, marker: index == payloads.count - 1))
        }
        #expect(units.map(\.data) == [Units.accessUnit(Units.key(size: 100))])
    }

    @Test func `an end bit that is missing is not a damage when no packet is`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var payloads = Units.fragments(Units.key(size: 100), size: 30)
        payloads[payloads.count - 1][1] &= 0xBF
        var units = payloads.flatMap { track.received(sender.packet($0)) }
        units += track.received(sender.packet(Units.key(2, first: false), marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.key(size: 100), Units.key(2, first: false))])
    }

    @Test func `where the camera marks the last fragment, a unit without its end was cut by the camera`() {
        var sender = Sender()
        var track = started(&sender)
        let whole = Units.fragments(Units.key(1, size: 100), size: 30)
        let cut = whole.dropLast()
        func send(_ payloads: [[UInt8]]) -> [EncodedUnit] {
            payloads.enumerated().flatMap { track.received(sender.packet($1, marker: $0 == payloads.count - 1)) }
        }
        #expect(send(whole).count == 1)
        // A marker behind half a slice; half a slice and another one; half a slice and the next picture.
        for payloads in [Array(cut), cut + [Units.key(1, first: false)], cut + whole] {
            sender.timestamp &+= 3600
            #expect(send(payloads).isEmpty)
            sender.timestamp &+= 3600
            #expect(send([Units.delta()]).isEmpty, "it refers to what is not whole")
            sender.timestamp &+= 3600
            #expect(send(whole).map(\.isKeyFrame) == [true])
        }
        sender.timestamp &+= 3600
        for payload in cut { #expect(track.received(sender.packet(payload)).isEmpty) }
        sender.timestamp &+= 3600
        #expect(send(whole).count == 1)
        #expect(track.statistics.damaged == 4)
    }

    @Test func `a camera that marks the last fragment of some units only loses two pictures, and not all`() {
        var sender = Sender()
        var track = started(&sender)
        let marked = Units.fragments(Units.key(1, size: 100), size: 30)
        var unmarked = marked
        unmarked[unmarked.count - 1][1] &= 0xBF
        func send(_ payloads: [[UInt8]]) -> [EncodedUnit] {
            sender.timestamp &+= 3600
            return payloads.enumerated().flatMap {
                track.received(sender.packet($1, marker: $0 == payloads.count - 1))
            }
        }
        #expect(send(marked).count == 1)
        #expect(send(unmarked).isEmpty && send(unmarked).isEmpty)
        for _ in 0..<10 {
            #expect(send(unmarked).count == 1)
            #expect(send(marked).count == 1)
        }
        #expect(track.statistics.damaged == 2)
        // A loss between them: the units say nothing together.
        var other = Sender()
        track = started(&other)
        sender = other
        #expect(send(marked).count == 1)
        for _ in 0..<6 {
            #expect(send(unmarked).isEmpty)
            sender.sequence &+= 1
        }
    }

    @Test func `a byte stream inside of a packet is split`() {
        // scottlamb/retina#68: start codes of both lengths, at the front and between, in one packet and in fragments.
        let parts: [[UInt8]] = [
            Units.sequence, [0, 0, 0, 1], Units.picture, [0, 0, 1], Units.information, [0, 0, 0, 1],
            Units.key(size: 50),
        ]
        let stream = parts.flatMap(\.self)
        for payloads in [[stream], [[0, 0, 0, 1] + stream], [[0, 0, 1] + stream], Units.fragments(stream, size: 25)] {
            var sender = Sender()
            var track = RTPTrack.h264()
            let units = payloads.enumerated().flatMap { index, payload in
                track.received(sender.packet(payload, marker: index == payloads.count - 1))
            }
            #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key(size: 50))])
            #expect(units.first?.format?.height == 64)
        }
    }

    @Test func `junk behind a parameter set does no harm`() {
        // scottlamb/retina#102.
        var sender = Sender()
        var track = RTPTrack.h264()
        _ = track.received(sender.packet(Units.sequence + [0x80, 0, 0, 0x55]))
        _ = track.received(sender.packet(Units.picture))
        let units = track.received(sender.packet(Units.key(), marker: true))
        #expect(units.first?.format?.width == 96)
    }

    @Test func `a marker behind supplemental information or sets does not split a picture`() {
        // scottlamb/moonfire-nvr#352.
        var sender = Sender()
        var track = RTPTrack.h264()
        for unit in [Units.sequence, Units.picture, Units.information] {
            #expect(track.received(sender.packet(unit, marker: true)).isEmpty)
        }
        let units = track.received(sender.packet(Units.key(), marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key())])
        #expect(track.statistics.damaged == 0)
    }

    @Test func `what stands before a picture under an earlier timestamp goes with it`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        for unit in [Units.sequence, Units.picture, Units.information] { _ = track.received(sender.packet(unit)) }
        sender.timestamp &+= 1
        let units = track.received(sender.packet(Units.key(), marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.information, Units.key())])
        #expect(units.first?.timestamp == sender.timestamp)
    }

    @Test func `nothing is delivered before the first key frame`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        #expect(track.needsKeyFrame)
        #expect(track.received(sender.packet(Units.delta(), marker: true)).isEmpty)
        #expect(track.statistics.skipped == 1)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.key(), marker: true)).count == 1)
        #expect(!track.needsKeyFrame)
    }

    @Test func `without any parameter sets the key frame is left out`() {
        var sender = Sender()
        var track = RTPTrack.h264()
        #expect(track.received(sender.packet(Units.key(), marker: true)).isEmpty)
        #expect(track.needsKeyFrame)
    }

    @Test func `sets of the description serve until the stream brings its own`() throws {
        // Failures 11 and 12 of docs/design/0008, and sprop that is junk or of another stream.
        let wide = Units.hex("6764000aacb2041b6022000003000200000300641e244c90")
        var sender = Sender()
        var track = RTPTrack.h264([[1, 2, 3], [], wide, Units.hex("68ebc3cb22c0")])
        let first = try #require(track.received(sender.packet(Units.key(), marker: true)).first)
        #expect(first.format?.width == 128)
        sender.timestamp &+= 3600
        let payload = Units.aggregate(Units.sequence, Units.picture, Units.key())
        let second = try #require(track.received(sender.packet(payload, marker: true)).first)
        #expect(second.format?.width == 96)
        let record = try AVCConfigurationRecord.parse(try #require(second.format).configurationRecord[...])
        #expect(record.sequenceParameterSets == [Units.sequence])
        #expect(record.pictureParameterSets == [Units.picture])
    }

    @Test func `another size in mid-stream is a new format, the same sets again are not`() {
        // Failure 24 of docs/design/0008.
        let wide = Units.hex("6764000aacb2041b6022000003000200000300641e244c90")
        let wideFrame = Units.hex("68ebc3cb22c0")
        var sender = Sender()
        var track = RTPTrack.h264()
        var widths: [Int?] = []
        for sets in [Self.sets, Self.sets, [wide, wideFrame], [wide, wideFrame], Self.sets] {
            let payload = Units.aggregate(sets[0], sets[1], Units.key())
            widths += track.received(sender.packet(payload, marker: true)).map { $0.format?.width }
            sender.timestamp &+= 3600
            widths += track.received(sender.packet(Units.delta(), marker: true)).map { $0.format?.width }
            sender.timestamp &+= 3600
        }
        #expect(widths == [96, nil, nil, nil, 128, nil, nil, nil, 96, nil])
    }

    @Test func `after a loss nothing comes before the next key frame`() {
        var sender = Sender()
        var track = started(&sender)
        #expect(track.received(sender.packet(Units.delta(), marker: true)).count == 1)
        sender.timestamp &+= 3600
        // The second slice of three is missing.
        #expect(track.received(sender.packet(Units.delta(2))).isEmpty)
        #expect(track.received(sender.packet(Units.delta(3, first: false), marker: true, skipping: 1)).isEmpty)
        #expect(track.needsKeyFrame)
        #expect(track.statistics.damaged == 1 && track.statistics.lost == 1)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.delta(4), marker: true)).isEmpty)
        #expect(track.statistics.skipped == 1)
        sender.timestamp &+= 3600
        let units = track.received(sender.packet(Units.key(5), marker: true))
        #expect(units.map(\.data) == [Units.accessUnit(Units.key(5))])
        #expect(units.first?.format == nil)
    }

    @Test func `a whole key frame right behind a loss is taken, one without its first slice is not`() {
        var sender = Sender()
        var track = started(&sender)
        #expect(track.received(sender.packet(Units.key(2, first: false), marker: true, skipping: 1)).isEmpty)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.key(3), marker: true, skipping: 1)).count == 1)
        #expect(track.statistics.lost == 2 && track.statistics.damaged == 1)
    }

    @Test func `a lost marker costs its picture only`() {
        var sender = Sender()
        var track = started(&sender)
        #expect(track.received(sender.packet(Units.delta(2))).isEmpty)
        sender.timestamp &+= 3600
        let units = track.received(sender.packet(Units.key(3), marker: true, skipping: 1))
        #expect(units.map(\.data) == [Units.accessUnit(Units.key(3))])
        #expect(track.statistics.damaged == 1)
    }

    @Test func `fragments without a beginning damage the picture`() {
        var sender = Sender()
        var track = started(&sender)
        for payload in Units.fragments(Units.delta(size: 90), size: 30).dropFirst() {
            #expect(track.received(sender.packet(payload, marker: payload[1] & 0x40 != 0)).isEmpty)
        }
        #expect(track.statistics.damaged == 1 && track.needsKeyFrame)
    }

    @Test func `without markers the last picture comes out by time`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var units: [EncodedUnit] = []
        for index in 0..<3 {
            units += track.received(
                sender.packet(index == 0 ? Units.key() : Units.delta(UInt8(index))), at: UInt64(index) * second)
            sender.timestamp &+= 90000
        }
        #expect(units.count == 2)
        #expect(track.ticked(at: 2 * second + 100 * millisecond).isEmpty)
        let last = track.ticked(at: 2 * second + 250 * millisecond)
        #expect(last.map(\.data) == [Units.accessUnit(Units.delta(2))])
        #expect(last.first?.arrival == 2 * second)
    }

    @Test func `without markers pictures of always as many slices are not held`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var counts: [Int] = []
        for index in 0..<14 {
            let first = index == 0 ? Units.key() : Units.delta(UInt8(index))
            let second = index == 0 ? Units.key(first: false) : Units.delta(UInt8(index), first: false)
            counts.append(track.received(sender.packet(first)).count)
            counts.append(track.received(sender.packet(second)).count)
            sender.timestamp &+= 3600
        }
        // Learned from eight: the ninth is out with its second slice, and the eighth before its first.
        #expect(counts.suffix(8) == [0, 1, 0, 1, 0, 1, 0, 1])
        #expect(counts.reduce(0, +) == 14)
        // One with a third slice: the picture is lost, and the rule with it.
        for unit in [Units.key(1), Units.key(1, first: false), Units.key(2, first: false)] {
            _ = track.received(sender.packet(unit))
        }
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.key(3))).isEmpty)
        #expect(track.statistics.damaged == 1)
        #expect(track.received(sender.packet(Units.key(3, first: false))).isEmpty)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.delta(4))).map(\.isKeyFrame) == [true])
    }

    @Test func `markers on every slice are seen through`() {
        var sender = Sender()
        var track = RTPTrack.h264(Self.sets)
        var units: [EncodedUnit] = []
        for index in 0..<6 {
            let isKey = index % 2 == 0
            units += track.received(
                sender.packet(isKey ? Units.key(UInt8(index)) : Units.delta(UInt8(index)), marker: true))
            units += track.received(
                sender.packet(
                    isKey ? Units.key(UInt8(index), first: false) : Units.delta(UInt8(index), first: false),
                    marker: true))
            sender.timestamp &+= 3600
        }
        // The first one went out incomplete; from the next key frame on they are whole.
        #expect(track.statistics.damaged == 1)
        #expect(
            units.dropFirst().first?.data == Units.accessUnit(Units.key(2), Units.key(2, first: false)))
    }

    @Test func `a picture has bounds`() {
        var sender = Sender()
        var track = started(&sender)
        let part = [UInt8](repeating: 0xA5, count: 60000)
        var payloads = [[0x7C, 0x85] + [0x88] + part]
        payloads += [[UInt8]](repeating: [0x7C, 0x05] + part, count: 300)
        for payload in payloads { #expect(track.received(sender.packet(payload)).isEmpty) }
        #expect(track.received(sender.packet([0x7C, 0x45, 1], marker: true)).isEmpty)
        #expect(track.statistics.damaged == 1)
        sender.timestamp &+= 3600

        let many = [[UInt8]](repeating: Units.information, count: 4200)
        for unit in many { _ = track.received(sender.packet(unit)) }
        #expect(track.received(sender.packet(Units.key(), marker: true)).isEmpty)
        #expect(track.statistics.damaged == 2)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(Units.key(), marker: true)).count == 1)
    }

    @Test func `empty packets and types that do not exist are passed over`() {
        var sender = Sender()
        var track = started(&sender)
        for payload in [[], [0], [30, 1, 2], [31], [24], [24, 0], [28], [0x41]] as [[UInt8]] {
            #expect(track.received(sender.packet(payload)).isEmpty)
        }
        #expect(track.statistics.discarded == 0)
    }
}
