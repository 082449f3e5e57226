/// The one request of a scan: OPTIONS without credentials, over the scan's own socket.
public enum RTSPRequest {
    public static func optionsProbe(_ url: RTSPURL, userAgent: String = "WatchBox") -> [UInt8] {
        Array(
            "OPTIONS \(url) RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: \(CameraText.printable(userAgent, limit: 128))\r\n\r\n"
                .utf8)
    }

    /// Whether the first bytes that came are an RTSP answer, whatever its status; nil while they are too few to tell.
    public static func isRTSPAnswer(_ first: ArraySlice<UInt8>) -> Bool? {
        let expected = Array("RTSP/".utf8)
        if first.starts(with: expected) { return true }
        return expected.starts(with: first) ? nil : false
    }
}
