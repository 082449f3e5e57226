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

    /// ONVIF Streaming Specification, 5.1.4.1.3: the frame header in an extension of the first packet.
    private func large(_ words: [UInt8], profile: UInt16 = 0xFFD8) -> [UInt8] {
        let padded = words + [UInt8](repeating: 0xFF, count: (4 - words.count % 4) % 4)
        return [UInt8(profile >> 8), UInt8(profile & 255), 0, UInt8(padded.count / 4)] + padded
    }

    private func packet(_ sender: inout Sender, extension words: [UInt8], _ payload: [UInt8]) -> [UInt8] {
        var bytes = Array(sender.packet(payload, marker: true))
        bytes[0] |= 0x10
        bytes.insert(contentsOf: words, at: 12)
        return bytes
    }

    private static let frameHeader: [UInt8] = [
        0xFF, 0xC0, 0, 17, 8, 0x07, 0x98, 0x0A, 0x20, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1,
    ]

    @Test func `an image above 2040 pixels has the size of its extension, or of the description`() throws {
        let size: [UInt8] = [8, 0x07, 0x98, 0x0A, 0x20, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        let payload = header(width: 0, height: 0) + [1, 2, 3]
        for words in [Self.frameHeader, [0xFF, 0xDD, 0, 4, 0, 7] + Self.frameHeader] {
            var sender = Sender(payloadType: 26)
            var track = track()
            let units = track.received(packet(&sender, extension: large(words), payload)[...], at: 0)
            #expect(segment(0xC0, of: try #require(units.first?.data)) == [size])
        }
        var sender = Sender(payloadType: 26)
        var configuration = RTPTrack.Configuration(
            format: .jpeg, payloadType: 26, clockRate: 90000, ownSource: 1, name: "x")
        configuration.dimensions = FrameDimensions(width: 0x0A20, height: 0x0798)
        var described = RTPTrack(configuration)
        let units = described.received(sender.packet(payload, marker: true))
        #expect(segment(0xC0, of: try #require(units.first?.data)) == [size])
        // What the packets say themselves counts.
        let small = described.received(sender.packet(header() + [1], marker: true))
        #expect(segment(0xC0, of: try #require(small.first?.data)).first?.prefix(5) == [8, 0, 24, 0, 32])
    }

    @Test func `an extension without a whole frame header gives no image and no trap`() {
        let payload = header(width: 0, height: 0) + [1, 2, 3]
        // Two bytes less, and what fills the extension up to whole words stands for them.
        for count in 0..<Self.frameHeader.count - 2 {
            var sender = Sender(payloadType: 26)
            var track = track()
            let cut = large(Array(Self.frameHeader.prefix(count)))
            #expect(track.received(packet(&sender, extension: cut, payload)[...], at: 0).isEmpty, "\(count)")
        }
        for words: [UInt8] in [
            [], [0xFF, 0xC0, 0, 1], [0xFF, 0xC0, 0xFF, 0xFF, 1, 2, 3, 4], [0, 0, 0, 0], [0xFF, 0xC0, 0, 4, 8, 1, 1, 1],
            [0xFF, 0xC0, 0, 8, 8, 0, 0, 0, 0, 3],
        ] {
            var sender = Sender(payloadType: 26)
            var track = track()
            #expect(track.received(packet(&sender, extension: large(words), payload)[...], at: 0).isEmpty, "\(words)")
        }
        var sender = Sender(payloadType: 26)
        var track = track()
        let other = large(Self.frameHeader, profile: 0xABAC)
        #expect(track.received(packet(&sender, extension: other, payload)[...], at: 0).isEmpty)
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

    @Test func `a part that is missing costs the image`() {
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

    @Test func `without a marker the next image ends it`() {
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
