import RTP
import Testing

/// RFC 2435 beyond what the recordings hold.
struct JPEGTests {
    private func track() -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: .jpeg, payloadType: 26, clockRate: 90000, ownSource: 1, name: "x"))
    }

    private func header(
        offset: Int = 0, type: UInt8 = 1, quality: UInt8 = 50, width: UInt8 = 4, height: UInt8 = 3
    ) -> [UInt8] {
        [0, UInt8(offset >> 16), UInt8(offset >> 8 & 255), UInt8(offset & 255), type, quality, width, height]
    }

    private func segment(_ marker: UInt8, of file: [UInt8]) -> [[UInt8]] {
        var segments: [[UInt8]] = []
        var index = 2
        while index + 4 <= file.count, file[index] == 0xFF {
            let length = Int(file[index + 2]) << 8 | Int(file[index + 3])
            if file[index + 1] == marker { segments.append(Array(file[(index + 4)..<(index + 2 + length)])) }
            if file[index + 1] == 0xDA { break }
            index += 2 + length
        }
        return segments
    }

    @Test func `size, sampling and restart interval come into the headers`() throws {
        var sender = Sender(payloadType: 26)
        var track = track()
        let payload = header(type: 64, width: 80, height: 60) + [0, 7, 0xFF, 0xFF] + [1, 2, 3]
        let file = try #require(track.received(sender.packet(payload, marker: true)).first?.data)
        #expect(segment(0xC0, of: file) == [[8, 1, 0xE0, 2, 0x80, 3, 1, 0x21, 0, 2, 0x11, 1, 3, 0x11, 1]])
        #expect(segment(0xDD, of: file) == [[0, 7]])
        #expect(segment(0xE0, of: file).first?.prefix(5) == Array("JFIF\0".utf8)[...])
        #expect(file.suffix(5) == [1, 2, 3, 0xFF, 0xD9])
    }

    @Test(arguments: [(1, 255, 255), (25, 32, 34), (50, 16, 17), (75, 8, 9), (99, 1, 1)] as [(UInt8, UInt8, UInt8)])
    func `quality scales the tables of annex K`(quality: UInt8, luminance: UInt8, chrominance: UInt8) throws {
        var sender = Sender(payloadType: 26)
        var track = track()
        let file = try #require(
            track.received(sender.packet(header(quality: quality) + [1], marker: true)).first?.data)
        let tables = segment(0xDB, of: file)
        #expect(tables.map(\.count) == [65, 65])
        #expect(tables.map { $0[1] } == [luminance, chrominance])
    }

    @Test func `tables in band are remembered by their quality`() throws {
        var sender = Sender(payloadType: 26)
        var track = track()
        let tables = (0..<128).map { UInt8($0 + 1) }
        let first = track.received(
            sender.packet(header(quality: 200) + [0, 0, 0, 128] + tables + [1], marker: true))
        sender.timestamp &+= 3600
        let second = track.received(sender.packet(header(quality: 200) + [0, 0, 0, 0] + [1], marker: true))
        #expect(first.count == 1 && first.map(\.data) == second.map(\.data))
        #expect(segment(0xDB, of: first[0].data) == [[0] + tables[..<64], [1] + tables[64...]])
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(header(quality: 201) + [0, 0, 0, 0] + [1], marker: true)).isEmpty)
        #expect(track.statistics.damaged == 1)
    }

    @Test func `tables of quality 255 are not remembered, one table serves both, two bytes are kept`() throws {
        var sender = Sender(payloadType: 26)
        var track = track()
        let long = [UInt8](repeating: 3, count: 128)
        let units = track.received(sender.packet(header(quality: 255) + [0, 1, 0, 128] + long + [1], marker: true))
        let file = try #require(units.first?.data)
        #expect(segment(0xDB, of: file) == [[0x10] + long, [0x11] + long])
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(header(quality: 255) + [0, 0, 0, 0] + [1], marker: true)).isEmpty)
    }

    @Test func `a part that is missing costs the picture`() {
        var sender = Sender(payloadType: 26)
        var track = track()
        #expect(track.received(sender.packet(header() + [1, 2])).isEmpty)
        #expect(track.received(sender.packet(header(offset: 3) + [3], marker: true)).isEmpty)
        #expect(track.statistics.damaged == 1)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(header(offset: 2) + [3], marker: true)).isEmpty)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(header() + [1, 2])).isEmpty)
        #expect(track.received(sender.packet(header(offset: 2) + [3], marker: true)).count == 1)
    }

    @Test func `without a marker the next picture ends it`() {
        var sender = Sender(payloadType: 26)
        var track = track()
        #expect(track.received(sender.packet(header() + [1, 2])).isEmpty)
        sender.timestamp &+= 3600
        #expect(track.received(sender.packet(header() + [1, 2])).map(\.timestamp) == [sender.timestamp &- 3600])
    }

    @Test func `what is not defined is left out`() {
        for payload in [
            header(width: 0), header(height: 0), header(type: 2), header(type: 128), header(quality: 0),
            header(quality: 100), header(type: 65), header(quality: 255) + [0, 0], header(quality: 128) + [0, 0, 0, 9],
            header(quality: 128) + [0, 0, 0, 2, 1], [1, 2, 3], [],
        ] {
            var sender = Sender(payloadType: 26)
            var track = track()
            #expect(track.received(sender.packet(payload, marker: true)).isEmpty)
        }
    }
}
