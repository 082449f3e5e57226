import RTMP
import TestSupport
import Testing

struct ChunkWriterTests {
    private func bytes(_ build: (inout ChunkWriter, inout [UInt8]) -> Void) -> [UInt8] {
        var writer = ChunkWriter()
        var output: [UInt8] = []
        build(&writer, &output)
        return output
    }

    @Test func `the first message has all fields and the next one a delta`() {
        let written = bytes { writer, output in
            writer.append(.audio, timestamp: 100, streamID: 1, chunkStreamID: 4, payload: [1, 2], to: &output)
            writer.append(.audio, timestamp: 123, streamID: 1, chunkStreamID: 4, payload: [3], to: &output)
        }
        #expect(
            written == [0x04, 0, 0, 100, 0, 0, 2, 8, 1, 0, 0, 0, 1, 2] + [0x44, 0, 0, 23, 0, 0, 1, 8, 3])
    }

    @Test func `another stream or an earlier time has all fields`() {
        let written = bytes { writer, output in
            writer.append(.audio, timestamp: 100, streamID: 1, chunkStreamID: 4, payload: [1], to: &output)
            writer.append(.audio, timestamp: 100, streamID: 2, chunkStreamID: 4, payload: [2], to: &output)
            writer.append(.audio, timestamp: 99, streamID: 2, chunkStreamID: 4, payload: [3], to: &output)
        }
        var expected = Chunks.absolute(4, time: 100, length: 1, type: 8) + [1]
        expected += Chunks.absolute(4, time: 100, length: 1, type: 8, stream: 2) + [2]
        expected += Chunks.absolute(4, time: 99, length: 1, type: 8, stream: 2) + [3]
        #expect(written == expected)
    }

    @Test func `an extended time is absolute and repeated in each chunk`() {
        // ossrs/srs#4356: an extended delta would be read as absolute.
        let payload = body(300)
        let written = bytes { writer, output in
            writer.append(.video, timestamp: 0xFF_FFFE, streamID: 1, chunkStreamID: 6, payload: [1], to: &output)
            writer.append(
                .video, timestamp: 0xFF_FFFF, streamID: 1, chunkStreamID: 6, payload: payload[...], to: &output)
        }
        let again: [UInt8] = [0xC6] + Chunks.u32(0xFF_FFFF)
        var expected = Chunks.absolute(time: 0xFF_FFFE, length: 1) + [1]
        expected += Chunks.absolute(time: 0xFF_FFFF, length: 300) + payload[..<128]
        expected += again + payload[128..<256]
        expected += again + payload[256...]
        #expect(written == expected)
    }

    @Test func `after the wrap at 2^32 the time is absolute`() {
        let written = bytes { writer, output in
            writer.append(.video, timestamp: 0xFFFF_FFFF, streamID: 1, chunkStreamID: 6, payload: [1], to: &output)
            writer.append(.video, timestamp: 5, streamID: 1, chunkStreamID: 6, payload: [2], to: &output)
        }
        let expected: [[UInt8]] = [
            Chunks.absolute(time: 0xFFFF_FFFF, length: 1), [1], Chunks.absolute(time: 5, length: 1), [2],
        ]
        #expect(written == Array(expected.joined()))
    }

    @Test(arguments: [0, 1, 127, 128, 129, 255, 256, 257, 1000], [0, 1, 5, 11, 128, 200])
    func `prefix and payload are one body, whatever the boundaries`(payload: Int, prefix: Int) throws {
        let written = bytes { writer, output in
            writer.append(
                .video, timestamp: 9, streamID: 1, chunkStreamID: 6, prefix: body(prefix)[...],
                payload: body(payload, from: 3)[...], to: &output)
        }
        #expect(try read(written).map(\.payload) == [body(prefix) + body(payload, from: 3)])
        let chunks = max(1, (prefix + payload + 127) / 128)
        #expect(written.count == 12 + prefix + payload + chunks - 1)
    }

    @Test(arguments: [2, 63, 64, 319, 320, 65_599])
    func `every chunk stream id is written in its shortest form`(id: Int) throws {
        let written = bytes { writer, output in
            writer.append(
                .video, timestamp: 9, streamID: 1, chunkStreamID: UInt32(id), payload: body(200)[...], to: &output)
        }
        #expect(
            written == Chunks.absolute(id, time: 9, length: 200) + body(128) + Chunks.basic(3, id) + body(200)[128...])
        #expect(try read(written).map(\.payload) == [body(200)])
    }

    @Test(arguments: [1, 2, 127, 128, 4096, 65_536])
    func `a chunk size holds for what follows it`(size: Int) throws {
        let payload = body(9000)
        let written = bytes { writer, output in
            writer.setChunkSize(size, to: &output)
            writer.append(.video, timestamp: 0, streamID: 1, chunkStreamID: 6, payload: payload[...], to: &output)
        }
        let limits = ChunkLimits(workWindow: 1 << 20)
        #expect(try read(written, limits: limits).map(\.payload) == [Chunks.u32(UInt32(size)), payload])
        #expect(written.count == 16 + 12 + 9000 + (9000 + size - 1) / size - 1)
    }

    @Test func `the shared form depends on nothing before it`() throws {
        var output: [UInt8] = []
        for _ in 0..<2 {
            ChunkWriter.append(
                .audio, timestamp: 7, streamID: 1, chunkStreamID: 4, chunkSize: 4096, prefix: [0xAF, 1],
                payload: [1, 2], to: &output)
        }
        #expect(output == (Chunks.absolute(4, time: 7, length: 4, type: 8) + [0xAF, 1, 1, 2] + output.suffix(16)))
        #expect(output.prefix(16) == output.suffix(16))
    }

    @Test func `the longest message is written`() throws {
        let payload = [UInt8](repeating: 7, count: ChunkWriter.maxMessageLength)
        let written = bytes { writer, output in
            writer.setChunkSize(0xFF_FFFF, to: &output)
            writer.append(.video, timestamp: 0, streamID: 1, chunkStreamID: 6, payload: payload[...], to: &output)
        }
        let limits = ChunkLimits(messageLength: 0xFF_FFFF, chunkSize: 0xFF_FFFF)
        #expect(try read(written, limits: limits).last?.payload.count == payload.count)
    }

    @Test(arguments: 0..<UInt64(40))
    func `any sequence of messages is read as it was written`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = ChunkWriter()
        var output: [UInt8] = []
        var sent: [RTMPMessage] = []
        let types: [MessageType] = [.audio, .video, .dataAMF0, .commandAMF0]
        for _ in 0..<60 {
            if Int.random(in: 0..<8, using: &random) == 0 {
                let size = Int.random(in: 8...5000, using: &random)
                writer.setChunkSize(size, to: &output)
                sent.append(RTMPMessage(type: .setChunkSize, payload: Chunks.u32(UInt32(size))))
            }
            let message = RTMPMessage(
                type: types.randomElement(using: &random)!,
                timestamp: UInt32.random(in: 0...UInt32.max, using: &random)
                    >> UInt32.random(in: 0..<16, using: &random),
                streamID: UInt32.random(in: 0...2, using: &random),
                payload: random.bytes(Int.random(in: 0...6000, using: &random)))
            let cut = Int.random(in: 0...message.payload.count, using: &random)
            writer.append(
                message.type, timestamp: message.timestamp, streamID: message.streamID,
                chunkStreamID: UInt32.random(in: 3...6, using: &random), prefix: message.payload[..<cut],
                payload: message.payload[cut...], to: &output)
            sent.append(message)
        }
        #expect(try read(output) == sent)
    }
}
