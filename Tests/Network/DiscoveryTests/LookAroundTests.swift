import ONVIF
import Testing

@testable import Discovery

@Suite struct LookAroundTests {
    private static let text = """
        IP address       HW type     Flags       HW address            Mask     Device
        192.168.1.77     0x1         0x2         44:A6:42:11:22:33     *        eth0
        192.168.1.78     0x1         0x0         00:00:00:00:00:00     *        eth0
        192.168.1.79     0x1         0x0         44:a6:42:11:22:33     *        eth0
        192.168.1.80     0x1         two         44:a6:42:11:22:33     *        eth0
        192.168.1.1      0x1         0x2         02:00:5e:00:53:01     *        eth0
        junk
        10.0.0.1         0x1         0x2         not-an-address        *        eth0
        """

    @Test func `the kernel's table shows who is where`() {
        #expect(
            Neighbours.parse(Self.text)
                == ["192.168.1.77": "44:a6:42:11:22:33", "192.168.1.1": "02:00:5e:00:53:01"])
        #expect(Neighbours.parse("").isEmpty)
    }

    @Test func `only neighbours are asked, and at most 254 around one`() {
        let interfaces = [
            NetworkInterfaces.Interface(name: "a", index: 1, ipv4: [.init(address: "192.168.1.5", prefix: 24)]),
            NetworkInterfaces.Interface(name: "b", index: 2, ipv4: [.init(address: "10.1.2.3", prefix: 16)]),
            NetworkInterfaces.Interface(name: "c", index: 3, ipv4: [.init(address: "172.16.0.1", prefix: 29)]),
            NetworkInterfaces.Interface(
                name: "down", index: 4, ipv4: [.init(address: "192.168.9.1", prefix: 24)], isUp: false),
        ]
        let near = Neighbours.around("192.168.1.77", interfaces)
        #expect(near.count == 253 && !near.contains(0xC0A8_0105) && near.first == 0xC0A8_0101)
        // Of a large network the part around it.
        let large = Neighbours.around("10.1.7.7", interfaces)
        #expect(large.count == 254 && large.first == 0x0A01_0701 && large.last == 0x0A01_07FE)
        #expect(Neighbours.around("172.16.0.6", interfaces).count == 5)
        for address in ["192.168.9.7", "8.8.8.8", "camera.lan", "fe80::1", ""] {
            #expect(Neighbours.around(address, interfaces).isEmpty, "\(address)")
        }
    }

    @Test func `a device is seen with its hardware address, and a neighbour that reports nothing with that alone`() {
        var device = FoundDevice(kind: .onvif, address: "192.168.1.77", port: 80, source: "onvif://192.168.1.77")
        device.endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000042"
        device.serial = "SN42"
        device.xaddrs = ["http://192.168.1.77/onvif/device_service"]
        let seen = LookAround.sightings([device], Neighbours.parse(Self.text))
        #expect(
            seen == [
                Sighting(
                    address: "192.168.1.77", url: "http://192.168.1.77/onvif/device_service",
                    identity: DeviceIdentity(endpoint: device.endpoint, serial: "SN42", mac: "44:a6:42:11:22:33")),
                Sighting(address: "192.168.1.1", identity: DeviceIdentity(mac: "02:00:5e:00:53:01")),
            ])
    }

    @Test func `who answers in a device's name as well does not hide where it is`() {
        var device = FoundDevice(kind: .onvif, address: "192.168.1.7", port: 80, source: "onvif://192.168.1.7")
        device.endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000042"
        // The forger's message came first, and names the address that the device had.
        device.senders = ["192.168.1.66", "192.168.1.77", "fe80::1%2"]
        device.xaddrs = ["http://192.168.1.7/onvif/device_service", "http://192.168.1.77:8000/onvif/device_service"]
        let seen = LookAround.sightings([device], [:])
        #expect(seen.map(\.address) == ["192.168.1.7", "192.168.1.66", "192.168.1.77"])
        #expect(seen.map(\.url) == [device.xaddrs[0], nil, device.xaddrs[1]])
        #expect(seen.allSatisfy { $0.identity.endpoint == device.endpoint })
    }

    @Test func `hardware that answers at several addresses belongs to none of them`() {
        let one = "44:a6:42:11:22:33"
        let seen = LookAround.sightings(
            [], ["10.0.0.1": one, "10.0.0.2": one, "10.0.0.3": "02:00:5e:00:53:01"])
        #expect(seen == [Sighting(address: "10.0.0.3", identity: DeviceIdentity(mac: "02:00:5e:00:53:01"))])
    }
}
