import ONVIF
import Testing
import XMLReader

struct WSDiscoveryProbeTests {
    @Test(arguments: zip(DiscoveryProbe.Types.allCases, ["dn:NetworkVideoTransmitter", "tds:Device", nil]))
    func `a probe is one line with all that cameras insist on`(types: DiscoveryProbe.Types, text: String?) throws {
        let message = DiscoveryProbe.message(messageID: "0d3b", types: types)
        #expect(!message.contains(10) && !message.contains(13))
        // One packet on any network.
        #expect(message.count < 1200)
        let root = try XMLReader.parse(message[...])
        #expect(root.name == "Envelope" && root.namespace == "http://www.w3.org/2003/05/soap-envelope")
        #expect(root.text("Header", "MessageID") == "uuid:0d3b")
        #expect(root.text("Header", "To") == "urn:schemas-xmlsoap-org:ws:2005:04:discovery")
        #expect(root.text("Header", "Action") == "http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe")
        let probe = try #require(root.descendant("Body", "Probe"))
        #expect(probe.namespace == "http://schemas.xmlsoap.org/ws/2005/04/discovery")
        #expect(probe.text("Types") == text)
        // Declared on the envelope, and nowhere else.
        let written = String(decoding: message, as: UTF8.self)
        let envelope = try #require(written.split(separator: "<e:Header>").first)
        #expect(envelope.split(separator: "xmlns:").count == 6)
        #expect(written.split(separator: "xmlns:").count == 6)
    }
}
