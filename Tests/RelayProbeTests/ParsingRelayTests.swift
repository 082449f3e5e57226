import RTMP
import RTMPTransport
import RelayProbe
import Testing

@Suite struct ParsingRelayTests {
    @Test(.timeLimit(.minutes(5)))
    func `a relay that parses frames is found to carry wrapped ones`() async throws {
        let relay = ParsingRelay()
        let server = try await RTMPServer.bind(RTMPServerConfiguration(host: "127.0.0.1", port: 0), delegate: relay)
        let url = RTMPURL(
            scheme: .rtmp, host: "127.0.0.1", port: UInt16(server.port), app: "live", streamName: "test")
        let findings = try await RelayProbe(url: url).run { _ in }
        #expect(relay.refused == 1, "plain frames are tried first, and once")
        #expect(findings.verdict == .parsesAVCC, "\(findings)")
        #expect(findings.reason.contains("--relay-profile parses-avcc"))
        #expect(findings.framesForeign == 0 && findings.keepsMetadata)
        await server.close()
    }
}
