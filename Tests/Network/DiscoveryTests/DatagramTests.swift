import Logging
import ONVIF
import Platform
import Testing

@testable import Discovery

struct DatagramTests {
    private func message(_ text: String) throws -> DiscoveryMessage? {
        let source = try #require(SocketAddress(host: "10.0.0.5", port: 3702))
        return Datagram.message(Array(text.utf8)[...], source: source, logger: Logger(label: "test"))
    }

    private func hello(_ inside: String, attributes: String = "") -> String {
        "<e:Envelope xmlns:e=\"urn:e\" \(attributes)><e:Body><Hello xmlns=\"http://schemas.xmlsoap.org/ws/2005/04/discovery\">\(inside)</Hello></e:Body></e:Envelope>"
    }

    @Test func `an envelope that declares every namespace that its maker knows is read`() throws {
        let declarations = (0..<60).map { "xmlns:n\($0)=\"http://www.onvif.org/ver10/n\($0)/wsdl\"" }.joined(
            separator: " ")
        #expect(try message(hello("", attributes: declarations)) != nil)
        let more = (0..<70).map { "xmlns:n\($0)=\"urn:\($0)\"" }.joined(separator: " ")
        #expect(try message(hello("", attributes: more)) == nil)
    }

    @Test func `what no device has to say is not read`() throws {
        let depth = 13
        let opening = String(repeating: "<a>", count: depth)
        let closing = String(repeating: "</a>", count: depth)
        #expect(try message(hello(opening + closing)) != nil)
        #expect(try message(hello("<a>" + opening + closing + "</a>")) == nil)
        #expect(try message(hello(String(repeating: "<a/>", count: 497))) != nil)
        #expect(try message(hello(String(repeating: "<a/>", count: 498))) == nil)
        let attributes = (0..<17).map { "a\($0)=\"\"" }
        #expect(try message(hello("", attributes: attributes.dropLast().joined(separator: " "))) != nil)
        #expect(try message(hello("", attributes: attributes.joined(separator: " "))) == nil)
    }

    @Test func `a recorder may announce many cameras in one message`() throws {
        let scopes = (0..<60).map { "<x>\(String(repeating: "onvif://www.onvif.org/name/\($0) ", count: 30))</x>" }
        #expect(try message(hello(scopes.joined())) != nil)
    }
}
