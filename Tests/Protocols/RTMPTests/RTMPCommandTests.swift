import AMF0
import RTMP
import Testing

struct RTMPCommandTests {
    @Test func `a command of ffmpeg is read`() throws {
        let messages = try read(Array(Fixture("ffmpeg-5.1-publish").chunks))
        let commands = try messages.compactMap { try RTMPCommand.parse($0) }
        #expect(
            commands.map(\.name) == [
                "connect", "releaseStream", "FCPublish", "createStream", "publish", "FCUnpublish", "deleteStream",
            ])
        let connect = try #require(commands.first)
        #expect(connect.transactionID == 1)
        #expect(connect.commandObject.objectValue?["app"] == .string("live"))
        #expect(commands[4].arguments == [.string("cam1"), .string("live")])
    }

    @Test func `nginx-rtmp's refusal of a second publisher is read`() throws {
        let messages = try read(Array(Fixture("nginx-rtmp-1.2.2-badname").chunks))
        let status = try #require(try messages.compactMap { try RTMPCommand.parse($0) }.last)
        #expect(status.name == "onStatus")
        #expect(status.arguments.first?.objectValue?["code"] == .string("NetStream.Publish.BadName"))
    }

    @Test func `an AMF3 command is AMF0 behind a zero byte`() throws {
        let command = RTMPCommand("play", transactionID: 4, arguments: [.string("cam"), .number(-2000)])
        #expect(try RTMPCommand.parse(RTMPMessage(type: .commandAMF3, payload: [0] + command.encoded())) == command)
        #expect(try RTMPCommand.parse(RTMPMessage(type: .commandAMF3, payload: command.encoded())) == command)
    }

    @Test func `other messages are not commands`() throws {
        #expect(try RTMPCommand.parse(RTMPMessage(type: .dataAMF0, payload: [])) == nil)
    }

    @Test(arguments: [([AMF0Value](), 0), ([.number(1), .number(1)], 2), ([.null], 1)])
    func `a command needs a name`(values: [AMF0Value], count: Int) {
        #expect(throws: RTMPError.incompleteCommand(valueCount: count)) {
            try RTMPCommand.parse(RTMPMessage(type: .commandAMF0, payload: AMF0.encode(values)))
        }
    }

    @Test(arguments: [[AMF0Value.string("onFCPublish")], [.string("onFCPublish"), .null, .null]])
    func `a missing transaction is nil`(values: [AMF0Value]) throws {
        let message = RTMPMessage(type: .commandAMF0, payload: AMF0.encode(values))
        #expect(try RTMPCommand.parse(message) == RTMPCommand("onFCPublish"))
    }

    @Test func `a command object may be missing`() throws {
        let message = RTMPMessage(type: .commandAMF0, payload: AMF0.encode([.string("ping"), .number(0)]))
        #expect(try RTMPCommand.parse(message) == RTMPCommand("ping"))
    }

    @Test func `every strict prefix is refused or shorter`() throws {
        let command = RTMPCommand("publish", transactionID: 5, arguments: [.string("cam"), .string("live")])
        let bytes = command.encoded()
        for length in 0..<bytes.count {
            let parsed = try? RTMPCommand.parse(RTMPMessage(type: .commandAMF0, payload: Array(bytes.prefix(length))))
            #expect(parsed != command)
        }
    }
}

struct AggregateMessageTests {
    private func tag(_ type: UInt8, time: UInt32, _ payload: [UInt8], back: Bool = true) -> [UInt8] {
        let length = UInt32(payload.count)
        let header: [[UInt8]] = [
            [type], Chunks.u24(length), Chunks.u24(time & 0xFF_FFFF), [UInt8(time >> 24), 0, 0, 0],
        ]
        return Array(header.joined()) + payload + (back ? Chunks.u32(length + 11) : [])
    }

    @Test func `times are distances from the first tag`() throws {
        let payload = tag(8, time: 5000, [1]) + tag(9, time: 5020, [2, 2]) + tag(18, time: 4990, [3], back: false)
        let message = RTMPMessage(type: .aggregate, timestamp: 100, streamID: 4, payload: payload)
        #expect(
            try AggregateMessage.split(message) == [
                RTMPMessage(type: .audio, timestamp: 100, streamID: 4, payload: [1]),
                RTMPMessage(type: .video, timestamp: 120, streamID: 4, payload: [2, 2]),
                RTMPMessage(type: .dataAMF0, timestamp: 90, streamID: 4, payload: [3]),
            ])
    }

    @Test func `the upper byte of a tag's time and the wrap count`() throws {
        let payload = tag(8, time: 0xFFFF_FFF0, [1]) + tag(8, time: 0x10, [2])
        let message = RTMPMessage(type: .aggregate, timestamp: 0xFFFF_FFFF, payload: payload)
        #expect(try AggregateMessage.split(message).map(\.timestamp) == [0xFFFF_FFFF, 0x1F])
    }

    @Test func `other tags are left out`() throws {
        let message = RTMPMessage(type: .aggregate, payload: tag(22, time: 0, [1]) + tag(8, time: 7, [2]))
        #expect(try AggregateMessage.split(message).map(\.timestamp) == [7])
    }

    @Test func `a tag that does not fit is refused where it begins`() {
        let first = tag(8, time: 0, [1])
        for length in 1..<(tag(8, time: 0, [1, 2, 3], back: false).count) {
            let payload = first + tag(8, time: 0, [1, 2, 3], back: false).prefix(length)
            #expect(throws: RTMPError.malformedAggregate(offset: first.count)) {
                try AggregateMessage.split(RTMPMessage(type: .aggregate, payload: payload))
            }
        }
    }

    @Test func `tags are counted`() {
        let payload = [[UInt8]](repeating: tag(8, time: 0, []), count: AggregateMessage.maxTags + 1).flatMap { $0 }
        #expect(throws: RTMPError.malformedAggregate(offset: AggregateMessage.maxTags * 15)) {
            try AggregateMessage.split(RTMPMessage(type: .aggregate, payload: payload))
        }
    }

    @Test func `an empty aggregate is nothing`() throws {
        #expect(try AggregateMessage.split(RTMPMessage(type: .aggregate, payload: [])).isEmpty)
    }
}
