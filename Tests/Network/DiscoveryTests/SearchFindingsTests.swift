import ONVIF
import Platform
import Testing

@testable import Discovery

struct SearchFindingsTests {
    private func address(_ host: String, _ port: UInt16) throws -> SocketAddress {
        try #require(SocketAddress(host: host, port: port))
    }

    private func camera(_ endpoint: String, _ urls: String..., source: String) -> DiscoveredTarget {
        DiscoveredTarget(
            endpoint: endpoint, types: ["dn:NetworkVideoTransmitter"],
            scopes: ["onvif://www.onvif.org/name/Door", "onvif://www.onvif.org/hardware/H"], addresses: urls,
            source: source)
    }

    private let endpoint = "urn:uuid:2419d68a-2dd2-21b2-a205-ec71db1a2b3c"

    @Test func `a camera that WS-Discovery and the scan have found is one camera`() throws {
        var findings = SearchFindings()
        let new = findings.answeredRTSP(try address("10.0.0.5", 8554), status: 200)
        #expect(new)
        #expect(findings.devices.map(\.kind) == [.rtsp])
        let heard = findings.heard(
            camera(endpoint, "http://10.0.0.5:8000/onvif/device_service", source: "10.0.0.5"), network: "eth0")
        #expect(heard.isNew)
        let again = findings.answeredRTSP(try address("10.0.0.5", 554), status: 401)
        #expect(!again)
        #expect(findings.isAnnounced("10.0.0.5"))
        let device = try #require(findings.devices.first)
        #expect(findings.devices.count == 1)
        #expect(device.kind == .onvif)
        #expect(device.source == "onvif://10.0.0.5:8000")
        #expect(device.address == "10.0.0.5" && device.port == 8000)
        #expect(device.rtspPorts == [554, 8554])
        #expect(device.name == "Door" && device.hardware == "H")
        #expect(device.networks == ["eth0"])
        #expect(device.endpoint == endpoint)
        #expect(device.needsLogin == nil)
    }

    @Test func `what a device says of itself is added, and its own scopes count more`() throws {
        var findings = SearchFindings()
        _ = findings.heard(
            camera(endpoint, "http://10.0.0.5/onvif/device_service", source: "10.0.0.5"), network: "eth0")
        var facts = DeviceInformation(XMLElement(name: "x"))
        facts.manufacturer = "ACME"
        facts.model = "Other"
        facts.serial = "7"
        findings.answered(try address("10.0.0.5", 80), facts: facts, needsLogin: false)
        let device = try #require(findings.devices.first)
        #expect(device.manufacturer == "ACME" && device.hardware == "H" && device.serial == "7")
        #expect(device.needsLogin == false)
    }

    @Test func `without WS-Discovery a device is what it answers`() throws {
        var findings = SearchFindings()
        _ = findings.answeredRTSP(try address("10.0.0.9", 554), status: 401)
        _ = findings.answeredRTSP(try address("10.0.0.10", 8554), status: nil)
        _ = findings.answeredONVIF(try address("10.0.0.10", 8899))
        let known = findings.answeredONVIF(try address("10.0.0.10", 80))
        #expect(!known)
        findings.answered(try address("10.0.0.10", 8899), facts: nil, needsLogin: true)
        let devices = findings.devices
        #expect(devices.map(\.source) == ["rtsp://10.0.0.9/", "onvif://10.0.0.10:8899"])
        #expect(devices.map(\.needsLogin) == [true, true])
        #expect(devices.map(\.rtspPorts) == [[554], [8554]])
        #expect(devices.last?.xaddrs == ["http://10.0.0.10:8899/onvif/device_service"])
    }

    @Test func `a device cannot hide another one by naming its address`() throws {
        var findings = SearchFindings()
        _ = findings.answeredRTSP(try address("10.0.0.9", 554), status: 200)
        _ = findings.heard(
            DiscoveredTarget(
                endpoint: endpoint, types: ["dn:NetworkVideoTransmitter"],
                addresses: ["http://10.0.0.5/o", "http://10.0.0.9/o"], source: "10.0.0.5"), network: "eth0")
        #expect(findings.devices.map(\.address) == ["10.0.0.5", "10.0.0.9"])
        #expect(findings.devices.map(\.rtspPorts) == [[], [554]])
        #expect(!findings.isAnnounced("10.0.0.9"))
    }

    @Test(arguments: [
        (
            ["https://192.168.1.5/onvif/device_service", "http://10.9.9.9/onvif/device_service"],
            "onvif://192.168.1.5:443"
        ),
        (["https://192.168.1.5:8443/onvif/device_service"], "onvif://192.168.1.5:8443"),
        (["https://192.168.1.5:8443/o", "http://192.168.1.5:81/o", "http://10.9.9.9/o"], "onvif://192.168.1.5:81/o"),
    ])
    func `a device is where it answered, and without TLS only there`(urls: [String], source: String) throws {
        var findings = SearchFindings()
        _ = findings.heard(
            DiscoveredTarget(
                endpoint: endpoint, types: ["dn:NetworkVideoTransmitter"], addresses: urls, source: "192.168.1.5"),
            network: "eth0")
        let device = try #require(findings.devices.first)
        #expect(device.source == source)
        #expect(device.address == "192.168.1.5")
        #expect(device.xaddrs == urls)
    }

    @Test func `of two addresses that answered the one without TLS counts, but not one within the link`() throws {
        var findings = SearchFindings()
        _ = findings.heard(camera(endpoint, "https://10.0.0.5/o", source: "10.0.0.5"), network: "eth0")
        _ = findings.heard(camera(endpoint, "http://[fe80::9%25eth0]/o", source: "fe80::9%eth0"), network: "eth0")
        #expect(findings.devices.map(\.source) == ["onvif://10.0.0.5:443/o"])
        _ = findings.heard(camera(endpoint, "http://10.0.1.5/o", source: "10.0.1.5"), network: "eth1")
        #expect(findings.devices.map(\.source) == ["onvif://10.0.1.5/o"])
    }

    @Test func `to be sorted, each address is parsed once`() throws {
        var findings = SearchFindings()
        for number in 0..<500 as Range<UInt32> {
            _ = findings.answeredRTSP(SocketAddress(.ipv4(0x0A00_0000 + number), port: 554), status: 200)
        }
        let devices = findings.devices
        var keys = 0
        let sorted = SearchFindings.sorted(devices.reversed()) { device in
            keys += 1
            return SearchFindings.sortKey(device)
        }
        #expect(sorted == devices)
        #expect(keys == 500)
    }

    @Test func `devices are in the order of their addresses`() throws {
        var findings = SearchFindings()
        for host in ["10.0.0.100", "9.9.9.9", "10.0.0.20", "fe80::1", "10.0.0.3"] {
            _ = findings.answeredRTSP(try address(host, 554), status: 200)
        }
        #expect(findings.devices.map(\.address) == ["9.9.9.9", "10.0.0.3", "10.0.0.20", "10.0.0.100", "fe80::1"])
        #expect(findings.devices.last?.source == "rtsp://[fe80::1]/")
    }

    @Test func `a scan of anything keeps no more than 4096`() {
        var findings = SearchFindings()
        for number in 0..<5000 as Range<UInt32> {
            _ = findings.answeredRTSP(SocketAddress(.ipv4(0x0A00_0000 + number), port: 554), status: 200)
            _ = findings.answeredONVIF(SocketAddress(.ipv4(0x0B00_0000 + number), port: 80))
        }
        #expect(findings.devices.count == 4096)
    }
}
