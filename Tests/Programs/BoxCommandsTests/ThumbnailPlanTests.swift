import Testing

@testable import BoxCommands

/// Which recordings have a picture, and where nothing is recorded between them.
struct ThumbnailPlanTests {
    /// 2026-11-28 00:00 UTC.
    private static let midnight: Int64 = 1_795_824_000_000
    private static let minute: Int64 = 60_000
    private static let utc = LocalClock.fixed(0, "UTC")

    /// Recordings of a minute, one after the other.
    private static func minutes(_ count: Int, from begin: Int64 = midnight) -> [(begin: Int64, end: Int64)] {
        (0..<count).map { (begin + Int64($0) * minute, begin + Int64($0 + 1) * minute) }
    }

    private static func plan(
        _ recordings: [(begin: Int64, end: Int64)], from: Int64 = .min, every: Int64? = nil, clock: LocalClock = utc
    ) throws(ThumbnailPlan.TooMany) -> ThumbnailPlan {
        try ThumbnailPlan(recordings, from: from, every: every, clock: clock)
    }

    @Test func `as many as a page has are all there, in their order`() throws {
        let plan = try Self.plan(Self.minutes(500))
        #expect(plan.every == nil)
        #expect(plan.tiles.map(\.index) == Array(0..<500))
        #expect(plan.tiles.allSatisfy { $0.breaks.isEmpty })
    }

    /// The shortest step that people count in: a day of minutes has 1440.
    @Test(
        arguments: [(501, 120, 251), (1440, 180, 480), (20_160, 3600, 336), (100_000, 21_600, 278)]
            as [(Int, Int64, Int)])
    func `of more, one for each few minutes`(count: Int, every: Int64, pictures: Int) throws {
        let plan = try Self.plan(Self.minutes(count))
        #expect(plan.every == every && plan.tiles.count == pictures, "\(plan.every ?? 0), \(plan.tiles.count)")
        #expect(plan.tiles.map(\.index) == Array(stride(from: 0, to: count, by: Int(every / 60))))
    }

    @Test func `the first of each part of the clock, whatever the recordings' own length is`() throws {
        // A little shorter and a little longer than the part: neither leaves every second one out.
        for length in [59_900, 60_100] as [Int64] {
            let recordings = (0..<100).map {
                (begin: Self.midnight + Int64($0) * length, end: Self.midnight + Int64($0 + 1) * length)
            }
            let plan = try Self.plan(recordings, every: 60)
            #expect((99...100).contains(plan.tiles.count), "\(plan.tiles.count)")
        }
        // Hours of the local clock, which is half an hour ahead.
        let plan = try Self.plan(Self.minutes(180), every: 3600, clock: .fixed(1800, "X"))
        #expect(plan.tiles.map(\.index) == [0, 30, 90, 150])
    }

    @Test func `too many are refused with what would do`() throws {
        #expect(throws: ThumbnailPlan.TooMany(count: 720, enough: 180)) {
            try Self.plan(Self.minutes(1440), every: 120)
        }
        #expect(try Self.plan(Self.minutes(1440), every: 180).tiles.count == 480)
        #expect(throws: ThumbnailPlan.TooMany(count: 501, enough: 120)) { try Self.plan(Self.minutes(501), every: 1) }
    }

    @Test func `what began before the time has a picture where nothing else has`() throws {
        let recordings = Self.minutes(3)
        let within = Self.midnight + Self.minute / 2
        #expect(try Self.plan(recordings, from: within).tiles.map(\.index) == [1, 2])
        #expect(try Self.plan(Array(recordings.prefix(1)), from: within).tiles.map(\.index) == [0])
    }

    @Test func `gaps are told behind the picture before them, also those of recordings without one`() throws {
        let begin = Self.midnight
        let recordings: [(begin: Int64, end: Int64)] = [
            (begin, begin + 60_000), (begin + 62_000, begin + 120_000), (begin + 122_001, begin + 180_000),
            (begin + 600_000, begin + 660_000), (begin - 60_000, begin),
        ]
        typealias Break = ThumbnailPlan.Break
        let first = Break(from: begin + 120_000, to: begin + 122_001)
        let second = Break(from: begin + 180_000, to: begin + 600_000)
        let setBack = Break(from: begin + 660_000, to: begin - 60_000)
        #expect(first.isGap && second.isGap && !setBack.isGap)
        #expect(try Self.plan(recordings).tiles.map(\.breaks) == [[], [], [first], [second], [setBack]])
        #expect(try Self.plan(recordings).trailing == [])
        // Of one that has no picture behind them.
        let trailing = try Self.plan(Array(recordings.prefix(4)), every: 3600)
        #expect(trailing.tiles.map(\.index) == [0] && trailing.trailing == [first, second])
        let plan = try Self.plan(recordings, every: 300)
        #expect(plan.tiles.map(\.index) == [0, 3, 4])
        #expect(plan.tiles.map(\.breaks) == [[], [first, second], [setBack]])
    }

    @Test func `names that say any time have an end as well`() throws {
        let latest: Int64 = 253_402_300_799_999
        let recordings = (0..<2000).map { number in
            let begin = number % 2 == 0 ? 0 : latest - Int64(number) * 86_400_000
            return (begin: begin, end: begin + Int64(UInt32.max))
        }
        let plan = try Self.plan(recordings, clock: .fixed(-50_400, "X"))
        #expect(plan.tiles.count <= 500 && plan.tiles.count > 100, "\(plan.tiles.count)")
        #expect(throws: ThumbnailPlan.TooMany.self) { try Self.plan(recordings, every: 1) }
        let spread = (0..<2000).map { (begin: Int64($0) * 126_000_000_000, end: Int64($0) * 126_000_000_000) }
        #expect(try Self.plan(spread, clock: .fixed(50_400, "X")).tiles.count <= 500)
        #expect(try Self.plan([]).tiles == [])
    }

    @Test(
        arguments: [
            ("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("1d", 86_400), ("1", 1), ("366d", 31_622_400),
            ("007m", 420),
        ] as [(String, Int64)])
    func `an interval is read`(text: String, seconds: Int64) {
        #expect(WrittenDuration(argument: text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "0", "0m", "-5m", "+5m", "5 m", "m", "1.5h", "367d", "99999999d", "999999999", "5w", "5mm", "５m",
    ])
    func `what is no interval is refused`(text: String) {
        #expect(WrittenDuration(argument: text) == nil)
    }

    @Test func `an interval is written as somebody types it`() {
        #expect(
            [1, 90, 120, 5400, 7200, 172_800].map { WrittenDuration(seconds: $0).text } == [
                "1s", "90s", "2m", "90m", "2h", "2d",
            ])
    }
}
