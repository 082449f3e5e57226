import Testing

@testable import ONVIF

@Suite struct DeviceIdentityTests {
    private static let endpoint = "urn:uuid:5f5a69c2-e0ae-504f-829b-44a642112233"

    @Test func `an endpoint, a serial number or a MAC address makes two likely one`() {
        let known = DeviceIdentity(endpoint: Self.endpoint, serial: "SN42", mac: "44:a6:42:11:22:33")
        #expect(known.trait(sharedWith: DeviceIdentity(endpoint: Self.endpoint.uppercased())) == .endpoint)
        #expect(known.trait(sharedWith: DeviceIdentity(serial: "SN42")) == .serial)
        #expect(known.trait(sharedWith: DeviceIdentity(mac: "44A642112233")) == .mac)
        #expect(known.trait(sharedWith: DeviceIdentity()) == nil)
        #expect(DeviceIdentity().trait(sharedWith: DeviceIdentity()) == nil)
    }

    @Test(arguments: ["SN\u{202E}42", "SN\u{200F}42", "SN\u{9B}42", "SN\u{1B}42"])
    func `what steers a terminal or changes a text's direction identifies nothing`(text: String) {
        #expect(DeviceIdentity(endpoint: "urn:uuid:\(text)", serial: text).isEmpty)
    }

    @Test func `what contradicts it is asked, too`() {
        let known = DeviceIdentity(endpoint: Self.endpoint, serial: "SN42", mac: "44:a6:42:11:22:33")
        // A factory reset changes an endpoint; one serial number is many cameras'; one camera has several interfaces.
        #expect(
            known.trait(sharedWith: DeviceIdentity(endpoint: "urn:uuid:other", serial: "SN42", mac: known.mac))
                == .serial)
        #expect(known.trait(sharedWith: DeviceIdentity(serial: "SN42", mac: "44:a6:42:99:99:99")) == nil)
        #expect(known.trait(sharedWith: DeviceIdentity(serial: "SN43", mac: known.mac)) == nil)
        #expect(
            known.trait(sharedWith: DeviceIdentity(endpoint: Self.endpoint, serial: "SN43", mac: known.mac))
                == .endpoint)
        let copied = DeviceIdentity(endpoint: Self.endpoint, serial: "SN43", mac: "44:a6:42:99:99:99")
        #expect(known.trait(sharedWith: copied) == nil)
    }

    @Test func `a MAC address at the end of an endpoint counts, for either side`() {
        let reported = DeviceIdentity(endpoint: Self.endpoint)
        #expect(DeviceIdentity(mac: "44:a6:42:11:22:33").trait(sharedWith: reported) == .mac)
        #expect(reported.trait(sharedWith: DeviceIdentity(mac: "44-A6-42-11-22-33")) == .mac)
        // After a reset the first half of it is another one.
        let reset = DeviceIdentity(endpoint: "urn:uuid:00000000-0000-1000-8000-44a642112233")
        #expect(reported.trait(sharedWith: reset) == .mac)
    }

    @Test(arguments: [
        "urn:uuid:5f5a69c2-e0ae-504f-829b-000000000000", "urn:uuid:5f5a69c2-e0ae-504f-829b-ffffffffffff",
        "urn:uuid:5f5a69c2-e0ae-504f-829b-45a642112233", "urn:uuid:short-44a642112233", "http://44a642112233", "",
    ])
    func `what is not a device's own address is rejected`(endpoint: String) {
        #expect(DeviceIdentity.mac(inEndpoint: endpoint) == nil)
    }
}
