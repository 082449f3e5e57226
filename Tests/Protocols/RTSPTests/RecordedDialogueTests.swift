import Foundation
import Testing
import Wire

@testable import RTSP

/// What a server of other people's making really said, against what it really accepted.
struct RecordedDialogueTests {
    /// gst-rtsp-server 1.22.0, `/h264` with H.264 and AAC, Digest; the last frame is cut by the end of the recording.
    static func recording() throws -> [UInt8] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/gst-rtsp-server-1.22-digest-h264-aac.hex")
        return try Hexadecimal.decode(String(contentsOf: file, encoding: .utf8).filter { !$0.isNewline })
    }

    @Test(arguments: [Int.max, 1448, 7, 1])
    func `gst-rtsp-server with Digest`(piece: Int) throws {
        var dialogue = try Dialogue("rtsp://127.0.0.1:18554/h264", user: "admin", password: "s3 c\"ret")
        dialogue.connect()
        let bytes = try Self.recording()
        var start = 0
        while start < bytes.count {
            let end = piece < bytes.count - start ? start + piece : bytes.count
            dialogue.hear(Array(bytes[start..<end]))
            start = end
        }
        dialogue.note(dialogue.session.tearDown(at: 0))
        #expect(
            dialogue.said.map(\.method) == ["OPTIONS", "DESCRIBE", "DESCRIBE", "SETUP", "SETUP", "PLAY", "TEARDOWN"])
        // The answers that the server took.
        let responses = [
            "78366b8fe5308b2fdf35592a0d138fd8", "706f13474b09f33dc8cbc5d6f80b8dd2", "ade36c8a0addc0b2fb2d7d3b7caf1137",
            "528553956d9959eff06b3ab8b7aaf790", "e5da4f4821d3c6d40b3472db78a402f9",
        ]
        for (said, response) in zip(dialogue.said.dropFirst(2), responses) {
            #expect(said.header("Authorization")?.contains("response=\"\(response)\"") == true)
        }
        #expect(dialogue.last.url == "rtsp://127.0.0.1:18554/h264/")
        let facts = dialogue.session.facts
        #expect(facts.server == "GStreamer RTSP server")
        #expect(facts.authentication == "Digest MD5")
        #expect(facts.discardedBytes == 0 && facts.brokenCSeq == 0 && facts.unknownChannelPackets == 0)
        guard case .described(let description)? = dialogue.done.first else {
            Issue.record("not described")
            return
        }
        #expect(description.media.map { $0.formats.map(\.encoding) } == [["H264"], ["MPEG4-GENERIC"]])
        #expect(description.media[0].frameRate == 25)
        #expect(description.media[1].formats[0].parameters["config"] == "118856e500")
        #expect(
            dialogue.done[1...3] == [
                .setUp(media: 0, MediaTransport(delivery: .interleaved(rtp: 0, rtcp: 1), source: 52_563_305)),
                .setUp(media: 1, MediaTransport(delivery: .interleaved(rtp: 2, rtcp: 3), source: 1_740_164_174)),
                .playing([
                    PlayInformation(media: 0, sequence: 8278, timestamp: 816_228_750),
                    PlayInformation(media: 1, sequence: 16_587, timestamp: 1_798_994_983),
                ]),
            ])
        var packets = 0
        for case .media(let index, let isControl, let packet) in dialogue.done {
            packets += 1
            #expect(packet.first == 0x80)
            guard !isControl else { continue }
            // The payload type of that medium.
            #expect(packet.dropFirst().first.map { $0 & 0x7F } == (index == 0 ? 96 : 97))
        }
        #expect(packets > 2)
    }
}
