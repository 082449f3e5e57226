import Testing

@testable import Relay

@Suite struct TransitTests {
    @Test func `the pace is what left a connection that always held something`() {
        var transit = Transit()
        transit.observe(written: 50_000, held: 50_000, at: 0)
        #expect(transit.delay(of: 1000) == nil, "nothing is known yet")
        transit.observe(written: 70_000, held: 39_000, at: .milliseconds(499))
        #expect(transit.rate == nil)
        transit.observe(written: 70_000, held: 39_000, at: .milliseconds(500))
        #expect(transit.rate == 62_000)
        #expect(transit.delay(of: 23_000) == .seconds(1))
        transit.wrote(31_000)
        #expect(transit.delay(of: 54_000) == .seconds(2))
    }

    @Test func `one that has nothing to take shows nothing, and nothing stands in its way`() {
        var transit = Transit()
        transit.observe(written: 50_000, held: 50_000, at: 0)
        transit.observe(written: 50_000, held: 100, at: .seconds(1))
        #expect(transit.rate == nil && transit.delay(of: 1 << 20) == nil)
        transit.observe(written: 90_000, held: 40_000, at: .seconds(9))
        transit.observe(written: 90_000, held: 30_000, at: .seconds(10))
        #expect(transit.rate == 10_000)
        transit.observe(written: 90_000, held: 4096, at: .seconds(11))
        #expect(transit.delay(of: 1 << 20) == nil)
    }

    @Test func `who takes nothing at all is never reached`() {
        var transit = Transit()
        transit.observe(written: 50_000, held: 50_000, at: 0)
        transit.observe(written: 50_000, held: 50_000, at: .seconds(1))
        #expect(transit.delay(of: 1) == .max)
    }
}
