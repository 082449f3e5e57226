import CameraModel
import Testing

@testable import RTSPIngest

@Suite struct RecentPlacesTests {
    private let second: UInt64 = 1_000_000_000

    @Test func `what was heard of a place counts for a while, and longer when it is heard again`() {
        var places = RecentPlaces<String>(lifetime: 10 * second)
        places.heard("a", at: "10.0.0.1", now: 0)
        places.heard("b", at: "10.0.0.2", now: 4 * second)
        #expect(places.values(at: 9 * second) == ["a", "b"])
        places.heard("A", at: "10.0.0.1", now: 9 * second)
        #expect(places.values(at: 13 * second) == ["A", "b"])
        #expect(places.values(at: 14 * second) == ["A"])
        #expect(places.values(at: 19 * second).isEmpty)
        places.removeAll()
        #expect(places.values(at: 9 * second).isEmpty)
    }

    @Test func `whoever makes up addresses fills four places, and what is heard again comes back`() {
        var places = RecentPlaces<Int>(lifetime: 1000 * second)
        places.heard(-1, at: "192.168.1.77", now: 0)
        for number in 0..<1000 { places.heard(number, at: "10.0.0.\(number)", now: UInt64(number)) }
        #expect(places.values(at: second) == [996, 997, 998, 999])
        places.heard(-1, at: "192.168.1.77", now: second)
        #expect(places.values(at: second) == [997, 998, 999, -1])
    }

    @Test func `a move is reported with what is the same, and with the command that accepts just that`() {
        typealias Move = NetworkStatistics.Move
        #expect(Move.message([], camera: "yard") == nil)
        let one = Move(address: "192.168.1.77", source: "onvif://192.168.1.77", evidence: .serial)
        #expect(
            Move.message([one], camera: "yard")
                == "yard seems to have moved to onvif://192.168.1.77 (the same serial number). If so: "
                + "watchboxctl camera edit yard --accept-move onvif://192.168.1.77")
        let other = Move(address: "192.168.1.66", source: "rtsp://192.168.1.66/a?b", evidence: .mac, lacksKey: true)
        #expect(
            Move.message([one, other], camera: "yard")
                == "yard seems to have moved to onvif://192.168.1.77 (the same serial number) or 192.168.1.66 (the same "
                + "MAC address, but it does not show its key). If you know where: watchboxctl camera edit yard --accept-move ADDRESS"
        )
    }
}
