import CV4L2
import Foundation
import Glibc
import ScriptedDevice
import TestSupport
import Testing

@testable import VideoCapture

/// How streams begin and end, and what happens to frames that are out then.
struct StreamLifeTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var request: UInt
        var name: String
        /// Which call of that request fails.
        var call = 1

        var testDescription: String { "\(name) \(call)" }
    }

    private static let refusals = [
        Refusal(request: watchbox_VIDIOC_REQBUFS, name: "VIDIOC_REQBUFS"),
        Refusal(request: watchbox_VIDIOC_QUERYBUF, name: "VIDIOC_QUERYBUF", call: 3),
        Refusal(request: watchbox_VIDIOC_QBUF, name: "VIDIOC_QBUF", call: 4),
        Refusal(request: watchbox_VIDIOC_STREAMON, name: "VIDIOC_STREAMON"),
    ]

    @Test(arguments: refusals)
    func `a stream that does not start leaves nothing behind, and the next attempt works`(refusal: Refusal) throws {
        let stream = try Streaming(isStarted: false) { script in
            script.answers[refusal.request] = { count, _ in count == refusal.call ? EINVAL : nil }
        }
        #expect(throws: CaptureError.stream(call: refusal.name, errno: EINVAL)) { try stream.device.start() }
        #expect(stream.scripted.mapped == 0 && !stream.device.isStreaming && !stream.scripted.isStreaming)
        try stream.device.start()
        stream.scripted.deliver(.init(sequence: 0))
        #expect(try stream.nextSequence() == 0)
        stream.device.close()
        #expect(stream.scripted.mapped == 0 && stream.scripted.openDescriptors == 0)
    }

    @Test(arguments: [
        (ENODEV, CaptureError.disconnected), (EBUSY, .busy(path: "/dev/video0")),
        (ENOSPC, .stream(call: "VIDIOC_STREAMON", errno: ENOSPC)),
    ])
    func `why a stream does not start is told apart`(number: Int32, error: CaptureError) throws {
        let stream = try Streaming(isStarted: false) { script in
            script.answers[watchbox_VIDIOC_STREAMON] = { _, _ in number }
        }
        #expect(throws: error) { try stream.device.start() }
    }

    @Test(arguments: [1, 33, .max] as [UInt32])
    func `fewer than two buffers, and more than can be, are not believed`(count: UInt32) throws {
        let stream = try Streaming(isStarted: false) { $0.grantedBuffers = count }
        #expect(
            throws: CaptureError.badAnswer("VIDIOC_REQBUFS gave \(count) buffers, where 2 to 32 can be used.")
        ) { try stream.device.start() }
        #expect(stream.scripted.mapped == 0)
    }

    @Test func `no buffer at all is not believed either`() throws {
        let stream = try Streaming(isStarted: false) { $0.grantedBuffers = 0 }
        #expect(throws: CaptureError.badAnswer("VIDIOC_REQBUFS gave 0 buffers, where 2 to 32 can be used.")) {
            try stream.device.start()
        }
    }

    @Test(arguments: [0, Streaming.bytes - 1, 128 << 20 + 1])
    func `buffers into which no frame fits, and endless ones, are not mapped`(bytes: Int) throws {
        let stream = try Streaming(isStarted: false) { $0.bufferBytes = bytes }
        let needed = Streaming.bytes
        #expect(
            throws: CaptureError.badAnswer(
                "VIDIOC_QUERYBUF gave a buffer of \(bytes) bytes, where a frame needs \(needed).")
        ) { try stream.device.start() }
        #expect(stream.scripted.mapped == 0)
    }

    @Test(arguments: [(Int.min, 2), (0, 2), (3, 3), (1000, 32)])
    func `between two and 32 buffers are asked for`(asked: Int, expected: Int) throws {
        let stream = try Streaming(buffers: asked)
        #expect(stream.scripted.queued.count == expected)
    }

    @Test func `a stream needs a format first, and frames need a stream`() throws {
        let device = try CaptureDevice(path: "/dev/video0", calls: ScriptedDevice())
        #expect { try device.start() } throws: { error in
            guard case .refused? = error as? CaptureError else { return false }
            return true
        }
        #expect(throws: CaptureError.stream(call: "VIDIOC_DQBUF", errno: EINVAL)) {
            _ = try device.nextFrame(milliseconds: 0)
        }
        device.close()
        #expect(throws: CaptureError.disconnected) { _ = try device.nextFrame(milliseconds: 0) }
        #expect(throws: CaptureError.disconnected) { try device.start() }
        #expect(throws: CaptureError.disconnected) { _ = try device.modes() }
        #expect(throws: CaptureError.disconnected) { _ = try device.controls() }
    }

    @Test func `a frame that was handed on outlives stop, close and the device`() throws {
        let scripted: ScriptedDevice
        var detached: DetachedFrame?
        do {
            let stream = try Streaming()
            scripted = stream.scripted
            scripted.deliver(.init(sequence: 3, timestamp: 1000, fill: 9))
            detached = try stream.next().detach()
            stream.device.stop()
            stream.device.close()
        }
        #expect(scripted.openDescriptors == 0 && scripted.mapped == 4)
        let queues = scripted.calls(of: watchbox_VIDIOC_QBUF)
        if let frame = detached {
            #expect(frame.sequence == 3 && frame.timestamp == 1000 && frame.count == Streaming.bytes)
            #expect(frame.bytes.allSatisfy { $0 == 9 })
        }
        detached = nil
        #expect(scripted.mapped == 0, "unmapped when the last frame is gone")
        #expect(scripted.calls(of: watchbox_VIDIOC_QBUF) == queues, "and nothing is given to a closed device")
    }

    @Test func `a frame of the stream before does not give its buffer to the next one`() throws {
        let stream = try Streaming()
        stream.scripted.deliver(.init(sequence: 0))
        var old: DetachedFrame? = try stream.next().detach()
        stream.device.stop()
        try stream.device.start()
        #expect(stream.scripted.mapped == 8 && stream.scripted.queued == [0, 1, 2, 3])
        #expect(old != nil)
        old = nil
        #expect(stream.scripted.mapped == 4 && stream.scripted.queued == [0, 1, 2, 3])
    }

    @Test func `a camera that is unplugged while frames are out is closed, and they end in peace`() throws {
        let stream = try Streaming()
        stream.scripted.deliver(2)
        var frames: [DetachedFrame] = [try stream.next().detach()]
        stream.scripted.change { script in
            script.pollFlags = Int16(POLLERR | POLLHUP)
            for request in [watchbox_VIDIOC_QBUF, watchbox_VIDIOC_STREAMOFF, watchbox_VIDIOC_REQBUFS] {
                script.answers[request] = { _, _ in ENODEV }
            }
        }
        #expect(throws: CaptureError.disconnected) { try stream.nextSequence() }
        stream.device.close()
        #expect(frames[0].bytes.count == Streaming.bytes)
        frames = []
        #expect(stream.scripted.mapped == 0 && stream.scripted.openDescriptors == 0)
    }

    // On a thread of its own: a task of the pool looks at the frames, and is waited for.
    @Test(.ownThread)
    func `frames end on any thread while the camera goes on, stops and starts`() throws {
        let stream = try Streaming()
        let scripted = stream.scripted
        let pictures = AsyncStream<DetachedFrame>.makeStream(bufferingPolicy: .bufferingNewest(2))
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            for await frame in pictures.stream { #expect(frame.bytes[0] == frame.bytes[Streaming.bytes - 1]) }
            isDone.signal()
        }
        var taken = 0
        for round in 0..<400 {
            scripted.deliver(.init(sequence: UInt32(round), fill: UInt8(round % 251)))
            if let frame = try stream.device.nextFrame(milliseconds: 0) {
                pictures.continuation.yield(frame.detach())
                taken += 1
            }
            if round % 37 == 36 {
                stream.device.stop()
                try stream.device.start()
            }
        }
        pictures.continuation.finish()
        isDone.wait()
        #expect(taken > 20)
        stream.device.close()
        #expect(scripted.mapped == 0)
    }

    @Test func `a buffer that the driver does not take back is offered again`() throws {
        let stream = try Streaming()
        stream.scripted.deliver(.init(sequence: 0))
        stream.scripted.change { $0.answers[watchbox_VIDIOC_QBUF] = { count, _ in count == 5 ? EINVAL : nil } }
        #expect(try stream.nextSequence() == 0)
        #expect(stream.scripted.queued == [1, 2, 3])
        stream.scripted.deliver(.init(sequence: 1))
        #expect(try stream.nextSequence() == 1)
        #expect(stream.scripted.queued.sorted() == [0, 1, 2, 3])
    }

    @Test func `a driver that takes no buffer back at all has lost its stream`() throws {
        let stream = try Streaming(buffers: 2)
        stream.scripted.change { $0.answers[watchbox_VIDIOC_QBUF] = { _, _ in EINVAL } }
        stream.scripted.deliver(2)
        #expect(try stream.nextSequence() == 1)
        #expect(throws: CaptureError.stream(call: "VIDIOC_QBUF", errno: EINVAL)) { try stream.nextSequence() }
    }

    @Test func `a buffer is exported as a descriptor where the driver can, and refused where it cannot`() throws {
        let stream = try Streaming()
        stream.scripted.deliver(.init(sequence: 0))
        let frame = try stream.next()
        let descriptor = try frame.exportDMABUF()
        #expect(fcntl(descriptor, F_GETFD) >= 0)
        Glibc.close(descriptor)
        stream.scripted.change { $0.exportsBuffers = false }
        var refusal: CaptureError?
        do throws(CaptureError) {
            _ = try frame.exportDMABUF()
        } catch {
            refusal = error
        }
        #expect(refusal == .unsupported(call: "VIDIOC_EXPBUF"))
        stream.device.stop()
        do throws(CaptureError) {
            _ = try frame.exportDMABUF()
        } catch {
            refusal = error
        }
        #expect(refusal == .disconnected)
    }

    @Test func `planes of a frame that was handed on lie where its format has them`() throws {
        let stream = try Streaming { script in
            script.formats = [.init(fourCC: .yu12, sizes: [.init(width: 64, height: 48)])]
        }
        stream.scripted.deliver(.init(sequence: 0, fill: 5))
        let frame = try stream.next().detach()
        let planes = frame.planes
        #expect(planes.map(\.stride) == [64, 32, 32])
        #expect(planes[1].base - planes[0].base == 64 * 48 && planes[2].base - planes[1].base == 32 * 24)
        #expect(planes.allSatisfy { $0.base.pointee == 5 })
        // Masks are drawn into the driver's own memory.
        planes[2].base[32 * 24 - 1] = 99
        #expect(frame.bytes[64 * 48 * 3 / 2 - 1] == 99)
    }
}
