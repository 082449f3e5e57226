import Testing

@testable import BoxCommands

/// Which fragments share a segment.
@Suite struct FragmentGroupsTests {
    @Test func `a segment ends in front of a fragment, when it has a MiB`() {
        var groups = FragmentGroups()
        let fragments = [300_000, 700_000, 100_000, 5_000_000, 10, 1 << 20, 1, (1 << 20) - 2, 1, 1]
        let ends = [false, false, false, true, true, false, true, false, false, true]
        #expect(fragments.map { groups.endsSegment(before: $0) } == ends)
    }

    @Test func `a segment has a MiB at least, so their number lasts as long as in any other archive`() {
        var groups = FragmentGroups()
        var size = 0
        var sizes: [Int] = []
        for count in 0..<10_000 {
            let fragment = 1000 + count * 7919 % 300_000
            if groups.endsSegment(before: fragment) {
                sizes.append(size)
                size = 0
            }
            size += fragment
        }
        #expect(sizes.count > 500 && sizes.allSatisfy { (1 << 20..<(1 << 20) + 301_000).contains($0) })
    }
}
