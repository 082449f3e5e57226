import RTMP
import Testing

struct ControlMessageTests {
    static let golden: [(ControlMessage, UInt8, [UInt8])] = [
        (.setChunkSize(4096), 1, [0, 0, 0x10, 0]),
        (.abort(6), 2, [0, 0, 0, 6]),
        (.acknowledgement(0xFFFF_FFFF), 3, [255, 255, 255, 255]),
        (.userControl(.streamBegin(1)), 4, [0, 0, 0, 0, 0, 1]),
        (.userControl(.streamEOF(1)), 4, [0, 1, 0, 0, 0, 1]),
        (.userControl(.streamDry(1)), 4, [0, 2, 0, 0, 0, 1]),
        (.userControl(.setBufferLength(1, milliseconds: 3000)), 4, [0, 3, 0, 0, 0, 1, 0, 0, 0x0B, 0xB8]),
        (.userControl(.streamIsRecorded(1)), 4, [0, 4, 0, 0, 0, 1]),
        (.userControl(.pingRequest(0xDEAD_BEEF)), 4, [0, 6, 0xDE, 0xAD, 0xBE, 0xEF]),
        (.userControl(.pingResponse(0xDEAD_BEEF)), 4, [0, 7, 0xDE, 0xAD, 0xBE, 0xEF]),
        (.userControl(.other(31, [0, 0, 0, 1])), 4, [0, 31, 0, 0, 0, 1]),
        (.windowAcknowledgementSize(2_500_000), 5, [0, 0x26, 0x25, 0xA0]),
        (.setPeerBandwidth(5_000_000, limit: 2), 6, [0, 0x4C, 0x4B, 0x40, 2]),
    ]

    @Test(arguments: golden.indices)
    func `a control message is its bytes`(index: Int) throws {
        let (message, type, body) = Self.golden[index]
        #expect(message.type.rawValue == type)
        #expect(message.body == body)
        #expect(try ControlMessage.parse(RTMPMessage(type: message.type, payload: body)) == message)
        #expect(try ControlMessage.parse(RTMPMessage(type: message.type, payload: body + [1])) != nil)
    }

    @Test(arguments: golden.indices)
    func `every strict prefix is refused`(index: Int) throws {
        let (message, _, body) = Self.golden[index]
        for length in 0..<body.count {
            // The limit type may be missing, and an unknown event has any data.
            if message.type == .setPeerBandwidth, length == 4 { continue }
            if case .userControl(.other) = message, length >= 2 { continue }
            #expect(throws: RTMPError.malformedControl(message.type, length: length, offset: 99)) {
                try ControlMessage.parse(
                    RTMPMessage(type: message.type, payload: Array(body.prefix(length))), offset: 99)
            }
        }
    }

    @Test func `a bandwidth without limit type is dynamic`() throws {
        let message = RTMPMessage(type: .setPeerBandwidth, payload: [0, 0, 0, 9])
        #expect(try ControlMessage.parse(message) == .setPeerBandwidth(9, limit: 2))
    }

    @Test(arguments: [0, 7, 8, 9, 18, 20, 22, 255] as [UInt8])
    func `other types are not control messages`(type: UInt8) throws {
        #expect(try ControlMessage.parse(RTMPMessage(type: MessageType(rawValue: type), payload: [])) == nil)
    }
}
