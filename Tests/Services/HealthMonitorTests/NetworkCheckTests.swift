import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct NetworkCheckTests {
    private func states(_ outcome: NetworkChecks.Outcome) -> [HealthState] { outcome.findings.map(\.state) }

    private func reading(
        carrier: Bool = true, addresses: [String] = ["192.168.1.5"],
        gateway: NetworkReading.Neighbour? = .known, defaultInterface: String? = "eth0"
    ) -> NetworkReading {
        NetworkReading(
            interfaces: [.init(name: "eth0", hasCarrier: carrier, addresses: addresses)],
            gateway: gateway.map { .init(address: "192.168.1.1", interface: "eth0", neighbour: $0) },
            defaultInterface: defaultInterface)
    }

    @Test func `the lowest layer that fails is named, those above are not known`() {
        #expect(states(NetworkChecks.local(reading())) == [.ok, .ok, .ok])
        let cable = NetworkChecks.local(reading(carrier: false))
        #expect(states(cable) == [.fail, .unknown, .unknown])
        #expect(cable.findings[0].code == .noCarrier)
        #expect(cable.link == nil)
        let address = NetworkChecks.local(reading(addresses: []))
        #expect(states(address) == [.ok, .fail, .unknown])
        #expect(address.findings[1].code == .noAddress)
        #expect(address.link?.interface == "eth0")
        let gateway = NetworkChecks.local(reading(gateway: .silent))
        #expect(states(gateway) == [.ok, .ok, .fail])
        #expect(gateway.link?.interface == "eth0")
    }

    @Test func `a gateway that was not asked is unknown and not a reason for a step`() {
        let outcome = NetworkChecks.local(reading(gateway: .unasked))
        #expect(states(outcome) == [.ok, .ok, .unknown])
        #expect(outcome.link == nil)
        #expect(states(NetworkChecks.local(reading(gateway: nil))) == [.ok, .ok, .unknown])
        #expect(states(NetworkChecks.local(reading(gateway: nil, defaultInterface: nil))) == [.ok, .ok, .warn])
        #expect(states(NetworkChecks.local(NetworkReading())) == [.unknown, .unknown, .unknown])
    }

    @Test func `a second interface without a cable does no harm`() {
        var two = reading()
        two.interfaces.insert(.init(name: "eth1", hasCarrier: false), at: 0)
        #expect(states(NetworkChecks.local(two)) == [.ok, .ok, .ok])
    }

    @Test func `a relay that is away is reported as relay, a dead name server as names`() {
        let relay = HealthServiceSettings.Peer(name: "main", host: "live.example.net", port: 1935, tls: false)
        func reported(_ reading: PeerReading, _ check: CheckName = .relay) -> [String] {
            NetworkChecks.peer(relay, reading, as: check).map {
                "\($0.check.rawValue) \($0.state.rawValue) \($0.code?.description ?? "-")"
            }
        }
        #expect(reported(.refused("no answer")) == ["relay fail WB-5001", "network-dns ok -"])
        #expect(reported(.refused("no answer"), .kas) == ["kas fail WB-4301", "network-dns ok -"])
        #expect(reported(.noNameServer("try again")) == ["relay unknown -", "network-dns fail WB-5104"])
        #expect(reported(.noSuchName) == ["relay fail WB-5001", "network-dns ok -"])
        #expect(reported(.connected(address: "192.0.2.1", milliseconds: 3)) == ["relay ok -", "network-dns ok -"])
        #expect(reported(.vouched("front")) == ["relay ok -", "network-dns ok -"])
        let byAddress = HealthServiceSettings.Peer(name: "main", host: "192.0.2.1", port: 1935, tls: false)
        #expect(NetworkChecks.peer(byAddress, .refused("x"), as: .relay).map(\.check) == [.relay])
    }
}
