import RTMP
import RTMPTransport
import RelayProbe
import Testing

@Suite(.timeLimit(.minutes(15))) struct ParsingRelayTests {
    private func probe(_ relay: ParsingRelay, ownsName: Bool = false) async throws -> RelayFindings {
        let server = try await RTMPServer.bind(RTMPServerConfiguration(host: "127.0.0.1", port: 0), delegate: relay)
        let url = RTMPURL(
            scheme: .rtmp, host: "127.0.0.1", port: UInt16(server.port), app: "live", streamName: "test?key=1")
        let findings = try await RelayProbe(url: url, ownsName: ownsName).run { _ in }
        await server.close()
        return findings
    }

    @Test(arguments: [(busy: 0, ownsName: false), (busy: 2, ownsName: false), (busy: 100, ownsName: true)])
    func `a relay that parses frames is found to carry wrapped ones`(busy: Int, ownsName: Bool) async throws {
        let relay = ParsingRelay(busy: busy)
        let findings = try await probe(relay, ownsName: ownsName)
        #expect(relay.refused == 1, "plain frames are tried first, and once")
        #expect(findings.verdict == .parsesAVCC, "\(findings)")
        #expect(findings.reason.contains("--relay-profile parses-avcc"))
        #expect(findings.framesForeign == 0 && findings.keepsMetadata)
    }

    @Test func `a second run that could not be made is named`() async throws {
        let findings = try await probe(ParsingRelay(busy: 100))
        #expect(findings.verdict == .cannotCarry)
        #expect(findings.reason.contains("could not be tested"), "\(findings.reason)")
    }
}
