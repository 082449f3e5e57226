import RTMP
import TestSupport
import Testing

/// Our publisher, our server and our player, connected by arrays.
struct ConversationTests {
    @Test(arguments: [1, 2, 3] as [UInt64], [false, true])
    func `what is published is played`(seed: UInt64, wraps: Bool) throws {
        var random = SeededGenerator(seed: seed)
        let url = try RTMPURL("rtmp://relay/live/cam1?key=k")
        var publisher = PublisherSession(url: url, random: random.bytes(1528), digests: Hashes.digests)
        var player = PlayerSession(url: url, random: random.bytes(1528), digests: Hashes.digests)
        var ingress = ServerSession(random: random.bytes(1528), digests: Hashes.digests)
        var egress = ServerSession(random: random.bytes(1528), digests: Hashes.digests)
        ingress.connected(at: 0)
        egress.connected(at: 0)

        var toServer: [UInt8] = []
        var toPublisher: [UInt8] = []
        var fromPlayer: [UInt8] = []
        var toPlayer: [UInt8] = []
        var sent: [RTMPMessage] = []
        var heard: [RTMPMessage] = []
        var published = false
        var playing = false

        func some(_ bytes: inout [UInt8]) -> ArraySlice<UInt8> {
            let count = min(bytes.count, Int.random(in: 0...3000, using: &random))
            defer { bytes.removeFirst(count) }
            return bytes[..<count]
        }
        func on(_ actions: [PublisherSession.Action]) {
            for action in actions {
                switch action {
                case .write(let bytes): toServer += bytes
                case .published:
                    published = true
                    #expect(publisher.relayAnswersPings, "our relay answers the first ping before it says so")
                case .reconnectRequested, .roundTrip: break
                case .closed(let error): Issue.record("publisher: \(error)")
                }
            }
        }
        func on(_ actions: [PlayerSession.Action]) {
            for action in actions {
                switch action {
                case .write(let bytes): fromPlayer += bytes
                case .playing: playing = true
                case .message(let message): if message.type != .dataAMF0 { heard.append(message) }
                case .streamEnded, .reconnectRequested, .roundTrip: break
                case .closed(let error): Issue.record("player: \(error)")
                }
            }
        }
        on(publisher.connected(at: 0))
        on(player.connected(at: 0))
        var clock: UInt32 = wraps ? 0xFFFF_FE00 : 0xFF_FE00
        for _ in 0..<1500 {
            if published, playing, sent.count < 60 {
                let type: MessageType = Bool.random(using: &random) ? .video : .audio
                let payload = random.bytes(Int.random(in: 0...9000, using: &random))
                clock &+= 20
                let cut = min(5, payload.count)
                publisher.encode(
                    type, timestamp: clock, prefix: payload[..<cut], payload: payload[cut...], into: &toServer)
                sent.append(RTMPMessage(type: type, timestamp: clock, streamID: 1, payload: payload))
            }
            for action in ingress.received(some(&toServer), at: 0) {
                switch action {
                case .write(let bytes): toPublisher += bytes
                case .publishRequested(let request):
                    #expect(request.queryValue("key") == "k")
                    for case .write(let bytes) in ingress.acceptPublish() { toPublisher += bytes }
                case .message(let message):
                    egress.encode(
                        message.type, timestamp: message.timestamp, payload: message.payload[...], into: &toPlayer)
                case .playRequested, .publisherFinished, .playerFinished, .closed: Issue.record("ingress: \(action)")
                }
            }
            for action in egress.received(some(&fromPlayer), at: 0) {
                switch action {
                case .write(let bytes): toPlayer += bytes
                case .playRequested: for case .write(let bytes) in egress.acceptPlay() { toPlayer += bytes }
                case .publishRequested, .message, .publisherFinished, .playerFinished, .closed:
                    Issue.record("egress: \(action)")
                }
            }
            on(publisher.received(some(&toPublisher), at: 0))
            on(player.received(some(&toPlayer), at: 0))
        }
        #expect(sent.count == 60)
        #expect(heard == sent)
        #expect(publisher.relayAnswersPings)
    }
}
