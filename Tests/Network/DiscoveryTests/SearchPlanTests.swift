import Platform
import Testing

@testable import Discovery

struct SearchPlanTests {
    private typealias Interface = NetworkInterfaces.Interface

    private let interfaces = [
        Interface(
            name: "lo", index: 1, ipv4: [.init(address: "127.0.0.1", prefix: 8)], hasMulticast: false, isLoopback: true),
        Interface(
            name: "eth0", index: 2,
            ipv4: [.init(address: "10.0.0.2", prefix: 24), .init(address: "10.1.0.2", prefix: 24)],
            ipv6LinkLocal: "fe80::2%eth0"),
        Interface(name: "eth1", index: 3, ipv4: [.init(address: "10.2.0.2", prefix: 24)], isUp: false),
        Interface(name: "wg0", index: 4, ipv4: [.init(address: "10.3.0.2", prefix: 24)], hasMulticast: false),
        Interface(name: "eth2", index: 5, ipv6LinkLocal: "fe80::5%eth2"),
    ]

    private func places(_ options: SearchOptions) throws -> [String] {
        try SearchPlan(options, interfaces: interfaces).probes.map { "\($0.interface.name) \($0.address ?? "IPv6")" }
    }

    @Test func `every network that is up is asked from each of its addresses`() throws {
        #expect(try places(SearchOptions()) == ["eth0 10.0.0.2", "eth0 10.1.0.2", "eth0 IPv6", "eth2 IPv6"])
    }

    @Test func `a network that is named is asked whatever it is, and no other`() throws {
        var options = SearchOptions()
        options.interfaces = ["lo", "eth2"]
        #expect(try places(options) == ["lo 127.0.0.1", "eth2 IPv6"])
        options.interfaces = ["eth9"]
        #expect(throws: DiscoveryError.unknownInterface(name: "eth9", known: ["lo", "eth0", "eth1", "wg0", "eth2"])) {
            try places(options)
        }
    }

    @Test func `without a network there must be something to scan`() throws {
        var options = SearchOptions()
        #expect(throws: DiscoveryError.noNetwork) { try SearchPlan(options, interfaces: [interfaces[0]]) }
        options.ranges = [try AddressRange("10.0.0.0/24")]
        #expect(try SearchPlan(options, interfaces: []).problems.count == 1)
        options.multicast = false
        #expect(try SearchPlan(options, interfaces: interfaces).probes.isEmpty)
        options.ports = [0, 0]
        #expect(throws: DiscoveryError.nothingToAsk) { try SearchPlan(options, interfaces: interfaces) }
    }

    @Test func `several networks together are bounded like one`() throws {
        var options = SearchOptions()
        options.ranges = [try AddressRange("10.0.0.0/20"), try AddressRange("10.1.0.0/24")]
        #expect(
            throws: DiscoveryError.rangeNeedsConsent(text: "10.0.0.0/20, 10.1.0.0/24", addresses: 4348, limit: 4096)
        ) { try SearchPlan(options, interfaces: interfaces) }
        options.allowsLarge = true
        #expect(try !SearchPlan(options, interfaces: interfaces).probes.isEmpty)
        options.ranges = [try AddressRange("10.0.0.0/16", allowsLarge: true), try AddressRange("10.1.0.0/24")]
        #expect(throws: DiscoveryError.self) { try SearchPlan(options, interfaces: interfaces) }
    }

    @Test func `ports are asked once, and no more than 32`() throws {
        var options = SearchOptions()
        options.ports = [554, 0, 554, 8554] + Array(1000...1100)
        let ports = try SearchPlan(options, interfaces: interfaces).options.ports
        #expect(ports.count == 32)
        #expect(ports.prefix(3) == [554, 8554, 1000])
    }

    @Test func `more addresses than it can use are reported`() throws {
        let many = (1...40).map { number in
            Interface(
                name: "eth\(number)", index: UInt32(number), ipv4: [.init(address: "10.0.\(number).1", prefix: 24)],
                ipv6LinkLocal: "fe80::1")
        }
        let plan = try SearchPlan(SearchOptions(), interfaces: many)
        #expect(plan.probes.count == 64)
        #expect(plan.problems.count == 1)
    }

    @Test func `a scan asks the first port everywhere, then the second`() throws {
        var order = ScanOrder(
            ranges: [try AddressRange("10.0.0.4/31"), try AddressRange("10.0.9.9")], ports: [554, 88])
        #expect(order.total == 6)
        var asked: [String] = []
        while let next = order.next() {
            asked.append("\(next.address.host):\(next.address.port)\(next.isFirst ? "!" : "")")
        }
        #expect(
            asked == ["10.0.0.4:554!", "10.0.0.5:554!", "10.0.9.9:554!", "10.0.0.4:88", "10.0.0.5:88", "10.0.9.9:88"])
        #expect(order.isExhausted)
        #expect(ScanOrder(ranges: [], ports: [554]).isExhausted)
    }

    @Test func `three probes go out twice, 100 to 300 ms apart, and then it listens`() {
        var schedule = ProbeSchedule(begin: 1_000, spacing: 200_000_000, listening: 5_000_000_000)
        var sent: [(UInt64, String)] = []
        var now: UInt64 = 1_000
        while now < schedule.end {
            for types in schedule.due(at: now) { sent.append((now, "\(types)")) }
            now = schedule.next
        }
        #expect(sent.count == 6)
        for variant in ["networkVideoTransmitter", "device", "any"] {
            let times = sent.filter { $0.1 == variant }.map(\.0)
            #expect(times.count == 2)
            #expect(times.count == 2 && times[1] - times[0] == 200_000_000)
        }
        let last = sent.last?.0 ?? 0
        #expect(schedule.end == last + 5_000_000_000)
        let more = schedule.due(at: .max)
        #expect(more.isEmpty)
    }
}
