import Testing

@testable import RTMPTransport

/// How far a peer has what was written, as a dialogue.
struct DeliveryMarkTests {
    @Test func `all of it, or what was there at an earlier look`() {
        var delivery = DeliveryMark()
        #expect(delivery.until == nil)
        delivery.observed(acknowledged: 900, written: 1000, at: 1)
        #expect(delivery.until == nil)
        delivery.observed(acknowledged: 1400, written: 1500, at: 2)
        #expect(delivery.until == 1)
        delivery.observed(acknowledged: 1499, written: 1600, at: 3)
        #expect(delivery.until == 1)
        delivery.observed(acknowledged: 1500, written: 1700, at: 4)
        #expect(delivery.until == 2)
        delivery.observed(acknowledged: 1700, written: 1700, at: 5)
        #expect(delivery.until == 5)
    }

    @Test func `with something on its way at each look it goes on all the same`() {
        var delivery = DeliveryMark()
        for look in 1...1000 as ClosedRange<UInt64> {
            delivery.observed(acknowledged: look * 100 - 50, written: look * 100, at: look)
            #expect(look == 1 ? delivery.until == nil : delivery.until == look - 1)
        }
        // One that takes nothing any more.
        for look in 1001...1100 as ClosedRange<UInt64> {
            delivery.observed(acknowledged: 99_950, written: look * 100, at: look)
        }
        #expect(delivery.until == 999)
    }
}
