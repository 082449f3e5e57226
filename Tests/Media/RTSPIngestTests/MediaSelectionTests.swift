import RTP
import RTSP
import Testing
import VideoCodec

@testable import RTSPIngest

struct MediaSelectionTests {
    static let video = ["v=0", "m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000"]

    private func selection(_ lines: [String], audio: Bool = true) throws -> MediaSelection {
        let text = lines.map { $0 + "\r\n" }.joined()
        return MediaSelection(try SessionDescription.parse(Array(text.utf8)[...]), audio: audio)
    }

    @Test func `audio of a session that only sends is taken`() throws {
        let found = try selection(["v=0", "a=sendonly"] + Self.video.dropFirst() + ["m=audio 0 RTP/AVP 0"])
        #expect(found.audio?.kind == .pcmu)
        #expect(found.audioReason == nil)
    }

    @Test(arguments: [
        (["m=audio 0 RTP/AVP 0", "a=sendonly"], "loudspeaker"),
        (["m=audio 0 RTP/AVP 0", "a=inactive"], "switched off"),
        (["m=audio 0 RTP/SAVP 0"], "RTP/SAVP"),
        (["m=audio 0 RTP/AVP 9"], "G722"),
        (["m=audio 0 RTP/AVP 0", "a=sendonly", "m=audio 0 RTP/AVP 9"], "G722"),
        (["m=audio 0 RTP/AVP 9", "m=audio 0 RTP/AVP 0", "a=sendonly"], "G722"),
    ])
    func `audio that is left out has a reason`(lines: [String], word: String) throws {
        let found = try selection(Self.video + lines)
        #expect(found.audio == nil)
        #expect(found.audioReason?.contains(word) == true)
        #expect(try selection(Self.video + lines, audio: false).audioReason == nil)
    }

    @Test(arguments: [
        ("PCMA/16000", MediaChoice.Kind.pcma, 16_000, 1), ("PCMU/8000/2", .pcmu, 8_000, 2),
        ("PCMU/48000/2", .pcmu, 48_000, 2), ("PCMA/11025", .pcma, 11_025, 1), ("opus/48000/2", .opus, 48_000, 1),
        ("OPUS/48000", .opus, 48_000, 1), ("G726-16/8000", .g726, 8_000, 1), ("G726-40/8000", .g726, 8_000, 1),
        ("AAL2-G726-24/8000/1", .g726, 8_000, 1),
    ])
    func `audio of other rates and codings is taken`(
        mapping: String, kind: MediaChoice.Kind, rate: Int, channels: Int
    ) throws {
        let found = try #require(
            try selection(Self.video + ["m=audio 0 RTP/AVP 97", "a=rtpmap:97 \(mapping)"]).audio)
        #expect(found.kind == kind)
        #expect(found.clockRate == rate)
        #expect(found.channels == channels)
        let name = String(mapping.prefix { $0 != "/" }).lowercased()
        #expect(found.coding?.rawValue == (kind == .pcma || kind == .pcmu ? nil : name))
    }

    @Test(arguments: [
        ("PCMA/7350", "PCMA (7350 Hz"), ("PCMU/8000/6", "6 channels"), ("opus/16000/2", "OPUS (16000 Hz"),
        ("G726-48/8000", "G726-48"), ("G726-32/16000", "G726-32 (16000 Hz"), ("G726/8000", "G726"),
        ("AAL2-G726-32/8000/2", "2 channels"),
    ])
    func `audio of a rate or kind that is not taken says so`(mapping: String, words: String) throws {
        let found = try selection(Self.video + ["m=audio 0 RTP/AVP 97", "a=rtpmap:97 \(mapping)"])
        #expect(found.audio == nil)
        #expect(found.audioReason?.contains(words) == true, "\(found.audioReason ?? "-")")
    }

    @Test func `type 2 is G726 at 32 kbit, and JPEG may be wider than its packets say`() throws {
        #expect(try selection(Self.video + ["m=audio 0 RTP/AVP 2"]).audio?.coding == .g726r32)
        let wide = ["v=0", "m=video 0 RTP/AVP 26", "a=x-dimensions:2592,1944"]
        #expect(try selection(wide).video?.dimensions == FrameDimensions(width: 2592, height: 1944))
        for junk in ["", "2592", "0,1", "1,2,3", "a,b", "65536,1", "99999999999999999999,1", "-1,5"] {
            let found = try selection(["v=0", "m=video 0 RTP/AVP 26", "a=x-dimensions:\(junk)"]).video
            #expect(found != nil && found?.dimensions == nil, "\(junk)")
        }
    }

    @Test func `no audio, and audio beside a back channel, need no reason`() throws {
        #expect(try selection(Self.video).audioReason == nil)
        let found = try selection(
            Self.video + ["m=audio 0 RTP/AVP 0", "a=sendonly", "m=audio 0 RTP/AVP 8", "a=recvonly"])
        #expect(found.audio?.kind == .pcma)
        #expect(found.audioReason == nil)
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
