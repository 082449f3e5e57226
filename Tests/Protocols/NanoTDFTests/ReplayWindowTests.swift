import TestSupport
import Testing

@testable import NanoTDF

@Suite struct ReplayWindowTests {
    @Test func `a late joiner expects nothing before its first item`() {
        var window = ReplayWindow(expectsFirst: false)
        #expect(window.arrived(1000, .video) == .ahead(gaps: 0))
        #expect(window.arrived(1001, .video) == .ahead(gaps: 0))
        #expect(window.arrived(999, .audio) == .late(fillsGap: false))
        #expect(window.arrived(999, .audio) == .repeated)
    }

    @Test func `who followed the stream expects everything from 1 on`() {
        var window = ReplayWindow(expectsFirst: true)
        #expect(window.arrived(3, .video) == .ahead(gaps: 2))
        #expect(window.arrived(1, .audio) == .late(fillsGap: true))
        #expect(window.arrived(2, .audio) == .late(fillsGap: true))
        #expect(window.arrived(3, .video) == .repeated)
    }

    @Test func `the window is 64 wide`() {
        var window = ReplayWindow(expectsFirst: true)
        #expect(window.arrived(100, .video) == .ahead(gaps: 99))
        #expect(window.arrived(36, .audio) == .disordered)
        #expect(window.arrived(37, .audio) == .late(fillsGap: true))
        #expect(window.arrived(37, .audio) == .repeated)
        #expect(window.arrived(0xFF_FFFF, .video) == .ahead(gaps: 0xFF_FFFF - 101))
        #expect(window.arrived(100, .video) == .disordered)
    }

    @Test func `within a medium counters grow, and what is behind stays missing`() {
        var window = ReplayWindow(expectsFirst: true)
        #expect(window.arrived(1, .video) == .ahead(gaps: 0))
        #expect(window.arrived(4, .video) == .ahead(gaps: 2))
        #expect(window.arrived(2, .video) == .disordered)
        #expect(window.arrived(2, .video) == .disordered)
        #expect(window.arrived(3, .audio) == .late(fillsGap: true))
        #expect(window.arrived(2, .audio) == .disordered)
        #expect(window.arrived(5, .audio) == .ahead(gaps: 0))
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `gaps equal what a set counts`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var window = ReplayWindow(expectsFirst: true)
        var seen: Set<UInt32> = []
        var gaps = 0
        var highest: UInt32 = 0
        var newest: [UInt32] = [0, 0]
        for _ in 0..<2000 {
            let medium = Int.random(in: 0...1, using: &generator)
            let counter = UInt32.random(in: (highest > 80 ? highest - 80 : 1)...(highest + 5), using: &generator)
            switch window.arrived(counter, medium == 0 ? .video : .audio) {
            case .ahead(let skipped):
                #expect(counter > highest && seen.insert(counter).inserted)
                gaps += Int(skipped)
                highest = counter
                newest[medium] = counter
            case .late(let fillsGap):
                #expect(fillsGap && counter < highest && highest - counter < 64 && seen.insert(counter).inserted)
                gaps -= 1
                #expect(counter > newest[medium])
                newest[medium] = counter
            case .repeated: #expect(seen.contains(counter))
            case .disordered: #expect(highest - counter >= 64 || (!seen.contains(counter) && counter < newest[medium]))
            }
            #expect(gaps == Int(highest) - seen.count)
        }
    }

    /// A relay that plays again sends the group of pictures that runs once more: that is not another order.
    @Test func `what a relay repeats on a new connection is repeated, not disordered`() {
        var window = ReplayWindow(expectsFirst: false)
        _ = window.arrived(100, .video)
        _ = window.arrived(200, .video)
        let before = window.arrived(101, .video)
        window.resumed()
        let far = window.arrived(101, .video)
        let near = window.arrived(190, .video)
        let new = window.arrived(201, .video)
        let after = window.arrived(191, .video)
        #expect(before == .disordered && far == .repeated && near == .repeated)
        #expect(new == .ahead(gaps: 0) && after == .disordered)
    }
}
