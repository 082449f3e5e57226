import ONVIF
import TestSupport
import Testing
import XMLReader

struct WSDiscoveryMessageTests {
    typealias Messages = WSDiscoveryMessages

    @Test func `an answer is read with all that it says`() throws {
        let target = try #require(try Messages.targets(Messages.matches(Messages.target())).first)
        #expect(target.endpoint == "urn:uuid:2419d68a-2dd2-21b2-a205-ec71db1a2b3c")
        #expect(target.types == ["dn:NetworkVideoTransmitter"])
        #expect(target.name == "Front door")
        #expect(target.hardware == "WB-1")
        #expect(target.manufacturer == nil)
        #expect(target.addresses == ["http://192.168.1.64/onvif/device_service"])
        #expect(target.metadataVersion == 10)
        #expect(target.source == "192.168.1.64")
        #expect(target.isCamera)
    }

    @Test func `hello and bye are told apart, with their message`() throws {
        let hello = try Messages.parsed(
            Messages.envelope("<d:Hello>\(Messages.target())</d:Hello>", messageID: " uuid:7 "))
        #expect(hello.messageID == "uuid:7")
        guard case .hello(let come) = hello.content else {
            Issue.record("no Hello: \(hello)")
            return
        }
        #expect(come.addresses == ["http://192.168.1.64/onvif/device_service"])
        let endpoint =
            "<wsa:EndpointReference><wsa:Address>urn:uuid:ABCD0000-2dd2-21b2-a205-ec71db1a2b3c</wsa:Address></wsa:EndpointReference>"
        let bye = try Messages.parsed(Messages.envelope("<d:Bye>\(endpoint)</d:Bye>", messageID: nil))
        #expect(bye.messageID.isEmpty)
        #expect(
            bye.content
                == .bye(
                    DiscoveredTarget(endpoint: "urn:uuid:abcd0000-2dd2-21b2-a205-ec71db1a2b3c", source: "192.168.1.64"))
        )
    }

    @Test func `a probe of another program is not an answer`() throws {
        let probe = DiscoveryProbe.message(messageID: "1", types: .any)
        let message = try DiscoveryMessage.parse(try XMLReader.parse(probe[...]), source: "192.168.1.9")
        #expect(message.content == .other(action: "Probe"))
        // The same name of another vocabulary.
        let foreign = "<ProbeMatches xmlns=\"urn:x\"><ProbeMatch/></ProbeMatches>"
        #expect(try Messages.parsed(Messages.envelope(foreign)).content == .other(action: "ProbeMatches"))
    }

    @Test func `what is not an envelope is refused with its reason`() throws {
        #expect(throws: DiscoveryMessageError.notAnEnvelope(root: "html")) { try Messages.parsed("<html/>") }
        #expect(throws: DiscoveryMessageError.empty) { try Messages.parsed(Messages.envelope("")) }
        #expect(throws: DiscoveryMessageError.empty) { try Messages.parsed("<Envelope/>") }
    }

    @Test func `several devices may stand in one answer, and no more than 64 are read`() throws {
        let two = Messages.matches(
            Messages.target(endpoint: "urn:uuid:00000000-0000-0000-0000-000000000001"),
            Messages.target(endpoint: "urn:uuid:00000000-0000-0000-0000-000000000002"))
        #expect(try Messages.targets(two).count == 2)
        let many = String(repeating: "<d:ProbeMatch>\(Messages.target())</d:ProbeMatch>", count: 80)
        let message = Messages.envelope("<d:ProbeMatches>\(many)</d:ProbeMatches>")
        #expect(try Messages.targets(message).count == 64)
    }

    @Test func `scopes are decoded, and nothing in them can steer a terminal`() throws {
        let scopes = """
            onvif://www.onvif.org/type/video_encoder ONVIF://www.onvif.org/Name/K%C3%BCche%20%1B%5B2J%00x
            onvif://www.onvif.org/hardware/%FF%FE%4 onvif://www.onvif.org/location/ onvif://www.onvif.org/location/city/Bonn
            onvif://www.onvif.org/location/country/Germany onvif://www.onvif.org/mfr/ACME onvif://elsewhere/name/No
            onvif://www.onvif.org/name onvif://www.onvif.org/%6eame/No
            """
        let target = try #require(try Messages.targets(Messages.matches(Messages.target(scopes: scopes))).first)
        #expect(target.name == "Küche  [2J x")
        #expect(target.hardware == "\u{FFFD}\u{FFFD}%4")
        #expect(target.location == "city/Bonn, country/Germany")
        #expect(target.manufacturer == "ACME")
    }

    @Test func `long strings and lists are cut`() throws {
        let long = String(repeating: "a", count: 500)
        let scopes = "onvif://www.onvif.org/name/\(long) " + String(repeating: "onvif://www.onvif.org/x ", count: 200)
        let target = try #require(
            try Messages.targets(
                Messages.matches(
                    Messages.target(
                        endpoint: "urn:uuid:" + String(repeating: "f", count: 5000), scopes: scopes,
                        version: "99999999999"))
            ).first)
        #expect((target.name?.count ?? 0) <= 128)
        #expect(target.scopes.count == 64)
        #expect(target.endpoint == nil)
        #expect(target.metadataVersion == 0)
    }

    @Test func `printers and computers are not cameras, though they have the type Device`() throws {
        func isCamera(_ types: String, _ scopes: String, _ addresses: String) throws -> Bool {
            let message = Messages.matches(Messages.target(types: types, scopes: scopes, addresses: addresses))
            return try #require(try Messages.targets(message).first).isCamera
        }
        let computer = "http://192.168.1.5:5357/a7f3/"
        #expect(try !isCamera("wsdp:Device pub:Computer", "", computer))
        #expect(
            try !isCamera("wsdp:Device wprt:PrintDeviceType", "http://example.org/onvif://www.onvif.org/", computer))
        #expect(try !isCamera("", "", computer))
        #expect(try isCamera("tds:Device", "", computer))
        #expect(try isCamera("NetworkVideoTransmitter", "", computer))
        #expect(try isCamera("ns1:Device", "", "http://192.168.1.5/onvif/device_service"))
        #expect(try isCamera("", "onvif://www.onvif.org/Profile/Streaming", computer))
    }

    @Test func `every beginning and every flipped byte of an answer is a value or an error`() {
        let message = Array(Messages.matches(Messages.target()).utf8)
        for length in 0..<message.count {
            _ = try? Messages.parsed(String(decoding: message[..<length], as: UTF8.self))
        }
        for index in message.indices {
            for flip: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var changed = message
                changed[index] ^= flip
                guard let root = try? XMLReader.parse(changed[...]),
                    let read = try? DiscoveryMessage.parse(root, source: "192.168.1.64"),
                    case .matches(let targets) = read.content
                else { continue }
                var collection = DiscoveryCollection()
                for target in targets { collection.add(target, network: "eth0") }
                #expect(collection.entries.allSatisfy { !$0.target.addresses.isEmpty })
            }
        }
    }

    @Test(arguments: [1, 2, 3]) func `any strings in any place are a value`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words = [
            "http://", "https://[", "]", ":", "0", "65536", "%25", "%", "fe80::", "@", "/", "onvif", "?", " ",
            "\u{FFFD}", "ü",
            "::ffff:1.2.3.4", "1.2.3.4", "urn:uuid:", "\u{0}", "\u{202E}", "..", "[::1]",
        ]
        for _ in 0..<3000 {
            func text() -> String {
                (0..<Int.random(in: 0...8, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let element = XMLElement(
                name: "Envelope",
                children: [
                    XMLElement(
                        name: "Body",
                        children: [
                            XMLElement(
                                namespace: "http://schemas.xmlsoap.org/ws/2005/04/discovery", name: "Hello",
                                children: [
                                    XMLElement(name: "XAddrs", text: text()), XMLElement(name: "Types", text: text()),
                                    XMLElement(name: "Scopes", text: "onvif://www.onvif.org/name/" + text()),
                                    XMLElement(
                                        name: "EndpointReference",
                                        children: [XMLElement(name: "Address", text: text())]),
                                ])
                        ])
                ])
            let message = try DiscoveryMessage.parse(element, source: "10.0.0.1")
            guard case .hello(let target) = message.content else {
                Issue.record("no Hello")
                return
            }
            for address in target.addresses {
                let read = try #require(DiscoveryAddress(address), "\(address) cannot be read again")
                #expect(read.url == address)
                #expect(!read.host.isEmpty)
            }
        }
    }
}
