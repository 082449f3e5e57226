import RTSP
import Testing

@testable import RTSPIngest

struct MediaSelectionTests {
    static let video = ["v=0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000"]

    private func selection(_ lines: [String], audio: Bool = true) throws -> MediaSelection {
        let text = lines.map { $0 + "\r\n" }.joined()
        return MediaSelection(try SessionDescription.parse(Array(text.utf8)[...]), audio: audio)
    }

    @Test func `sound of a session that only sends is taken`() throws {
        let found = try selection(["v=0", "a=sendonly"] + Self.video.dropFirst() + ["m=audio 0 RTP/AVP 0"])
        #expect(found.sound?.kind == .pcmu)
        #expect(found.soundReason == nil)
    }

    @Test(arguments: [
        (["m=audio 0 RTP/AVP 0", "a=sendonly"], "loudspeaker"),
        (["m=audio 0 RTP/AVP 0", "a=inactive"], "switched off"),
        (["m=audio 0 RTP/SAVP 0"], "RTP/SAVP"),
        (["m=audio 0 RTP/AVP 9"], "G722"),
        (["m=audio 0 RTP/AVP 0", "a=sendonly", "m=audio 0 RTP/AVP 9"], "G722"),
        (["m=audio 0 RTP/AVP 9", "m=audio 0 RTP/AVP 0", "a=sendonly"], "G722"),
    ])
    func `sound that is left out has a reason`(lines: [String], word: String) throws {
        let found = try selection(Self.video + lines)
        #expect(found.sound == nil)
        #expect(found.soundReason?.contains(word) == true)
        #expect(try selection(Self.video + lines, audio: false).soundReason == nil)
    }

    @Test func `no sound, and sound beside a back channel, need no reason`() throws {
        #expect(try selection(Self.video).soundReason == nil)
        let found = try selection(
            Self.video + ["m=audio 0 RTP/AVP 0", "a=sendonly", "m=audio 0 RTP/AVP 8", "a=recvonly"])
        #expect(found.sound?.kind == .pcma)
        #expect(found.soundReason == nil)
    }

    private static let sets: [[UInt8]] = [[0x67, 0x42, 0, 0x29, 0xE2], [0x68, 0xCE, 0x38, 0x80]]

    @Test(arguments: [
        // As it should be, without padding, with blanks.
        "Z0IAKeI=,aM44gA==", "Z0IAKeI,aM44gA", " Z0IAKeI= , aM44gA== ",
        // A quote in the middle, and one at each end.
        "Z0IAKeI=\",\"aM44gA==", "\"Z0IAKeI=,aM44gA==\"",
        // Start codes of four and of three bytes in front (scottlamb/moonfire-nvr#213), and behind (GW Security).
        "AAAAAWdCACni,AAAAAWjOOIA=", "AAABZ0IAKeI=,AAABaM44gA==", "Z0IAKeIAAAAB,aM44gAAAAAE=",
        // Both sets in one.
        "AAAAAWdCACniAAAAAWjOOIA=", "Z0IAKeIAAAABaM44gA==",
    ])
    func `parameter sets are found however they are written`(text: String) {
        #expect(MediaSelection.sets(text) == Self.sets)
    }

    @Test func `what holds no parameter set gives none`() {
        for text in [nil, "", ",,", "!!!", "AAAAAQ==", "AAAB"] as [String?] {
            #expect(MediaSelection.sets(text).isEmpty)
        }
        #expect(MediaSelection.sets([String](repeating: "aM44gA==", count: 99).joined(separator: ",")).count == 16)
    }
}
