import CameraPipeline
import Media
import TestSupport
import Testing

private func drained(_ queue: inout FrameQueue) -> [MediaEvent] {
    var events: [MediaEvent] = []
    while let event = queue.next() { events.append(event) }
    return events
}

private func opened(
    limits: FrameQueue.Limits = .init(), discipline: FrameQueue.Discipline = .live
) -> FrameQueue {
    var queue = FrameQueue(limits: limits, discipline: discipline)
    #expect(queue.open() == .none)
    return queue
}

@Suite struct FrameQueueTests {
    @Test func `events leave in the order in which they came`() {
        var queue = opened()
        let events: [MediaEvent] = [
            .videoFormat(videoFormat), .audioFormat(audioFormat), audio(0), video(0, key: true), audio(21), video(40),
        ]
        for event in events { #expect(queue.offer(event) == .none) }
        #expect(queue.units == 4)
        #expect(queue.bytes == 240)
        #expect(drained(&queue) == events)
        #expect(queue.units == 0)
        #expect(queue.bytes == 0)
        #expect(queue.isEmpty)
    }

    @Test(arguments: [true, false]) func `frames are compared where that is of use`(comparesFrames: Bool) {
        var queue = FrameQueue(comparesFrames: comparesFrames)
        _ = queue.open()
        for time in stride(from: Int64(0), to: 3000, by: 1000) { _ = queue.offer(video(time, key: true)) }
        #expect(queue.counters.videoOffered == 3)
        #expect((queue.counters.unchangedFrames.count == nil) == !comparesFrames)
    }

    @Test func `nothing leaves before a relay listens, and what came before is not stale video`() {
        var queue = FrameQueue()
        #expect(queue.offer(.videoFormat(videoFormat)) == .none)
        #expect(queue.offer(video(0, key: true)) == .none)
        #expect(queue.offer(audio(0)) == .none)
        #expect(queue.next() == nil)
        #expect(queue.open() == .requestKeyFrame)
        #expect(drained(&queue) == [.videoFormat(videoFormat)])
        #expect(queue.counters.videoFlushed == 1)
        #expect(queue.counters.audioFlushed == 1)
    }

    @Test func `video begins at a key frame, which is asked for once per two seconds of refused video`() {
        var queue = opened()
        #expect(queue.offer(video(0)) == .requestKeyFrame)
        for time in stride(from: Int64(40), to: 2000, by: 40) { #expect(queue.offer(video(time)) == .none) }
        #expect(queue.offer(video(2000)) == .requestKeyFrame)
        #expect(queue.offer(video(2040, key: true)) == .none)
        #expect(drained(&queue) == [video(2040, key: true)])
        #expect(queue.counters.videoDropped == 51)
        #expect(queue.counters.keyFrameRequests == 2)
    }

    @Test func `two seconds wait and the next frame drops everything to the key frame that follows`() {
        var queue = opened()
        _ = queue.offer(video(0, key: true))
        for time in stride(from: Int64(40), through: 2000, by: 40) { #expect(queue.offer(video(time)) == .none) }
        #expect(queue.waitingDuration == MediaTime(milliseconds: 2000))
        #expect(queue.offer(video(2040)) == .requestKeyFrame)
        #expect(queue.counters.videoDropped == 52)
        #expect(queue.next() == nil)
        #expect(queue.offer(video(2080)) == .none)
        #expect(queue.offer(video(2120, key: true)) == .none)
        #expect(queue.offer(video(2160)) == .none)
        #expect(drained(&queue) == [video(2120, key: true), video(2160)])
        #expect(queue.counters.videoDropped == 53)
        #expect(queue.counters.videoTaken == 2)
        #expect(queue.counters.videoOffered == 55)
    }

    @Test func `a key frame that already waits is resumed at without asking for another`() {
        var queue = opened()
        _ = queue.offer(video(0, key: true))
        for time in stride(from: Int64(100), through: 2000, by: 100) {
            _ = queue.offer(video(time, key: time == 1000))
        }
        #expect(queue.offer(video(2100)) == .none)
        #expect(queue.counters.videoDropped == 10)
        let rest = drained(&queue)
        #expect(rest.first == video(1000, key: true))
        #expect(rest.count == 12)
    }

    @Test func `a frame that was sent does not save the rest of its group`() {
        var queue = opened()
        _ = queue.offer(video(0, key: true))
        #expect(queue.next() == video(0, key: true))
        for time in stride(from: Int64(100), through: 2100, by: 100) { _ = queue.offer(video(time)) }
        #expect(queue.offer(video(2200)) == .requestKeyFrame)
        #expect(queue.next() == nil)
        #expect(queue.offer(video(2300)) == .none)
        #expect(queue.next() == nil)
    }

    @Test func `audio stays when video goes, in its order`() {
        var queue = opened()
        _ = queue.offer(video(0, key: true))
        var audioEvents: [MediaEvent] = []
        for time in stride(from: Int64(0), through: 2100, by: 100) {
            audioEvents.append(audio(time))
            _ = queue.offer(audio(time))
            if time > 0 { _ = queue.offer(video(time)) }
        }
        #expect(drained(&queue) == audioEvents)
        #expect(queue.counters.audioDropped == 0)
    }

    @Test func `video that is too old goes, all of it, and comes back with a key frame`() {
        var queue = opened()
        #expect(queue.dropWaitingVideo() == .none)
        for event in [
            .videoFormat(videoFormat), video(0, key: true), audio(1), video(40), .videoFormat(largerVideoFormat),
            video(80, key: true), .audioFormat(audioFormat), audio(81), video(120),
        ] as [MediaEvent] {
            _ = queue.offer(event)
        }
        #expect(queue.next() == .videoFormat(videoFormat))
        #expect(queue.next() == video(0, key: true))
        #expect(queue.dropWaitingVideo() == .requestKeyFrame)
        #expect(queue.units == 2 && queue.bytes == 40)
        // Until that key frame nothing waits that could be dropped, and nothing more is asked for.
        #expect(queue.dropWaitingVideo() == .none)
        #expect(queue.offer(video(160)) == .none)
        #expect(queue.offer(audio(161)) == .none)
        #expect(queue.offer(video(200, key: true)) == .none)
        #expect(queue.offer(video(240)) == .none)
        #expect(
            drained(&queue) == [
                audio(1), .videoFormat(largerVideoFormat), .audioFormat(audioFormat), audio(81), audio(161),
                video(200, key: true), video(240),
            ])
        #expect(queue.counters.videoDropped == 4 && queue.counters.videoOutdated == 4)
        #expect(queue.counters.keyFrameRequests == 1 && queue.counters.audioDropped == 0)
    }

    @Test func `what goes for want of room is not what was too old`() {
        var queue = opened()
        _ = queue.offer(video(0, key: true))
        #expect(queue.dropWaitingVideo() == .requestKeyFrame)
        queue.close()
        #expect(queue.open() == .requestKeyFrame)
        #expect(queue.offer(video(40)) == .none)
        #expect(queue.counters.videoDropped == 2 && queue.counters.videoOutdated == 1)
    }

    @Test func `a file that waits for the relay gives nothing up for its age`() {
        var queue = opened(discipline: .backPressured)
        _ = queue.offer(video(0, key: true))
        #expect(queue.dropWaitingVideo() == .none)
        #expect(drained(&queue) == [video(0, key: true)])
    }

    @Test func `ten seconds of audio alone are kept`() {
        var queue = opened()
        for time in stride(from: Int64(0), to: 10_000, by: 20) { #expect(queue.offer(audio(time)) == .none) }
        #expect(drained(&queue).count == 500)
    }

    @Test func `at the hard bound video goes first, then the oldest audio`() {
        var queue = opened(limits: .init(bytes: 1000, units: 100))
        #expect(queue.offer(video(0, key: true, size: 500)) == .none)
        #expect(queue.offer(audio(1, size: 400)) == .none)
        #expect(queue.offer(audio(2, size: 400)) == .requestKeyFrame)
        #expect(queue.bytes == 800)
        #expect(queue.offer(audio(3, size: 400)) == .none)
        #expect(queue.bytes == 800)
        #expect(drained(&queue) == [audio(2, size: 400), audio(3, size: 400)])
        #expect(queue.counters.videoDropped == 1)
        #expect(queue.counters.audioDropped == 1)
    }

    @Test func `a single unit above the byte bound passes`() {
        var queue = opened(limits: .init(bytes: 1000))
        #expect(queue.offer(video(0, key: true, size: 5000)) == .none)
        #expect(drained(&queue) == [video(0, key: true, size: 5000)])
    }

    @Test func `formats stay in order with their units, and one that no unit used is superseded`() {
        var queue = opened()
        var third = largerVideoFormat
        third.width = 256
        for event in [
            .videoFormat(videoFormat), video(0, key: true), .videoFormat(largerVideoFormat), .audioFormat(audioFormat),
            audio(10), .videoFormat(third), video(20, key: true),
        ] as [MediaEvent] {
            #expect(queue.offer(event) == .none)
        }
        #expect(
            drained(&queue) == [
                .videoFormat(videoFormat), video(0, key: true), .audioFormat(audioFormat), audio(10),
                .videoFormat(third), video(20, key: true),
            ])
    }

    @Test func `a thousand formats without a unit take one place`() {
        var queue = FrameQueue()
        for width in 0..<1000 {
            var format = videoFormat
            format.width = width
            _ = queue.offer(.videoFormat(format))
        }
        _ = queue.open()
        #expect(drained(&queue).count == 1)
    }

    @Test func `a new relay gets the formats again, and video from the next key frame on`() {
        var queue = opened()
        for event in [.videoFormat(videoFormat), .audioFormat(audioFormat), video(0, key: true)] as [MediaEvent] {
            _ = queue.offer(event)
        }
        #expect(drained(&queue).count == 3)
        _ = queue.offer(video(40))
        _ = queue.offer(audio(42))
        queue.close()
        #expect(queue.units == 0)
        _ = queue.offer(video(80, key: true))
        _ = queue.offer(audio(63))
        #expect(queue.next() == nil)
        #expect(queue.open() == .requestKeyFrame)
        #expect(queue.offer(video(120)) == .none)
        _ = queue.offer(audio(84))
        _ = queue.offer(video(160, key: true))
        #expect(
            drained(&queue) == [
                .videoFormat(videoFormat), .audioFormat(audioFormat), audio(84), video(160, key: true),
            ])
        #expect(queue.counters.videoFlushed == 2)
        #expect(queue.counters.audioFlushed == 2)
        #expect(queue.counters.videoDropped == 1)
    }

    @Test func `a format that changed while no relay listened is the one that the new relay gets`() {
        var queue = opened()
        _ = queue.offer(.videoFormat(videoFormat))
        _ = queue.offer(video(0, key: true))
        _ = drained(&queue)
        queue.close()
        _ = queue.offer(.videoFormat(largerVideoFormat))
        _ = queue.open()
        _ = queue.offer(video(40, key: true))
        #expect(drained(&queue) == [.videoFormat(largerVideoFormat), video(40, key: true)])
    }

    @Test func `back-pressure loses nothing and says when it is full`() {
        var queue = opened(limits: .init(bytes: 1000, units: 4), discipline: .backPressured)
        for time in 0..<4 { #expect(queue.offer(video(Int64(time) * 5000, key: time == 0)) == .none) }
        #expect(queue.isFull)
        #expect(queue.offer(audio(0)) == .none)
        #expect(drained(&queue).count == 5)
        #expect(!queue.isFull)
        #expect(queue.counters.videoDropped == 0)
    }

    @Test func `a back-pressured queue keeps its frames for the next relay, from the key frame on`() {
        var queue = opened(discipline: .backPressured)
        for event in [
            .videoFormat(videoFormat), video(0, key: true), video(40), video(80), audio(81), video(120, key: true),
        ] as [MediaEvent] {
            _ = queue.offer(event)
        }
        _ = queue.next()
        _ = queue.next()
        queue.close()
        #expect(queue.next() == nil)
        #expect(queue.open() == .none)
        #expect(drained(&queue) == [.videoFormat(videoFormat), audio(81), video(120, key: true)])
        #expect(queue.counters.videoDropped == 2)
    }

    @Test func `a back-pressured queue that was empty resumes at a key frame, too`() {
        var queue = opened(discipline: .backPressured)
        _ = queue.offer(video(0, key: true))
        _ = queue.next()
        queue.close()
        #expect(queue.open() == .requestKeyFrame)
        #expect(queue.offer(video(40)) == .none)
        #expect(queue.offer(video(80, key: true)) == .none)
        #expect(drained(&queue) == [video(80, key: true)])
    }

    @Test(arguments: 0..<64)
    func `whatever happens, every unit is counted once and no decoder sees a hole`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var queue = FrameQueue(limits: .init(bytes: 20_000, units: 120))
        var time: Int64 = 0
        var sequence = 0
        // What a decoder at the relay has: the number of the last video frame, nil before a key frame.
        var decoded: Int?
        var numberOf: [MediaTime: (sequence: Int, key: Bool)] = [:]
        for _ in 0..<3000 {
            switch random.next() % 16 {
            case 0...6:
                let key = random.next() % 25 == 0
                time += 40
                sequence += 1
                let unit = videoUnit(time, key: key, size: Int(random.next() % 900))
                numberOf[unit.decodeTime] = (sequence, key)
                _ = queue.offer(.accessUnit(unit))
            case 7...9: _ = queue.offer(audio(time, size: Int(random.next() % 60)))
            case 10...13:
                if case .accessUnit(let unit)? = queue.next(), unit.track.isVideo {
                    let (number, key) = numberOf[unit.decodeTime]!
                    #expect(key || decoded == number - 1, "seed \(seed): frame \(number) after \(decoded ?? -1)")
                    decoded = number
                }
            case 14:
                if random.next() % 12 == 0 { queue.close() }
                if random.next() % 12 == 0 {
                    let audio = queue.counters.audioDropped
                    _ = queue.dropWaitingVideo()
                    #expect(queue.counters.audioDropped == audio && queue.waitingDuration == .zero)
                }
            default:
                if !queue.isOpen { decoded = nil }
                _ = queue.open()
            }
            #expect(queue.bytes <= 20_000 || queue.units == 1)
            #expect(queue.units <= 120)
            #expect(queue.waitingDuration <= queue.limits.duration)
        }
        let counters = queue.counters
        _ = queue.open()
        var video: UInt64 = 0
        var audio: UInt64 = 0
        while let event = queue.next() {
            guard case .accessUnit(let unit) = event else { continue }
            if unit.track.isVideo { video += 1 } else { audio += 1 }
        }
        #expect(
            counters.videoOffered == counters.videoTaken + counters.videoDropped + counters.videoFlushed + video)
        #expect(counters.videoOutdated <= counters.videoDropped && counters.videoOutdated > 0)
        #expect(
            counters.audioOffered == counters.audioTaken + counters.audioDropped + counters.audioFlushed + audio)
    }
}
