enum Descriptions {
    static let video = lines(
        "v=0", "o=- 1 1 IN IP4 10.0.0.7", "s=cam", "t=0 0", "a=control:*", "m=video 0 RTP/AVP 96",
        "a=rtpmap:96 H264/90000",
        "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IAKeKQFAe2AtwEBAaQeJEV,aM48gA==",
        "a=control:track1")

    static let videoAndAudio =
        video
        + lines(
            "m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/16000/1",
            "a=fmtp:97 streamtype=5;mode=AAC-hbr;config=1408;SizeLength=13;IndexLength=3;IndexDeltaLength=3",
            "a=control:track2")

    /// With ONVIF's back channel.
    static let backChannel =
        videoAndAudio
        + lines("m=audio 0 RTP/AVP 0", "a=control:track3", "a=rtpmap:0 PCMU/8000", "a=sendonly")

    static func lines(_ lines: String...) -> String { lines.map { $0 + "\r\n" }.joined() }
}
