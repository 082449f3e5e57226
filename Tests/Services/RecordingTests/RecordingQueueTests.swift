import CameraPipeline
import Media
import Testing

@testable import Recording

struct RecordingQueueTests {
    private static func frame(_ number: Int64, size: Int = 1000) -> MediaEvent {
        let time = MediaTime(milliseconds: number * 40)
        return .accessUnit(
            AccessUnit(
                track: .video(.h264), isKeyFrame: number % 25 == 0, presentationTime: time, decodeTime: time,
                data: [UInt8](repeating: 0, count: size)))
    }

    @Test func `what comes goes on in its order`() {
        let queue = RecordingQueue(.init(duration: MediaTime(milliseconds: 60_000), bytes: 1 << 20))
        let events = (0..<100).map { Self.frame($0) }
        for event in events { queue.offer(event) }
        let taken = queue.take()
        #expect(taken.events == events && !taken.hasEnded)
        #expect(queue.take().events == [])
        #expect(queue.dropped == 0)
    }

    @Test func `a disk that stands still costs whole groups of pictures, and neither memory nor time`() {
        let queue = RecordingQueue(.init(duration: MediaTime(milliseconds: 600_000), bytes: 100_000))
        for number in 0..<10_000 { queue.offer(Self.frame(Int64(number))) }
        let units = queue.take().events.units
        #expect(units.reduce(0) { $0 + $1.data.count } <= 100_000)
        #expect(units.first?.isKeyFrame == true)
        #expect(UInt64(units.count) + queue.dropped == 10_000)
        let step = MediaTime(milliseconds: 40)
        #expect(zip(units, units.dropFirst()).allSatisfy { $1.decodeTime - $0.decodeTime == step })
    }

    @Test func `the end comes after all that came before it`() {
        let queue = RecordingQueue(.init(bytes: 1 << 20))
        queue.offer(Self.frame(0))
        queue.end()
        queue.offer(Self.frame(1))
        let taken = queue.take()
        #expect(taken.events.units.count == 1 && taken.hasEnded)
    }
}
