import ONVIF
import Testing

struct AddressTests {
    private func repair(_ url: String) throws -> AddressRepair { AddressRepair(reached: try #require(DeviceURL(url))) }

    @Test(arguments: [
        ("http://192.0.2.9:8000/onvif/media", "http://192.0.2.9:8000/onvif/media"),
        ("http://0.0.0.0:8000/onvif/media", "http://192.0.2.9:8000/onvif/media"),
        ("http://127.0.0.1/onvif/media?a=1&b=%20", "http://192.0.2.9/onvif/media?a=1&b=%20"),
        ("http://[::]:81/x", "http://192.0.2.9:81/x"), ("http://169.254.7.1:81/x", "http://192.0.2.9:81/x"),
        ("http://[fe80::1]/x", "http://192.0.2.9/x"), ("http://localhost:81/x", "http://192.0.2.9:81/x"),
        ("http:///x", "http://192.0.2.9/x"), (" http://192.168.1.9:81/x ", "http://192.0.2.9:81/x"),
        ("http://user:secret@192.168.1.9/x", "http://192.0.2.9/x"), ("https://192.168.1.9:443/x", "http://192.0.2.9/x"),
        ("http://camera.example/x?a=1&amp;b=2", "http://192.0.2.9/x?a=1&b=2"),
        ("/onvif/media", "http://192.0.2.9/onvif/media"),
    ])
    func `addresses of services`(_ given: String, _ used: String) throws {
        #expect(try repair("http://192.0.2.9/onvif/device_service").service(given) == used)
    }

    @Test(arguments: [
        // Behind another address at a named port, the given port is the other side's.
        ("http://192.168.1.9:80/x", "http://192.0.2.9:8080/x"), ("http://0.0.0.0:81/x", "http://192.0.2.9:81/x"),
        ("http://192.0.2.9:81/x", "http://192.0.2.9:81/x"),
    ])
    func `a port that was named counts where the host does not`(_ given: String, _ used: String) throws {
        #expect(try repair("http://192.0.2.9:8080/onvif/device_service").service(given) == used)
    }

    @Test func `what began with TLS goes on with it`() throws {
        let repair = try repair("https://[fd00::9]/onvif/device_service")
        #expect(repair.service("http://192.168.1.9:80/x") == "https://[fd00::9]/x")
        #expect(repair.stream("rtsp://192.168.1.9:554/x") == "rtsp://[fd00::9]:554/x")
    }

    @Test(arguments: [
        ("rtsp://10.0.0.5:554/live?a=1&amp;b=2", "rtsp://192.0.2.9:554/live?a=1&b=2"),
        ("rtsp://admin:pw@10.0.0.5/live", "rtsp://192.0.2.9/live"), ("RTSPS://0.0.0.0:322", "rtsps://192.0.2.9:322"),
        ("rtsp://admin:p@ss@10.0.0.5/l@ve", "rtsp://192.0.2.9/l@ve"),
    ])
    func `addresses of streams`(_ given: String, _ used: String) throws {
        #expect(try repair("http://192.0.2.9:8080/onvif/device_service").stream(given) == used)
    }

    @Test(arguments: [
        "", "x", "http:/", "ftp://192.0.2.9/x", "http://192.0.2.9:99999/x", "http://192.0.2.9:0/x", "http://a b/x",
        "http://[zz]/x", "http://[::1/x", "javascript:alert(1)", "//evil.example/x", "http://a\u{0}/x",
        "http://" + String(repeating: "a", count: 3000), "http://192.0.2.9/" + String(repeating: "a", count: 500),
        "rtsp://192.0.2.9/" + String(repeating: "a", count: 500), "/" + String(repeating: "a", count: 500),
    ])
    func `what is not an address is rejected`(_ given: String) throws {
        let repair = try repair("http://192.0.2.9/onvif/device_service")
        #expect(repair.service(given) == nil)
        #expect(repair.stream(given) == nil)
    }

    @Test(arguments: [
        ("rtsp://admin:pw@h:554/a?x=1&y=2", "rtsp://h:554/a?x=1&y=2"),
        (
            "rtsp://h/user=admin_password=s3_cret_channel=1_stream=0.sdp?real_stream",
            "rtsp://h/user=***_password=***_channel=1_stream=0.sdp?real_stream"
        ),
        ("rtsp://h/user=a&password=b/c?pwd=d/e?f&x=1", "rtsp://h/user=***&password=***/c?pwd=***&x=1"),
        (
            "http://h/s.jpg?usr=a&PWD=b&psw=c&pass=d&passwd=e&token=f&username=g&w=1",
            "http://h/s.jpg?usr=***&PWD=***&psw=***&pass=***&passwd=***&token=***&username=***&w=1"
        ),
        ("http://h/s?pass%77ord=secret", "http://h/s?pass%77ord=***"),
        ("http://h/s?password=", "http://h/s?password=***"),
        ("rtsp://admin:p/w@h/a", "rtsp://h/a"), ("password=x", "password=***"),
        ("http://h/\u{1B}[31m", "http://h/ [31m"),
        ("", ""), ("=", "="), ("http://h/a_b=c", "http://h/a_b=c"),
    ])
    func `addresses as they are shown`(_ url: String, _ shown: String) {
        #expect(DeviceURL.shown(url) == shown)
    }

    @Test func `a shown address is bounded`() {
        #expect(DeviceURL.shown("http://h/" + String(repeating: "a", count: 10_000)).count == 512)
    }

    @Test(arguments: [
        ("urn:uuid:12345678-ABCD-ef01-2345-6789abcdef01", "urn:uuid:12345678-abcd-ef01-2345-6789abcdef01"),
        ("uuid:12345678-ABCD-ef01-2345-6789abcdef01", "urn:uuid:12345678-abcd-ef01-2345-6789abcdef01"),
        (" {12345678-ABCD-ef01-2345-6789abcdef01} ", "urn:uuid:12345678-abcd-ef01-2345-6789abcdef01"),
        ("urn:uuid:cam-4711", "urn:uuid:cam-4711"), ("http://192.0.2.9/x", "http://192.0.2.9/x"),
    ])
    func `endpoint references, however they are spelled`(_ text: String, _ expected: String) {
        #expect(DeviceIdentity.normalizedEndpoint(text) == expected)
    }

    @Test(arguments: [
        "", "urn:uuid:", "urn:uuid:00000000-0000-0000-0000-000000000000", "fe80::1", "camera", "urn:uuid:\u{7}",
        String(repeating: "a:", count: 200),
    ])
    func `what does not distinguish devices is not an endpoint`(_ text: String) {
        #expect(DeviceIdentity.normalizedEndpoint(text) == nil)
    }

    @Test func `identities`() {
        let nothing = ["", "0", "0000-0000", "N/A", "none", "192.0.2.9", "fe80::1", "FFFFFFFF", "xxxxxx", "\u{0}"]
        for serial in nothing { #expect(DeviceIdentity(serial: serial).isEmpty, "\(serial)") }
        for mac in ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "02:00", "02:00:5e:00:53:01:02", "zz:00:5e:00:53:01"] {
            #expect(DeviceIdentity(mac: mac).isEmpty, "\(mac)")
        }
        #expect(DeviceIdentity(mac: "02-00-5E-00-53-01").mac == "02:00:5e:00:53:01")
        #expect(DeviceIdentity(serial: " DS-2CD2043 ").serial == "DS-2CD2043")
        let known = DeviceIdentity(serial: "A1", mac: "02:00:5e:00:53:01")
        #expect(known.matches(DeviceIdentity(serial: "A1", mac: "02:00:5e:00:53:02")) == true)
        #expect(known.matches(DeviceIdentity(serial: "A2")) == false)
        #expect(known.matches(DeviceIdentity(mac: "02:00:5e:00:53:01")) == true)
        #expect(known.matches(DeviceIdentity(endpoint: "urn:uuid:x1")) == nil)
    }
}
