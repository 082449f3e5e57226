import Dispatch
import Foundation
import Media
import Synchronization
import Testing

@testable import CameraPipeline

@Suite(.timeLimit(.minutes(15))) struct FrameChannelTests {
    @Test func `the loop is woken once, when it had run dry`() {
        let channel = FrameChannel(FrameQueue())
        _ = channel.open()
        #expect(channel.next() == nil)
        #expect(channel.offer(video(0, key: true)) == .init(requestKeyFrame: false, wake: true))
        #expect(channel.offer(video(40)) == .init(requestKeyFrame: false, wake: false))
        #expect(channel.next() != nil)
        #expect(channel.offer(video(80)).wake == false)
        while channel.next() != nil {}
        #expect(channel.offer(video(120)).wake)
    }

    @Test func `audio goes with the next frame while frames flow, and by itself when they do not`() {
        let channel = FrameChannel(FrameQueue())
        _ = channel.open()
        func idle() { while channel.next() != nil {} }
        idle()
        #expect(channel.offer(audio(0)).wake)
        idle()
        #expect(channel.offer(video(0, key: true)).wake)
        idle()
        #expect(!channel.offer(audio(21)).wake)
        #expect(!channel.offer(audio(42)).wake)
        #expect(channel.offer(video(40)).wake)
        var taken = 0
        while channel.next() != nil { taken += 1 }
        #expect(taken == 3)
        // The frame stands still.
        #expect(!channel.offer(audio(139)).wake)
        #expect(channel.offer(audio(140)).wake)
        idle()
        // A clock of its own.
        #expect(channel.offer(audio(-1000)).wake)
    }

    @Test func `nothing is woken while no relay listens`() {
        let channel = FrameChannel(FrameQueue())
        #expect(!channel.offer(video(0, key: true)).wake)
        _ = channel.open()
        #expect(channel.next() == nil)
        channel.close()
        #expect(!channel.offer(video(40)).wake)
    }

    @Test func `a source that outruns the relay waits, and loses nothing`() {
        let channel = FrameChannel(FrameQueue(limits: .init(units: 8), discipline: .backPressured))
        _ = channel.open()
        let most = Mutex(0)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            for number in 0..<1000 { _ = channel.offer(video(Int64(number), key: number == 0)) }
            channel.sourceEnded()
            done.signal()
        }
        var taken: [MediaEvent] = []
        while taken.count < 1000 {
            most.withLock { $0 = max($0, channel.snapshot.units) }
            if let event = channel.next() { taken.append(event) }
        }
        done.wait()
        #expect(taken == (0..<1000).map { video(Int64($0), key: $0 == 0) })
        #expect(most.withLock { $0 } <= 8)
        #expect(channel.isDrained)
    }

    @Test func `a waiting source is let go when the camera stops`() {
        let channel = FrameChannel(FrameQueue(limits: .init(units: 2), discipline: .backPressured))
        let done = DispatchSemaphore(value: 0)
        // A thread of its own: one of the pool would wait for this test's to be free.
        Thread.detachNewThread {
            for number in 0..<100 { _ = channel.offer(video(Int64(number), key: number == 0)) }
            done.signal()
        }
        while channel.snapshot.units < 2 { sched_yield() }
        channel.abandon()
        done.wait()
        #expect(channel.snapshot.counters.videoOffered == 2)
        #expect(channel.next() == nil)
    }

    @Test func `it is drained when the source has ended and everything has left`() {
        let channel = FrameChannel(FrameQueue())
        _ = channel.open()
        _ = channel.offer(.videoFormat(videoFormat))
        _ = channel.offer(video(0, key: true))
        #expect(!channel.isDrained)
        channel.sourceEnded()
        #expect(!channel.isDrained)
        while channel.next() != nil {}
        #expect(channel.isDrained)
    }

    @Test func `what a live source delivered while no relay listened keeps no one waiting`() {
        let channel = FrameChannel(FrameQueue())
        _ = channel.offer(video(0, key: true))
        channel.sourceEnded()
        #expect(channel.isDrained)
    }
}
