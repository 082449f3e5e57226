import TestSupport
import Testing

@testable import RTSP

struct SessionDescriptionTests {
    static func parse(_ text: String) throws -> SessionDescription {
        try SessionDescription.parse(Array(text.utf8)[...])
    }

    @Test func `a camera's description`() throws {
        let description = try Self.parse(Descriptions.backChannel)
        #expect(description.name == "cam")
        #expect(description.control == "*")
        #expect(description.media.map(\.kind) == ["video", "audio", "audio"])
        #expect(
            description.media[0].formats == [
                SessionDescription.Format(
                    payloadType: 96, encoding: "H264", clockRate: 90_000,
                    parameters: [
                        "packetization-mode": "1", "sprop-parameter-sets": "Z0IAKeKQFAe2AtwEBAaQeJEV,aM48gA==",
                    ])
            ])
        #expect(description.media[0].control == "track1")
        #expect(description.media[1].formats[0].clockRate == 16_000)
        #expect(description.media[1].formats[0].parameters["config"] == "1408")
        #expect(description.media[1].formats[0].parameters["sizelength"] == "13")
        #expect(description.media.map(\.isBackChannel) == [false, false, true])
    }

    @Test func `odd blanks, order, case and line ends`() throws {
        let text =
            "v=0\no=broken\ns=\nc=\n\nnonsense\nm=video 0 RTP/AVP 96 \na=fmtp:96 packetization-mode=1; SPROP-parameter-sets = \"Z0==,aM==\" ;\n"
            + "A=x\na=rtpmap: 96   h265/90000  \na=Control: trackID=1 \na=framerate:12.5\nb=AS:4000\na=recvonly\n"
        for ending in ["\n", "\r", "\r\n"] {
            let description = try Self.parse(text.split(separator: "\n").joined(separator: ending))
            let media = try #require(description.media.first)
            #expect(media.formats[0].encoding == "H265")
            #expect(media.formats[0].parameters["sprop-parameter-sets"] == "Z0==,aM==")
            #expect(media.control == "trackID=1")
            #expect(media.frameRate == 12.5)
            #expect(media.bandwidth == 4_000_000)
            #expect(media.direction == .receiveOnly)
        }
    }

    @Test func `static payload types and missing values`() throws {
        let description = try Self.parse(
            Descriptions.lines(
                "m=video 49170/2 RTP/AVP 26", "c=IN IP4 239.5.5.5/16", "m=audio 0 RTP/AVP 8 0 99 300 x",
                "m=application/TP-LINK 0 RTP/AVP smart/1/90000", "a=rtpmap:95 TP-LINK/90000", "m=video 0 RTP/AVP 96",
                "a=rtpmap:96 H264/0"))
        #expect(description.media[0].formats.map(\.encoding) == ["JPEG"])
        #expect(description.media[0].port == 49_170)
        #expect(description.media[0].connection == "239.5.5.5")
        #expect(description.media[1].formats.map(\.encoding) == ["PCMA", "PCMU", ""])
        #expect(description.media[1].formats.map(\.clockRate) == [8000, 8000, 8000])
        #expect(description.media[2].kind == "application/tp-link")
        #expect(description.media[2].formats.isEmpty)
        #expect(description.media[3].formats[0].clockRate == 90_000)
    }

    @Test func `a session's own values hold for media without them`() throws {
        let description = try Self.parse(
            Descriptions.lines(
                "v=0", "c=IN IP4 239.1.1.1/8/2", "a=recvonly", "a=control:rtsp://h/all", "m=video 5000 RTP/AVP 26",
                "m=audio 0 RTP/AVP 0", "c=IN IP4 239.1.1.2", "a=sendonly"))
        #expect(description.control == "rtsp://h/all")
        #expect(description.media.map(\.connection) == ["239.1.1.1", "239.1.1.2"])
        #expect(description.media.map(\.direction) == [.receiveOnly, .sendOnly])
    }

    @Test func `a direction of the whole session makes no back channel of audio`() throws {
        let lines = ["v=0", "a=sendonly", "m=video 0 RTP/AVP 96", "m=audio 0 RTP/AVP 0"]
        let session = try Self.parse(lines.map { $0 + "\r\n" }.joined())
        #expect(session.media.map(\.direction) == [.sendOnly, .sendOnly])
        #expect(session.media.map(\.isBackChannel) == [false, false])
        let own = try Self.parse((lines + ["a=sendonly"]).map { $0 + "\r\n" }.joined())
        #expect(own.media.map(\.isBackChannel) == [false, true])
    }

    @Test func `nonsense in numbers takes the default`() throws {
        let description = try Self.parse(
            Descriptions.lines(
                "v=0", "m=video 99999999999999999999 RTP/AVP 96", "b=AS:9999999999999999999",
                "b=AS:9223372036854775807",
                "a=rtpmap:96 H264/99999999999999999999/-4", "a=framerate:nan", "a=framerate:-25", "a=framerate:1e999"))
        #expect(description.media[0].port == 0)
        #expect(description.media[0].bandwidth == nil)
        #expect(description.media[0].frameRate == nil)
        #expect(description.media[0].formats[0].clockRate == 90_000)
        #expect(description.media[0].formats[0].channels == 1)
    }

    @Test(arguments: ["", "\r\n", "<html><body>404</body></html>", "a=control:*\r\n", "\0\0\0\0"])
    func `what is not a description is refused`(text: String) {
        #expect(throws: RTSPError.malformed(position: 0, reason: "it holds neither a version nor a medium")) {
            try Self.parse(text)
        }
    }

    @Test func `bounds`() throws {
        let media = String(repeating: "m=video 0 RTP/AVP 96\r\n", count: 17)
        #expect(throws: RTSPError.tooLong(what: "media", limit: 16)) { try Self.parse(media) }
        #expect(throws: RTSPError.tooLong(what: "bytes", limit: 65_536)) {
            try SessionDescription.parse([UInt8](repeating: 0x20, count: 65_537)[...])
        }
        let types = (0..<128).map(String.init).joined(separator: " ")
        #expect(try Self.parse("m=video 0 RTP/AVP \(types)\r\n").media[0].formats.count == 32)
        let parameters = (0..<5000).map { "k\($0)=v" }.joined(separator: ";")
        let format = try Self.parse("m=video 0 RTP/AVP 96\r\na=fmtp:96 \(parameters)\r\n").media[0].formats[0]
        #expect(format.parameters.count == 32)
    }

    @Test func `every prefix and every flipped byte gives an error or a value`() {
        let bytes = Array(Descriptions.backChannel.utf8)
        var values = 0
        for end in bytes.indices where (try? SessionDescription.parse(bytes[..<end])) != nil { values += 1 }
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(bit)
                if let description = try? SessionDescription.parse(flipped[...]) {
                    values += 1
                    #expect(description.media.count <= 4)
                }
            }
        }
        #expect(values > bytes.count)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `random bytes and shuffled lines end in bounds`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lines = Descriptions.backChannel.split(separator: "\r\n").map { Array($0.utf8) }
        for _ in 0..<50 { lines.append(random.bytes(Int(random.next() % 40))) }
        for _ in 0..<20 { lines.append(Array("a=rtpmap:".utf8) + random.bytes(12)) }
        lines.shuffle(using: &random)
        if let description = try? SessionDescription.parse(Array(lines.joined(separator: [10]))[...]) {
            #expect(description.media.count <= SessionDescription.maxMedia)
            for media in description.media { #expect(media.formats.allSatisfy { $0.clockRate > 0 }) }
        }
    }

    @Test func `parameters under another medium go to the one whose type they name`() throws {
        let text = Descriptions.lines(
            "v=0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "m=audio 0 RTP/AVP 97",
            "a=rtpmap:97 MPEG4-GENERIC/16000", "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0I,aM4",
            "a=fmtp:97 config=1408", "a=fmtp:98 nobody=1")
        let found = try SessionDescription.parse(Array(text.utf8)[...])
        #expect(found.media[0].formats[0].parameters["sprop-parameter-sets"] == "Z0I,aM4")
        #expect(found.media[1].formats[0].parameters == ["config": "1408"])
        // A medium's own ones are better, wherever the others stand.
        let both = Descriptions.lines(
            "v=0", "m=audio 0 RTP/AVP 97", "a=fmtp:96 a=stray", "m=video 0 RTP/AVP 96", "a=fmtp:96 a=own")
        #expect(
            try SessionDescription.parse(Array(both.utf8)[...]).media[1].formats[0].parameters == ["a": "own"])
    }

    @Test(arguments: [
        #"Z0I=","aM4="#, #"Z0I=,aM4=""#, #""Z0I=,aM4="#, #""Z0I=,aM4=""#,
    ])
    func `stray quotes swallow no parameter`(sets: String) throws {
        let parameters = "sprop-parameter-sets=\(sets);packetization-mode=1"
        let text = Descriptions.lines("v=0", "m=video 0 RTP/AVP 96", "a=fmtp:96 \(parameters)")
        let found = try SessionDescription.parse(Array(text.utf8)[...]).media[0].formats[0].parameters
        #expect(found["packetization-mode"] == "1")
        #expect(found["sprop-parameter-sets"]?.filter { $0 != "\"" } == "Z0I=,aM4=")
    }
}
