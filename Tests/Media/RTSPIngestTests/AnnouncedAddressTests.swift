import Testing

@testable import RTSPIngest

@Suite struct AnnouncedAddressTests {
    @Test(arguments: [
        "10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.1.7", "169.254.9.9", "fe80::1", "fe80::1%eth0", "fd00::7",
        "203.0.113.9",
    ])
    func `a neighbour's literal address, or the former one, may be asked`(host: String) {
        #expect(AnnouncedAddress.mayBeAsked(host, known: ["camera.example", "203.0.113.9"]))
    }

    @Test(arguments: [
        "", "camera.example", "localhost", "8.8.8.8", "172.32.0.1", "172.15.0.1", "127.0.0.1", "::1", "2001:db8::1",
        "10.1", "0x0a000001", "::ffff:192.168.1.7", "224.0.0.1", "0.0.0.0", "fec0::1", "10.0.0.1 ",
    ])
    func `a name, and an address elsewhere, may not`(host: String) {
        #expect(!AnnouncedAddress.mayBeAsked(host, known: ["camera.example", "203.0.113.9"]))
    }

    @Test func `loopback is asked for a camera of this machine only`() {
        #expect(AnnouncedAddress.mayBeAsked("127.0.0.9", known: ["127.0.0.1"]))
        #expect(AnnouncedAddress.mayBeAsked("::1", known: ["127.0.0.1"]))
        #expect(!AnnouncedAddress.mayBeAsked("127.0.0.9", known: ["192.168.1.7"]))
    }

    @Test func `a refused address is asked again after ten minutes, then after twenty, and at last once a day`() {
        var refused = RefusedAddresses()
        var now: UInt64 = 5_000_000_000
        var pauses: [UInt64] = []
        for _ in 0..<10 {
            refused.refused("FE80::1", at: now)
            var seconds: UInt64 = 0
            while !refused.permits("fe80::1", at: now + seconds * 1_000_000_000) { seconds += 60 }
            pauses.append(seconds / 60)
            now += seconds * 1_000_000_000
        }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440])
        #expect(refused.permits("fe80::2", at: now))
        refused.refused("fe80::1", at: now)
        refused.proven("fe80::1")
        #expect(refused.permits("fe80::1", at: now))
    }

    @Test func `an address where nothing answered is asked again after a minute, as a camera that starts takes it`() {
        var refused = RefusedAddresses()
        let minute: UInt64 = 60_000_000_000
        refused.refused("10.0.0.1", at: 0, isSilent: true)
        #expect(!refused.permits("10.0.0.1", at: minute - 1))
        #expect(refused.permits("10.0.0.1", at: minute))
        refused.refused("10.0.0.1", at: minute, isSilent: true)
        #expect(!refused.permits("10.0.0.1", at: 3 * minute - 1))
        #expect(refused.permits("10.0.0.1", at: 3 * minute))
    }

    @Test func `however many are refused, a bounded number is remembered, the longest ones first`() {
        var refused = RefusedAddresses()
        for _ in 0..<5 { refused.refused("192.168.0.1", at: 0) }
        for number in 0..<1000 { refused.refused("10.0.0.\(number)", at: UInt64(number)) }
        // Behind the hour in which no address is asked again; the first pause is over by then.
        let later: UInt64 = 3_700_000_000_000
        #expect(!refused.permits("192.168.0.1", at: later))
        #expect(refused.permits("10.0.0.1", at: later))
        #expect(refused.permits("10.0.0.999", at: later))
    }

    @Test func `whoever makes up addresses is asked eight times an hour, and no more`() {
        var refused = RefusedAddresses()
        var asked = 0
        for second in 0..<7200 as Range<UInt64> {
            let (address, now) = ("10.0.\(second / 250).\(second % 250)", second * 1_000_000_000)
            guard refused.permits(address, at: now) else { continue }
            asked += 1
            refused.refused(address, at: now)
        }
        #expect(asked == 16)
    }
}
