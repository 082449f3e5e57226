import Testing

@testable import BoxConfiguration

struct HostNameTests {
    @Test(arguments: [
        ("Porch", "porch"), ("Front door, left", "front-door-left"), ("  --Yard 2--  ", "yard-2"),
        ("Küche", "kueche"), ("Ku\u{308}che", "kuche"), ("Straße (Süd)", "strasse-sued"), ("Café", "cafe"),
        ("2024", "watchbox-2024"), ("localhost", "watchbox-1a2b"), ("LocalHost", "watchbox-1a2b"),
        ("日本", "watchbox-1a2b"), ("🎥", "watchbox-1a2b"), ("", "watchbox-1a2b"), ("$(reboot)", "reboot"),
        ("a;b|c&d\u{0}e", "a-b-c-d-e"), ("x.y_z", "x-y-z"),
    ])
    func `a host name is made of a name for people`(name: String, hostName: String) {
        #expect(HostName.derived(from: name, suffix: "1a2b") == hostName)
    }

    @Test(arguments: [
        String(repeating: "a", count: 64), String(repeating: "a", count: 62) + " bc", String(repeating: "9", count: 64),
        String(repeating: "ß", count: 40),
    ])
    func `it is never longer than a label, and neither begins nor ends with a hyphen`(name: String) {
        let label = HostName.derived(from: name, suffix: "1a2b")
        #expect((1...63).contains(label.utf8.count))
        #expect(label.first != "-" && label.last != "-")
        #expect(
            label.utf8.allSatisfy {
                ($0 | 0x20 == $0) && ($0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0))
            })
    }
}
