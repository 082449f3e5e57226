import RTMP
import Testing

struct ChunkReaderTests {
    private func video(_ timestamp: UInt32, _ payload: [UInt8], stream: UInt32 = 1) -> RTMPMessage {
        RTMPMessage(type: .video, timestamp: timestamp, streamID: stream, payload: payload)
    }

    // MARK: Basic headers

    @Test(arguments: [
        (2, 1), (3, 1), (63, 1), (64, 2), (64, 3), (319, 2), (319, 3), (320, 3), (65_599, 3),
    ])
    func `a chunk stream id is read in each form`(id: Int, form: Int) throws {
        let bytes = Chunks.absolute(id, time: 5, length: 3, form: form) + [1, 2, 3]
        #expect(try read(bytes) == [video(5, [1, 2, 3])])
    }

    @Test func `ids 64 and 320 are different streams from 0 and 1`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(64, time: 1, length: 200), body(128), Chunks.absolute(320, time: 2, length: 200),
            body(128, from: 9), Chunks.basic(3, 64), body(72, from: 1), Chunks.basic(3, 320), body(72, from: 2),
        ])
        #expect(
            try read(bytes) == [
                video(1, body(128) + body(72, from: 1)), video(2, body(128, from: 9) + body(72, from: 2)),
            ])
    }

    // MARK: Formats

    @Test func `the message stream id is little-endian`() throws {
        let bytes: [UInt8] = [6, 0, 0, 5, 0, 0, 1, 9, 0x78, 0x56, 0x34, 0x12, 0xAA]
        #expect(try read(bytes) == [video(5, [0xAA], stream: 0x1234_5678)])
    }

    @Test func `formats 1 2 and 3 add deltas`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 1000, length: 1), [1], Chunks.delta(20, length: 2), [2, 2], Chunks.deltaOnly(30),
            [3, 3], Chunks.basic(3, 6), [4, 4], Chunks.basic(3, 6), [5, 5],
        ])
        #expect(try read(bytes).map(\.timestamp) == [1000, 1020, 1050, 1080, 1110])
        #expect(try read(bytes).map(\.payload.count) == [1, 2, 2, 2, 2])
    }

    @Test func `format 3 after format 0 means no delta`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 700, length: 1), [1], Chunks.basic(3, 6), [2],
        ])
        #expect(try read(bytes) == [video(700, [1]), video(700, [2])])
    }

    @Test func `a delta from before a format 0 is forgotten`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 0, length: 1), [1], Chunks.delta(40, length: 1), [2],
            Chunks.absolute(time: 500, length: 1), [3], Chunks.basic(3, 6), [4],
        ])
        #expect(try read(bytes).map(\.timestamp) == [0, 40, 500, 500])
    }

    @Test func `a first message in format 1 counts from nothing`() throws {
        // librtmp sends its first ping response so (ossrs/srs#98).
        let bytes = Chunks.delta(9, length: 6, type: 4, id: 2) + [0, 7, 0, 0, 0, 1]
        #expect(try read(bytes) == [RTMPMessage(type: .userControl, timestamp: 9, payload: [0, 7, 0, 0, 0, 1])])
    }

    @Test(arguments: [2, 3] as [UInt8])
    func `formats 2 and 3 need a header to repeat`(format: UInt8) {
        let first = Chunks.absolute(4, time: 0, length: 1, type: 8) + [1]
        #expect(throws: RTMPError.noPreviousHeader(chunkStreamID: 6, offset: 13)) {
            try read(first + Chunks.basic(format, 6) + [0, 0, 0, 0])
        }
    }

    @Test(arguments: [0, 1, 2] as [UInt8])
    func `a new header inside a message is refused`(format: UInt8) {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 0, length: 200), body(128), Chunks.basic(format, 6), body(30),
        ])
        #expect(throws: RTMPError.headerInsideMessage(chunkStreamID: 6, offset: 140)) { try read(bytes) }
    }

    @Test func `zero-length messages are messages`() throws {
        let bytes = Chunks.absolute(time: 3, length: 0) + Chunks.deltaOnly(4) + Chunks.basic(3, 6)
        #expect(try read(bytes) == [video(3, []), video(7, []), video(11, [])])
    }

    // MARK: Interleaving, abort, chunk size

    @Test func `chunks of several streams alternate`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(6, time: 10, length: 300), body(128),
            Chunks.absolute(4, time: 11, length: 130, type: 8), body(128), Chunks.basic(3, 6), body(128, from: 1),
            Chunks.basic(3, 4), [7, 8], Chunks.basic(3, 6), body(44, from: 2),
        ])
        #expect(
            try read(bytes) == [
                RTMPMessage(type: .audio, timestamp: 11, streamID: 1, payload: body(128) + [7, 8]),
                video(10, body(128) + body(128, from: 1) + body(44, from: 2)),
            ])
    }

    @Test func `abort drops the unfinished message of its stream only`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(6, time: 10, length: 300), body(128),
            Chunks.absolute(4, time: 11, length: 130, type: 8), body(128), Chunks.control(2, Chunks.u32(6)),
            Chunks.delta(5, length: 1), [9], Chunks.basic(3, 4), [7, 8],
        ])
        let messages = try read(bytes)
        #expect(messages.map(\.type) == [.abort, .video, .audio])
        #expect(messages[1] == video(15, [9]))
        #expect(messages[2].payload == body(128) + [7, 8])
    }

    @Test func `abort of an unknown or idle stream changes nothing`() throws {
        let bytes = Chunks.joined([
            Chunks.control(2, Chunks.u32(77)), Chunks.control(2, Chunks.u32(2)),
            Chunks.absolute(time: 1, length: 1), [5],
        ])
        #expect(try read(bytes).last == video(1, [5]))
    }

    @Test func `a chunk size holds from the next chunk on`() throws {
        // It comes in the middle of a message, whose next chunk has the new size.
        let bytes = Chunks.joined([
            Chunks.absolute(6, time: 0, length: 400), body(128), Chunks.control(1, Chunks.u32(200)),
            Chunks.basic(3, 6), body(200, from: 1), Chunks.basic(3, 6), body(72, from: 2),
        ])
        let messages = try read(bytes)
        #expect(messages.map(\.type) == [.setChunkSize, .video])
        #expect(messages[1].payload == body(128) + body(200, from: 1) + body(72, from: 2))
    }

    @Test(arguments: [0, 0x8000_0000, 0x8000_1000, 0xFFFF_FFFF, 10_485_761, 134_217_728] as [UInt32])
    func `a chunk size out of bounds is refused`(size: UInt32) {
        // 134217728: ireader/media-server#235.
        #expect(throws: RTMPError.invalidChunkSize(size, offset: 16)) { try read(Chunks.control(1, Chunks.u32(size))) }
    }

    @Test(arguments: [1, 128, 65_536, 10_485_760] as [UInt32])
    func `a chunk size within bounds is taken`(size: UInt32) throws {
        var reader = ChunkReader()
        #expect(try reader.messages(Chunks.control(1, Chunks.u32(size))).count == 1)
        #expect(reader.chunkSize == Int(size))
    }

    @Test func `chunks of one byte make a message`() throws {
        var bytes = Chunks.control(1, Chunks.u32(1)) + Chunks.absolute(time: 0, length: 500) + [0]
        for value in body(500).dropFirst() { bytes += Chunks.basic(3, 6) + [value] }
        #expect(try read(bytes).last == video(0, body(500)))
    }

    @Test(arguments: [(UInt8(1), 3), (UInt8(2), 0), (UInt8(1), 0)])
    func `a short control body is refused`(type: UInt8, length: Int) {
        let offset = 12 + length
        #expect(throws: RTMPError.malformedControl(MessageType(rawValue: type), length: length, offset: offset)) {
            try read(Chunks.control(type, body(length)))
        }
    }

    // MARK: Memory and work

    @Test func `a declared length above the limit is refused before its bytes come`() {
        #expect(throws: RTMPError.messageTooLong(length: 0xFF_FFFF, limit: 8 << 20, offset: 0)) {
            try read(Chunks.absolute(time: 0, length: 0xFF_FFFF))
        }
        #expect(throws: RTMPError.messageTooLong(length: 8_388_609, limit: 8 << 20, offset: 0)) {
            try read(Chunks.absolute(time: 0, length: 8_388_609))
        }
    }

    @Test func `the longest message is read`() throws {
        let limits = ChunkLimits(messageLength: 3000)
        let bytes = Chunks.control(1, Chunks.u32(5000)) + Chunks.absolute(time: 0, length: 3000) + body(3000)
        #expect(try read(bytes, limits: limits).last == video(0, body(3000)))
        #expect(throws: RTMPError.messageTooLong(length: 3001, limit: 3000, offset: 16)) {
            try read(Chunks.control(1, Chunks.u32(5000)) + Chunks.absolute(time: 0, length: 3001), limits: limits)
        }
    }

    @Test func `a lowered limit holds for repeated headers`() throws {
        var reader = ChunkReader()
        #expect(try reader.messages(Chunks.absolute(time: 0, length: 100) + body(100)).count == 1)
        reader.limits.messageLength = 50
        #expect(throws: RTMPError.messageTooLong(length: 100, limit: 50, offset: 112)) {
            try reader.messages(Chunks.basic(3, 6))
        }
    }

    @Test func `unfinished messages are bounded together`() {
        let limits = ChunkLimits(messageLength: 1000, partialBytes: 300)
        let bytes = (3..<6).flatMap { Chunks.absolute($0, time: 0, length: 1000) + body(128) }
        #expect(throws: RTMPError.partialMessagesTooLarge(limit: 300, offset: 292)) { try read(bytes, limits: limits) }
    }

    @Test func `finished and aborted messages give their share back`() throws {
        let limits = ChunkLimits(messageLength: 1000, partialBytes: 300)
        var reader = ChunkReader(limits: limits)
        for _ in 0..<10 {
            #expect(try reader.messages(Chunks.absolute(time: 0, length: 128) + body(128)).count == 1)
            #expect(try reader.messages(Chunks.absolute(time: 0, length: 200) + body(128)).isEmpty)
            #expect(try reader.messages(Chunks.control(2, Chunks.u32(6))).count == 1)
        }
    }

    @Test func `64 chunk streams are allowed and 65 are not`() throws {
        let bytes = (2..<66).flatMap { Chunks.absolute($0, time: 0, length: 1) + [1] }
        #expect(try read(bytes).count == 64)
        #expect(throws: RTMPError.tooManyChunkStreams(limit: 64, offset: bytes.count)) {
            try read(bytes + Chunks.absolute(1000, time: 0, length: 1))
        }
    }

    @Test func `a flood of headers is refused after 64 KiB`() throws {
        var reader = ChunkReader()
        _ = try reader.messages(Chunks.control(1, Chunks.u32(1)) + Chunks.absolute(time: 0, length: 1 << 20) + [0])
        let chunk = Chunks.basic(3, 6) + [1]
        var taken = 0
        #expect(throws: RTMPError.self) {
            while taken < 1 << 20 {
                _ = try reader.messages(chunk)
                taken += chunk.count
            }
        }
        #expect(taken <= 64 << 10)
        #expect(throws: RTMPError.headerFlood(offset: reader.offset)) { try reader.next() }
    }

    @Test func `a flood of empty messages is refused`() {
        let bytes = [[UInt8]](repeating: Chunks.deltaOnly(0), count: 40_000).flatMap { $0 }
        #expect(throws: RTMPError.self) { try read(Chunks.absolute(time: 0, length: 0) + bytes) }
    }

    @Test func `small frames and acknowledgements are not a flood`() throws {
        // Silent AAC is 8 bytes per message; a viewer of weeks sends acknowledgements only.
        let silence = Chunks.absolute(4, time: 0, length: 8, type: 8) + body(8)
        let acknowledgement = Chunks.control(3, Chunks.u32(1))
        let bytes = [[UInt8]](repeating: silence + acknowledgement, count: 10_000).flatMap { $0 }
        #expect(try read(bytes).count == 20_000)
    }

    @Test func `an error is final and repeats`() {
        var reader = ChunkReader()
        let error = RTMPError.noPreviousHeader(chunkStreamID: 6, offset: 0)
        #expect(throws: error) { try reader.messages(Chunks.basic(3, 6)) }
        #expect(throws: error) { try reader.messages(Chunks.absolute(time: 0, length: 1) + [1]) }
    }

    // MARK: Buffers

    @Test func `several reads without asking in between lose nothing`() throws {
        let bytes = Chunks.joined([
            Chunks.absolute(time: 1, length: 300), body(128), Chunks.basic(3, 6), body(128), Chunks.basic(3, 6),
            body(44),
        ])
        var reader = ChunkReader()
        for start in stride(from: 0, to: bytes.count, by: 37) {
            reader.append(bytes[start..<min(start + 37, bytes.count)])
        }
        #expect(try reader.next() == video(1, body(128) + body(128) + body(44)))
        #expect(try reader.next() == nil)
        #expect(reader.offset == bytes.count)
    }

    @Test func `slices that do not begin at zero are read`() throws {
        let bytes = Chunks.joined([
            [9, 9, 9], Chunks.absolute(time: 1, length: 2), [1, 2], [9],
        ])
        var reader = ChunkReader()
        reader.append(bytes[3..<(bytes.count - 1)])
        #expect(try reader.next() == video(1, [1, 2]))
        #expect(try reader.next() == nil)
    }
}
