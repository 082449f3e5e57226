import ControlAPI
import ErrorCatalog
import RTMPTransport
import Testing

@testable import Doctor
@testable import RelayProbe

@Suite struct NetworkDiagnosisTests {
    private func upload(_ megabits: Double, isAtLeast: Bool = false) -> RelayLink.Upload {
        RelayLink.Upload(bytes: 1_000_000, milliseconds: 3000, bitsPerSecond: megabits * 1e6, isAtLeast: isAtLeast)
    }

    @Test func `an upload is assessed by what cameras send`() {
        #expect(NetworkDiagnosis.upload(upload(4), needed: 0).state == .ok)
        #expect(NetworkDiagnosis.upload(upload(7), needed: 4e6).state == .ok)
        #expect(NetworkDiagnosis.upload(upload(5), needed: 4e6).state == .warn)
        let narrow = NetworkDiagnosis.upload(upload(3), needed: 4e6)
        #expect(narrow.state == .fail && narrow.hint != nil)
        #expect(narrow.evidence == "3.0 Mb/s (1.0 MB in 3.0 s); cameras are set to 4.0 Mb/s")
        #expect(NetworkDiagnosis.upload(nil, needed: 0).code == .relayStalled)
    }

    /// It was not looked long enough to blame the line.
    @Test func `at least so much is never too little`() {
        let reported = NetworkDiagnosis.upload(upload(3, isAtLeast: true), needed: 4e6)
        #expect(reported.state == .ok && reported.evidence.hasPrefix("at least 3.0 Mb/s"))
    }

    @Test func `certificates that end soon are a warning`() {
        #expect(NetworkDiagnosis.trusted("TLS 1.3", certificateEnd: 40 * 86_400, now: 0).state == .ok)
        let soon = NetworkDiagnosis.trusted("TLS 1.3", certificateEnd: 3 * 86_400, now: 0)
        #expect(soon.state == .warn && soon.code == .certificateExpires)
        #expect(NetworkDiagnosis.trusted(nil, certificateEnd: nil, now: 0).state == .ok)
    }

    @Test func `what is not trusted is told apart from what is not there`() {
        #expect(NetworkDiagnosis.distrusted(RTMPTransportError(.publicKeyMismatch))?.code == .certificateRefused)
        #expect(NetworkDiagnosis.distrusted(RTMPTransportError(.connectionLost("reset"))) == nil)
    }

    @Test func `figures that the kernel does not report are unknown`() {
        #expect(NetworkDiagnosis.roundTrip(nil).state == .unknown)
        #expect(NetworkDiagnosis.pathMTU(nil).state == .unknown)
        #expect(NetworkDiagnosis.roundTrip(20).state == .ok)
        #expect(NetworkDiagnosis.roundTrip(900).state == .warn)
        #expect(NetworkDiagnosis.pathMTU(1500).state == .ok)
        #expect(NetworkDiagnosis.pathMTU(576).state == .warn)
        #expect(NetworkDiagnosis.lookup(2000, host: "relay").state == .warn)
    }
}
