import RTSP
import Testing

struct RTSPFailureTests {
    @Test func `each failure says what happened in a line of its own`() {
        let failures: [RTSPFailure] = [
            .loginNeeded(offered: ["Digest MD5"]), .loginNeeded(offered: []),
            .loginRefused(scheme: "Basic", realm: "IP Camera"), .loginRefused(scheme: "Basic", realm: ""),
            .loginUnsupported(offered: ["Bearer"]), .basicNotAllowed(realm: "r"), .basicNotAllowed(realm: ""),
            .forbidden,
            .noSuchStream, .busy(status: 453, retryAfterSeconds: nil), .busy(status: 503, retryAfterSeconds: 5),
            .transportRefused, .noSupportedMedia(offered: ["VP8"]), .redirectElsewhere(host: "h"),
            .refused(method: "PLAY", status: 500, reason: "Oh no"), .refused(method: "PLAY", status: 500, reason: ""),
            .malformed(position: 7, reason: "an answer without a status"), .notRTSP, .timeout(method: "PLAY"),
            .closed(method: "PLAY"), .closed(method: nil), .tooLong(what: "headers", limit: 100),
        ]
        let texts = failures.map(\.description)
        #expect(Set(texts).count == failures.count)
        #expect(texts.allSatisfy { $0.count > 15 && !$0.contains("\n") && $0.last != " " })
        #expect(
            RTSPFailure.refused(method: "PLAY", status: 500, reason: "").description == "the camera refuses PLAY: 500")
    }
}
