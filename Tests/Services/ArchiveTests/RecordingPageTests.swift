import ControlAPI
import TestSupport
import Testing

@testable import Archive

struct RecordingPageTests {
    /// 2026-11-28 00:00 UTC.
    private static let midnight: Int64 = 1_795_824_000_000

    private static func recording(
        _ sequence: UInt64, _ begin: Int64, _ duration: UInt32 = 60_000, isPinned: Bool = false
    ) -> RecordingDirectory.Recording {
        .init(
            name: RecordingName(sequence: sequence, begin: begin, duration: duration, isPinned: isPinned), size: 1000)
    }

    private static func look(_ recordings: [RecordingDirectory.Recording]) -> RecordingLook {
        RecordingLook(found: .init(recordings: recordings), isWriting: false, newest: nil)
    }

    /// A recording a minute.
    private static func minutes(_ sequences: ClosedRange<UInt64>) -> [RecordingDirectory.Recording] {
        sequences.map { recording($0, midnight + Int64($0) * 60_000) }
    }

    @Test func `pages are bounded, and the last one says so`() {
        let look = Self.look(Self.minutes(1...250))
        let first = RecordingPage(look, between: .all, after: nil, limit: 100)
        #expect(first.listing.recordings.map(\.name.sequence) == Array(1...100))
        #expect(first.next?.sequence == 100 && first.previous == nil)
        let second = RecordingPage(look, between: .all, after: first.next, limit: 100)
        #expect(second.listing.recordings.map(\.name.sequence) == Array(101...200))
        #expect(second.next?.sequence == 200 && second.previous?.name.sequence == 100)
        for limit in [50, 51] {
            let last = RecordingPage(look, between: .all, after: second.next, limit: limit)
            #expect(last.listing.recordings.map(\.name.sequence) == Array(201...250))
            #expect(last.next == nil)
        }
        let none = RecordingPage(look, between: .all, after: look.found.recordings.last?.name, limit: 1)
        #expect(none.listing.recordings.isEmpty && none.next == nil && none.previous == nil)
        #expect(RecordingPage(Self.look([]), between: .all, after: nil, limit: 1).listing.recordings.isEmpty)
    }

