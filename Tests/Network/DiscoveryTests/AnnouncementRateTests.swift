import Testing

@testable import Discovery

struct AnnouncementRateTests {
    private let second: UInt64 = 1_000_000_000

    /// The macro does not take what changes something.
    private func expect(_ holds: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(holds, sourceLocation: sourceLocation)
    }

    @Test func `one sender gets ten a second and a burst, and leaves room for others`() {
        var rate = AnnouncementRate(at: 0)
        expect((0..<1000).filter { _ in rate.allows("10.0.0.5", at: 0) }.count == 20)
        expect(rate.allows("10.0.0.6", at: 0))
        expect((0..<1000).filter { _ in rate.allows("10.0.0.5", at: second) }.count == 10)
        expect(!rate.allows("10.0.0.5", at: second))
    }

    @Test func `all senders together get twenty a second, however many they are`() {
        var rate = AnnouncementRate(at: 0)
        var passed = 0
        for number in 0..<10_000 where rate.allows("10.0.\(number / 250).\(number % 250)", at: 0) { passed += 1 }
        #expect(passed == 40)
        for number in 0..<10_000 where rate.allows("10.1.\(number / 250).\(number % 250)", at: 2 * second) {
            passed += 1
        }
        #expect(passed == 80)
    }

    @Test func `messages that take long to read are fewer`() {
        var rate = AnnouncementRate(at: 0)
        func passed(_ sources: [String], at now: UInt64, each nanoseconds: UInt64) -> Int {
            (0..<100).filter { number in
                let source = sources[number % sources.count]
                guard rate.allows(source, at: now) else { return false }
                rate.spent(nanoseconds, by: source)
                return true
            }.count
        }
        // One sender may use half of the time.
        #expect(passed(["10.0.0.5"], at: 0, each: 25_000_000) == 4)
        #expect(passed(["10.0.0.6", "10.0.0.7"], at: 0, each: 25_000_000) == 4)
        #expect(passed(["10.0.0.8"], at: 0, each: 0) == 0)
        // What was overdrawn is missing later: nothing is left after one second, a little after the next.
        var slow = AnnouncementRate(at: 0)
        expect(slow.allows("10.0.0.5", at: 0))
        slow.spent(300_000_000, by: "10.0.0.5")
        expect(!slow.allows("10.0.0.6", at: second))
        expect(slow.allows("10.0.0.6", at: second + second / 10))
        expect(!slow.allows("10.0.0.5", at: second * 2))
    }

    @Test func `a clock that stands or steps back breaks nothing`() {
        var rate = AnnouncementRate(at: 5 * second)
        expect(rate.allows("10.0.0.5", at: 4 * second))
        expect(rate.allows("10.0.0.5", at: .max))
        expect(rate.allows("10.0.0.5", at: 0))
    }

    @Test func `the repeats of a message are known, for a while`() {
        var recent = RecentMessages()
        expect(recent.isNew(messageID: "uuid:1", source: "10.0.0.5"))
        expect(!recent.isNew(messageID: "uuid:1", source: "10.0.0.5"))
        expect(recent.isNew(messageID: "uuid:1", source: "10.0.0.6"))
        expect(recent.isNew(messageID: "", source: "10.0.0.5"))
        expect(recent.isNew(messageID: "", source: "10.0.0.5"))
        for number in 0..<300 { _ = recent.isNew(messageID: "uuid:x\(number)", source: "10.0.0.5") }
        expect(recent.isNew(messageID: "uuid:1", source: "10.0.0.5"))
    }
}
