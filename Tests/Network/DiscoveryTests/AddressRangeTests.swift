import Testing

@testable import Discovery

struct AddressRangeTests {
    @Test(arguments: [
        ("192.168.1.0/24", 254, "192.168.1.1", "192.168.1.254"),
        ("192.168.1.77/24", 254, "192.168.1.1", "192.168.1.254"),
        ("10.0.0.0/22", 1022, "10.0.0.1", "10.0.3.254"), ("10.0.0.0/20", 4094, "10.0.0.1", "10.0.15.254"),
        ("10.0.0.4/30", 2, "10.0.0.5", "10.0.0.6"),
        ("10.0.0.4/31", 2, "10.0.0.4", "10.0.0.5"),
        ("10.0.0.4/32", 1, "10.0.0.4", "10.0.0.4"),
        ("10.0.0.4", 1, "10.0.0.4", "10.0.0.4"),
        ("223.255.255.255", 1, "223.255.255.255", "223.255.255.255"),
    ])
    func `a network is its devices' addresses`(text: String, count: Int, first: String, last: String) throws {
        let range = try AddressRange(text)
        #expect(range.count == count)
        #expect(range.addresses.count == count)
        #expect(range.addresses.first == first)
        #expect(range.addresses.last == last)
        #expect(range.description == text)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/24", "10.0.0.256", "10.0.0.0.0/24",
        "10.0.0.0/24/24",
        "010.0.0.1", "10.0.0.0/024", "ten", "10.0.0.1 ", "0.0.0.1", "224.0.0.1", "239.255.255.250/32",
        "255.255.255.255", "fe80::/64",
        "1.2.3.4\u{1B}[2J", "١.2.3.4",
    ])
    func `what is not a network is refused with a reason`(text: String) throws {
        let error = #expect(throws: DiscoveryError.self) { try AddressRange(text) }
        guard case .invalidRange(let shown, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
        #expect(!shown.contains("\u{1B}"))
    }

    @Test func `a large network needs a yes, and a huge one gets none`() throws {
        #expect(throws: DiscoveryError.rangeNeedsConsent(text: "10.0.0.0/19", addresses: 8190, limit: 4096)) {
            try AddressRange("10.0.0.0/19")
        }
        #expect(try AddressRange("10.0.0.0/16", allowsLarge: true).count == 65_534)
        for text in ["10.0.0.0/15", "10.0.0.0/8", "1.2.3.4/0"] {
            let error = #expect(throws: DiscoveryError.self) { try AddressRange(text, allowsLarge: true) }
            guard case .rangeTooLarge = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
    }
}
