import RTMP
import Testing

/// The extended timestamp: the 4 h 39 min 40 s of many reports, and the 49.7 days of none.
struct ExtendedTimestampTests {
    private let long = body(300)

    private func continued(_ header: [UInt8], repeating extension: [UInt8]) -> [UInt8] {
        Chunks.joined([
            header, Array(long[..<128]), Chunks.basic(3, 6), `extension`, Array(long[128..<256]), Chunks.basic(3, 6),
            `extension`, Array(long[256...]),
        ])
    }

    @Test(arguments: [0xFF_FFFE, 0xFF_FFFF, 0x100_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func `an absolute time is read with and without repetition`(time: UInt32) throws {
        let header = Chunks.absolute(time: time, length: 300)
        let repeated = time >= 0xFF_FFFF ? Chunks.u32(time) : []
        let expected = RTMPMessage(type: .video, timestamp: time, streamID: 1, payload: long)
        #expect(try read(continued(header, repeating: repeated)) == [expected])
        #expect(try read(continued(header, repeating: [])) == [expected])  // rtmpdump
    }

    @Test func `repetition may change within one message`() throws {
        let header = Chunks.absolute(time: 0x0102_0304, length: 300)
        let bytes = Chunks.joined([
            header, Array(long[..<128]), Chunks.basic(3, 6), Array(long[128..<256]), Chunks.basic(3, 6),
            Chunks.u32(0x0102_0304), Array(long[256...]),
        ])
        #expect(try read(bytes).map(\.payload) == [long])
    }

    @Test func `an extended delta is a delta`() throws {
        let first = Chunks.absolute(time: 10, length: 1) + [1]
        let bytes = first + continued(Chunks.delta(0x100_0000, length: 300), repeating: Chunks.u32(0x100_0000))
        #expect(try read(bytes).map(\.timestamp) == [10, 0x100_000A])
        #expect(try read(bytes).last?.payload == long)
    }

    @Test func `SRS repeats the absolute time after an extended delta`() throws {
        let first = Chunks.absolute(time: 10, length: 1) + [1]
        let bytes = first + continued(Chunks.delta(0x100_0000, length: 300), repeating: Chunks.u32(0x100_000A))
        #expect(try read(bytes).last?.payload == long)
    }

    @Test func `format 3 as first chunk repeats delta and extension`() throws {
        let first = Chunks.joined([
            Chunks.absolute(time: 10, length: 1), [1], Chunks.delta(0x100_0000, length: 1), [2],
        ])
        #expect(
            try read(first + Chunks.basic(3, 6) + Chunks.u32(0x100_0000) + [3]).map(\.timestamp) == [
                10, 0x100_000A, 0x200_000A,
            ])
        #expect(try read(first + Chunks.basic(3, 6) + Chunks.u32(0x100_0000) + [3]).last?.payload == [3])
        #expect(try read(first + Chunks.basic(3, 6) + [3]).last?.payload == [3])
    }

    @Test func `a later short delta ends the extension`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 0x100_0000, length: 1), [1], Chunks.delta(5, length: 300), Array(long[..<128]),
            Chunks.basic(3, 6), Array(long[128..<256]), Chunks.basic(3, 6), Array(long[256...]),
        ])
        #expect(try read(bytes).last == RTMPMessage(type: .video, timestamp: 0x100_0005, streamID: 1, payload: long))
    }

    @Test func `deltas wrap at 2^32`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 0xFFFF_FFF4, length: 1), [1], Chunks.delta(33, length: 1), [2],
        ])
        #expect(try read(bytes).map(\.timestamp) == [4_294_967_284, 21])
    }

    @Test func `payload that begins like the extension is told apart byte by byte`() throws {
        // The peer leaves the repetition out; the payload shares 1, 2 and 3 bytes with it.
        for shared in 1...3 {
            let time: UInt32 = 0x0102_0304
            var payload = body(200, from: 77)
            payload.replaceSubrange(128..<(128 + shared), with: Chunks.u32(time)[..<shared])
            let bytes = Chunks.joined([
                Chunks.absolute(time: time, length: 200), Array(payload[..<128]), Chunks.basic(3, 6),
                Array(payload[128...]),
            ])
            for split in 0...bytes.count {
                var reader = ChunkReader()
                let messages = try reader.messages(bytes[..<split]) + reader.messages(bytes[split...])
                #expect(messages.map(\.payload) == [payload], "split \(split), shared \(shared)")
            }
        }
    }

    @Test func `a tail shorter than the extension does not wait for more`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 0x0102_0304, length: 130), Array(long[..<128]), Chunks.basic(3, 6), [9, 9],
        ])
        #expect(try read(bytes).map(\.payload) == [long[..<128] + [9, 9]])
    }

    @Test(arguments: [0xFF_FFF0, 0xFFFF_FFF0] as [UInt32])
    func `a written stream crosses the wrap`(start: UInt32) throws {
        var writer = ChunkWriter()
        var bytes: [UInt8] = []
        let times = (0..<40).map { start &+ UInt32($0) }
        for time in times {
            writer.append(.video, timestamp: time, streamID: 1, chunkStreamID: 6, payload: long[...], to: &bytes)
        }
        let messages = try read(bytes)
        #expect(messages.map(\.timestamp) == times)
        #expect(messages.allSatisfy { $0.payload == long })
    }
}