    /// While somebody goes from page to page, some are recorded, the oldest go, and some are pinned or let go: those that are there all
    /// the time come once, whatever else comes.
    @Test(arguments: 0..<40)
    func `going through all of them finds each once, whatever happens meanwhile`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var all = Self.minutes(1...UInt64.random(in: 1...120, using: &generator))
        // The clock was set back in the middle, and one was copied under another time.
        for index in all.indices where index > all.count / 2 {
            all[index].name = RecordingName(
                sequence: all[index].name.sequence, begin: all[index].name.begin - 7_200_000, duration: 60_000)
        }
        if all.count > 9 { all.insert(Self.recording(all[4].name.sequence, Self.midnight + 1), at: 4) }
        func key(_ name: RecordingName) -> String { "\(name.sequence) \(name.begin)" }
        var lasting = Set(all.map { key($0.name) })
        var seen: [String] = []
        var after: RecordingName?
        let limit = Int.random(in: 1...9, using: &generator)
        var pages = 0
        repeat {
            let page = RecordingPage(Self.look(all), between: .all, after: after, limit: limit)
            #expect(page.listing.recordings.count <= limit)
            seen += page.listing.recordings.map { key($0.name) }
            after = page.next
            pages += 1
            if Bool.random(using: &generator), let last = all.last?.name {
                all.append(Self.recording(last.sequence + 1, last.end))
            }
            for _ in 0..<Int.random(in: 0...2, using: &generator) where !all.isEmpty {
                lasting.remove(key(all.removeFirst().name))
            }
            for index in all.indices where Int.random(in: 0..<4, using: &generator) == 0 {
                all[index].name.isPinned.toggle()
            }
        } while after != nil && pages < 1000
        #expect(after == nil)
        #expect(Set(seen).count == seen.count, "none comes twice")
        #expect(lasting.isSubset(of: seen))
    }

    @Test func `of a time there are the recordings that have something of it, and what was before them`() {
        let look = Self.look(Self.minutes(1...10))
        let begin = Self.midnight + 3 * 60_000
        let page = RecordingPage(
            look, between: RecordingRange(from: begin + 1, to: begin + 120_000), after: nil, limit: 10)
        #expect(page.listing.recordings.map(\.name.sequence) == [3, 4])
        #expect(page.previous?.name.sequence == 2 && page.next == nil)
    }

    @Test func `a document of a page has the gap in front of it`() {
        let begin = Self.midnight
        let look = Self.look([
            Self.recording(1, begin), Self.recording(2, begin + 60_020), Self.recording(3, begin + 600_000),
            Self.recording(4, begin - 3_600_000), Self.recording(5, begin - 3_540_000, isPinned: true),
        ])
        func page(_ after: RecordingName?, _ limit: Int) -> RecordingsDocument.Camera {
            .init("front", RecordingPage(look, between: .all, after: after, limit: limit))
        }
        let first = page(nil, 1)
        #expect(first.gaps == [] && first.clockSteps == [] && first.spans.count == 1)
        #expect(first.next == "00000001-20261128T000000000Z-60000.tdf")
        let names = look.found.recordings.map(\.name)
        // It goes on.
        #expect(page(names[0], 1).gaps == [])
        #expect(
            page(names[1], 1).gaps == [
                .init(from: "2026-11-28T00:02:00.020Z", to: "2026-11-28T00:10:00.000Z", seconds: 479.98)
            ])
        let last = page(names[2], 10)
        #expect(last.gaps == [])
        #expect(last.clockSteps == [.init(from: "2026-11-28T00:11:00.000Z", to: "2026-11-27T23:00:00.000Z")])
        #expect(last.spans.count == 1 && last.files == 2 && last.pinned == 1)
        #expect(last.bytes == 2000 && last.seconds == 120)
        #expect(last.recordings?.map(\.file) == names[3...].map(\.fileName) && last.next == nil)
        // Page by page there is what there is at once.
        let whole = page(nil, 400)
        let parts = [nil, names[0], names[1], names[2], names[3]].map { page($0, 1) }
        #expect(parts.flatMap(\.gaps) == whole.gaps && parts.flatMap(\.clockSteps) == whole.clockSteps)
        #expect(parts.flatMap { $0.recordings ?? [] } == whole.recordings)
    }

    @Test func `the longest answer has room where answers are read`() throws {
        let step = Int64(20 * 365) * 86_400_000 + 123
        let recordings = (0...Int64(RecordingsQuery.limits.upperBound + 1)).map { index in
            RecordingDirectory.Recording(
                name: RecordingName(
                    sequence: 999_999_990_000 + UInt64(index), begin: index * step, duration: .max - UInt32(index),
                    isPinned: true), size: .max - index)
        }
        // No name is longer: each part has as many digits as are read.
        #expect(recordings.allSatisfy { RecordingName($0.name.fileName) == $0.name })
        #expect(recordings.map(\.name.fileName.utf8.count) == Array(repeating: 54, count: recordings.count))
        var look = Self.look(recordings)
        look.isWriting = true
        look.found.growing = [999_999_999_999]
        let first = recordings[1].name.begin
        look.liveGaps = (0..<Int64(RecordingDirectory.maxLiveGaps)).map { index in
            let from = first + index * 10_000
            return LiveGap(from: from, to: index == Int64(RecordingDirectory.maxLiveGaps) - 1 ? nil : from + 5000)
        }
        let page = RecordingPage(
            look, between: .all, after: recordings[0].name, limit: RecordingsQuery.limits.upperBound)
        let document = RecordingsDocument.Camera(String(repeating: "c", count: 24), page)
        #expect(document.recordings?.count == 400 && document.spans.count == 400 && document.gaps.count == 400)
        #expect(document.notLive.count == 1399)
        #expect(document.next != nil)
        let count = JSONDocument.bytes(document).count
        #expect(count <= RecordingsQuery.maximumAnswerBytes - (4 << 10), "\(count)")
        #expect(count > RecordingsQuery.maximumAnswerBytes / 2, "\(count)")
    }
}
