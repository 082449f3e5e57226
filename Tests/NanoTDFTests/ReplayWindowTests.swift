import TestSupport
import Testing

@testable import NanoTDF

@Suite struct ReplayWindowTests {
    @Test func `a late joiner expects nothing before its first item`() {
        var window = ReplayWindow(expectsFirst: false)
        #expect(window.arrived(1000) == .ahead(gaps: 0))
        #expect(window.arrived(1001) == .ahead(gaps: 0))
        #expect(window.arrived(999) == .late(fillsGap: false))
        #expect(window.arrived(999) == .repeated)
    }

    @Test func `who followed the stream expects everything from 1 on`() {
        var window = ReplayWindow(expectsFirst: true)
        #expect(window.arrived(3) == .ahead(gaps: 2))
        #expect(window.arrived(1) == .late(fillsGap: true))
        #expect(window.arrived(2) == .late(fillsGap: true))
        #expect(window.arrived(3) == .repeated)
    }

    @Test func `the window is 64 wide`() {
        var window = ReplayWindow(expectsFirst: true)
        #expect(window.arrived(100) == .ahead(gaps: 99))
        #expect(window.arrived(37) == .late(fillsGap: true))
        #expect(window.arrived(36) == .repeated)
        #expect(window.arrived(37) == .repeated)
        #expect(window.arrived(0xFF_FFFF) == .ahead(gaps: 0xFF_FFFF - 101))
        #expect(window.arrived(100) == .repeated)
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `gaps equal what a set counts`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var window = ReplayWindow(expectsFirst: true)
        var seen: Set<UInt32> = []
        var gaps = 0
        var highest: UInt32 = 0
        for _ in 0..<2000 {
            let counter = UInt32.random(in: (highest > 80 ? highest - 80 : 1)...(highest + 5), using: &generator)
            switch window.arrived(counter) {
            case .ahead(let skipped):
                #expect(counter > highest && seen.insert(counter).inserted)
                gaps += Int(skipped)
                highest = counter
            case .late(let fillsGap):
                #expect(fillsGap && counter < highest && highest - counter < 64 && seen.insert(counter).inserted)
                gaps -= 1
            case .repeated: #expect(seen.contains(counter) || highest - counter >= 64)
            }
            #expect(gaps == Int(highest) - seen.count)
        }
    }
}
