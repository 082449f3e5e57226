import ONVIF
import Testing

struct WSDiscoveryCollectionTests {
    private func target(
        _ endpoint: String?, _ addresses: [String], source: String, scopes: [String] = ["onvif://www.onvif.org/name/A"],
        version: UInt32 = 1
    ) -> DiscoveredTarget {
        DiscoveredTarget(
            endpoint: endpoint, types: ["dn:NetworkVideoTransmitter"], scopes: scopes, addresses: addresses,
            metadataVersion: version, source: source)
    }

    /// The macro does not take what changes something.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    private let one = "urn:uuid:2419d68a-2dd2-21b2-a205-ec71db1a2b3c"

    @Test func `a device that answers every probe, twice, is there once`() {
        var collection = DiscoveryCollection()
        let answer = target(one, ["http://10.0.0.5/o"], source: "10.0.0.5")
        let spelled = target("uuid:2419D68A-2DD2-21B2-A205-EC71DB1A2B3C", ["http://10.0.0.5/o"], source: "10.0.0.5")
        expect(collection.add(answer, network: "eth0"))
        expect(!collection.add(answer, network: "eth0"))
        expect(!collection.add(spelled, network: "eth0"))
        #expect(collection.entries.count == 1)
        #expect(collection.entries.first?.networks == ["eth0"])
    }

    @Test func `its addresses are merged, the one that was seen first`() throws {
        var collection = DiscoveryCollection()
        collection.add(target(one, ["http://192.168.0.9/o"], source: "fe80::9%eth1"), network: "eth1")
        let changed = collection.add(target(one, ["http://10.0.0.5/o"], source: "10.0.0.5"), network: "eth0")
        #expect(changed)
        let entry = try #require(collection.entries.first)
        #expect(entry.target.addresses == ["http://10.0.0.5/o", "http://192.168.0.9/o"])
        #expect(entry.networks == ["eth1", "eth0"])
        #expect(entry.sources == ["fe80::9%eth1", "10.0.0.5"])
    }

    @Test func `the newest message counts, and silence is not news`() {
        var collection = DiscoveryCollection()
        let addresses = ["http://10.0.0.5/o"]
        collection.add(
            target(one, addresses, source: "10.0.0.5", scopes: ["onvif://www.onvif.org/name/New"], version: 5),
            network: "e")
        collection.add(
            target(one, addresses, source: "10.0.0.5", scopes: ["onvif://www.onvif.org/name/Old"], version: 4),
            network: "e")
        #expect(collection.entries.first?.target.name == "New")
        collection.add(target(one, addresses, source: "10.0.0.5", scopes: [], version: 6), network: "e")
        #expect(collection.entries.first?.target.name == "New")
        #expect(collection.entries.first?.target.metadataVersion == 6)
    }

    @Test func `without an endpoint the address distinguishes devices`() {
        var collection = DiscoveryCollection()
        collection.add(target(nil, ["http://10.0.0.5/o"], source: "10.0.0.5"), network: "e")
        collection.add(target(nil, ["http://10.0.0.6/o"], source: "10.0.0.6"), network: "e")
        collection.add(
            target("urn:uuid:00000000-0000-0000-0000-000000000000", ["http://10.0.0.5/o"], source: "10.0.0.5"),
            network: "e")
        #expect(collection.entries.count == 2)
    }

    @Test func `printers, and devices without an address, are left out and counted`() {
        var collection = DiscoveryCollection()
        let printer = DiscoveredTarget(
            endpoint: one, types: ["wsdp:Device"], addresses: ["http://10.0.0.9:5357/x"], source: "10.0.0.9")
        expect(!collection.add(printer, network: "e"))
        expect(!collection.add(target(one, [], source: "10.0.0.5"), network: "e"))
        #expect(collection.entries.isEmpty)
        #expect(collection.ignored == 2)
    }

    @Test func `a flood fills it and no more`() {
        var collection = DiscoveryCollection()
        for number in 0..<2000 {
            let text = String(number, radix: 16)
            let uuid = "urn:uuid:2419d68a-2dd2-21b2-a205-\(String(repeating: "0", count: 12 - text.count))\(text)"
            collection.add(target(uuid, ["http://10.0.0.5/o"], source: "10.0.0.5"), network: "e")
        }
        #expect(collection.entries.count == 1024)
        #expect(collection.overflow == 976)
        for number in 0..<100 {
            collection.add(
                target(
                    "urn:uuid:2419d68a-2dd2-21b2-a205-000000000000", ["http://10.0.1.\(number)/o"],
                    source: "10.0.1.\(number)"),
                network: "eth\(number)")
        }
        #expect(collection.entries.first?.target.addresses.count == 16)
        #expect(collection.entries.first?.networks.count == 16)
        #expect(collection.entries.first?.sources.count == 16)
    }
}
