import Media
import Testing

@testable import RTSPIngest

@Suite struct MediaTimelineTests {
    private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(milliseconds: milliseconds) }

    @Test func `time begins with the first frame, and audio before it is left out`() {
        var timeline = MediaTimeline()
        #expect(timeline.audio(at(999)) == nil)
        let first = timeline.video(presentation: at(1000), decode: at(1000))
        #expect(first == .init(presentation: .zero, decode: .zero))
        #expect(timeline.audio(at(999)) == nil)
        #expect(timeline.audio(at(1010)) == at(10))
        #expect(timeline.video(presentation: at(1040), decode: at(1040)).presentation == at(40))
    }

    @Test func `a reconnect goes on with the gap that it was, and never back`() {
        var timeline = MediaTimeline()
        _ = timeline.video(presentation: at(1000), decode: at(1000))
        let after = timeline.video(presentation: at(9000), decode: at(9000))
        #expect(after.decode == at(8000))
        let early = timeline.video(presentation: at(8500), decode: at(8500))
        #expect(early.decode > after.decode)
        #expect(early.presentation >= early.decode)
        #expect(early.decode - after.decode == MediaTime(nanoseconds: 1))
        let audio = timeline.audio(at(9000))
        #expect(timeline.audio(at(8000)).map { $0 > audio! } == true)
    }

    @Test func `frames out of order keep the distance of presentation and decoding`() {
        var timeline = MediaTimeline()
        _ = timeline.video(presentation: at(1080), decode: at(1000))
        let next = timeline.video(presentation: at(1200), decode: at(1040))
        #expect(next == .init(presentation: at(200), decode: at(40)))
    }
}
