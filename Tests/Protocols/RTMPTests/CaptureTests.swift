import RTMP
import TestSupport
import Testing

/// Chunk streams of ffmpeg 5.1.9, rtmpdump 2.4 and nginx-rtmp 1.2.2, recorded on loopback.
struct CaptureTests {
    @Test(arguments: Fixture.names)
    func `a capture is read as an independent decoder reads it`(name: String) throws {
        let fixture = try Fixture(name)
        let messages = try read(Array(fixture.chunks))
        #expect(messages.map(\.line) == (try fixture.expectedMessages()))
    }

    @Test(arguments: Fixture.names)
    func `dripped bytes give the same messages`(name: String) throws {
        let fixture = try Fixture(name)
        var reader = ChunkReader()
        var lines: [String] = []
        for index in fixture.chunks.indices {
            reader.append(fixture.chunks[index...index])
            while let message = try reader.next() { lines.append(message.line) }
        }
        #expect(lines == (try fixture.expectedMessages()))
        #expect(reader.offset <= fixture.chunks.count)
    }

    @Test(arguments: ["ffmpeg-5.1-publish-extended", "nginx-rtmp-1.2.2-to-publisher", "ffmpeg-5.1-play"])
    func `every split point gives the same messages`(name: String) throws {
        let fixture = try Fixture(name)
        let chunks = Array(fixture.chunks.prefix(6000))
        let expected = try read(chunks)
        var splits = Array(stride(from: 0, through: chunks.count, by: 7))
        splits += (0..<min(1200, chunks.count))
        for split in splits {
            var reader = ChunkReader()
            let messages = try reader.messages(chunks[..<split]) + reader.messages(chunks[split...])
            #expect(messages == expected, "split at \(split)")
        }
    }

    @Test(arguments: Fixture.names)
    func `random segments give the same messages`(name: String) throws {
        let fixture = try Fixture(name)
        for seed in UInt64(0)..<8 {
            var random = SeededGenerator(seed: seed)
            var reader = ChunkReader()
            var lines: [String] = []
            var rest = fixture.chunks
            while !rest.isEmpty {
                let count = min(Int.random(in: 1...3000, using: &random), rest.count)
                reader.append(rest.prefix(count))
                rest = rest.dropFirst(count)
                if Bool.random(using: &random) || rest.isEmpty {
                    while let message = try reader.next() { lines.append(message.line) }
                }
            }
            #expect(lines == (try fixture.expectedMessages()), "seed \(seed)")
        }
    }

    @Test(arguments: Fixture.names)
    func `what was read can be written and read again`(name: String) throws {
        let fixture = try Fixture(name)
        let messages = try read(Array(fixture.chunks))
        var writer = ChunkWriter()
        var output: [UInt8] = []
        for message in messages {
            if message.type == .setChunkSize {
                writer.setChunkSize(message.payload.reduce(0) { $0 << 8 | Int($1) }, to: &output)
            } else {
                writer.append(
                    message.type, timestamp: message.timestamp, streamID: message.streamID,
                    chunkStreamID: message.type.mediaChunkStreamID, payload: message.payload[...], to: &output)
            }
        }
        #expect(try read(output) == messages)
    }

    @Test(arguments: Fixture.names)
    func `every control message and command of a capture is understood`(name: String) throws {
        for message in try read(Array(Fixture(name).chunks)) {
            switch message.type {
            case .setChunkSize, .abort, .acknowledgement, .userControl, .windowAcknowledgementSize, .setPeerBandwidth:
                let control = try #require(try ControlMessage.parse(message))
                #expect(control.body == message.payload)
                #expect(control.type == message.type)
            case .commandAMF0:
                let command = try #require(try RTMPCommand.parse(message))
                // FFmpeg's onFCPublish is a bare name; everything else is written as it was read.
                #expect(command.encoded() == message.payload || command == RTMPCommand("onFCPublish"))
            default:
                #expect([.audio, .video, .dataAMF0].contains(message.type))
            }
        }
    }

    @Test(arguments: 0..<UInt64(64))
    func `a damaged capture is read or refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let fixture = try Fixture(Fixture.names.randomElement(using: &random)!)
        for _ in 0..<4 {
            var bytes = Array(fixture.chunks.prefix(8000))
            for _ in 0..<8 {
                // Half of the damage hits the first kilobyte, where the commands are.
                let end = Bool.random(using: &random) ? min(1000, bytes.count) : bytes.count
                let index = Int.random(in: 0..<end, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
                default: bytes.remove(at: index)
                }
            }
            var reader = ChunkReader()
            var total = 0
            do throws(RTMPError) {
                for message in try reader.messages(bytes) {
                    total += message.payload.count
                    _ = try? ControlMessage.parse(message)
                    _ = try? RTMPCommand.parse(message)
                    _ = try? AggregateMessage.split(message)
                }
            } catch {
                #expect(!"\(error)".isEmpty)
            }
            #expect(total <= bytes.count)
            #expect(reader.offset <= bytes.count)
        }
    }

    @Test(arguments: 0..<UInt64(32))
    func `random bytes are read or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let bytes = random.bytes(Int.random(in: 1...3000, using: &random))
            var reader = ChunkReader()
            _ = try? reader.messages(bytes)
            #expect(reader.offset <= bytes.count)
        }
    }
}
