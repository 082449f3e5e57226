import CV4L2
import Foundation
import Glibc
import ScriptedDevice
import Testing

@testable import VideoCapture

struct StreamTests {
    @Test func `a frame is the driver's memory, and its end gives the buffer back`() throws {
        let stream = try Streaming()
        #expect(stream.scripted.queued == [0, 1, 2, 3] && stream.scripted.mapped == 4)
        #expect(stream.scripted.isStreaming && stream.device.isStreaming)
        stream.scripted.deliver(.init(sequence: 7, timestamp: 12_345_678_000, fill: 0x42))
        do {
            let frame = try stream.next()
            let (count, sequence, timestamp, received) = (frame.count, frame.sequence, frame.timestamp, frame.received)
            #expect(count == Streaming.bytes && sequence == 7 && timestamp == 12_345_678_000 && received > 0)
            let isFilled = frame.withBytes { bytes in bytes.allSatisfy { $0 == 0x42 } }
            #expect(isFilled)
            #expect(stream.scripted.queued == [1, 2, 3])
            _ = consume frame
        }
        #expect(stream.scripted.queued == [1, 2, 3, 0])
        #expect(stream.device.counters.captured == 1 && stream.device.counters.lost == 0)
    }

    @Test func `of all that are ready the newest is kept, and the others go back at once`() throws {
        let stream = try Streaming()
        stream.scripted.deliver(3, from: 10)
        let frame = try stream.next()
        let sequence = frame.sequence
        #expect(sequence == 12)
        #expect(stream.scripted.queued == [3, 0, 1])
        _ = consume frame
        #expect(stream.device.counters.captured == 3 && stream.device.counters.superseded == 2)
    }

    @Test func `no frame in time is nil, not an error`() throws {
        let stream = try Streaming()
        #expect(try stream.nextSequence(milliseconds: 0) == nil)
        #expect(try stream.nextSequence(milliseconds: 5) == nil)
        #expect(try stream.nextSequence(milliseconds: .min) == nil)
        #expect(stream.device.counters == CaptureCounters())
    }

    @Test func `a frame wakes the one who waits for it`() throws {
        let stream = try Streaming()
        let scripted = stream.scripted
        Thread.detachNewThread { scripted.deliver(.init(sequence: 5)) }
        #expect(try stream.nextSequence() == 5)
    }

    @Test func `frames that were ready while the driver had no room left give way to a fresh one`() throws {
        // One frame a minute: there is time for the fresh one on the slowest machine.
        let stream = try Streaming()
        stream.device.setup?.rate = 1.0 / 60
        let scripted = stream.scripted
        let old = watchbox_monotonic_nanoseconds() - 150_000_000_000
        for step in 0..<4 { scripted.deliver(.init(sequence: UInt32(step), timestamp: old)) }
        // The fifth comes as soon as there is a buffer for it.
        Thread.detachNewThread {
            while scripted.isStreaming,
                !scripted.deliver(.init(sequence: 4, timestamp: watchbox_monotonic_nanoseconds()))
            { sched_yield() }
        }
        #expect(try stream.nextSequence() == 4)
        #expect(stream.device.counters.superseded == 4 && stream.device.counters.lost == 0)
        for step in 5..<8 { scripted.deliver(.init(sequence: UInt32(step), timestamp: old)) }
        #expect(try stream.nextSequence() == 7, "there was room for a newer one, and none came")
    }

    @Test func `an old frame is better than none, when no fresh one comes`() throws {
        let stream = try Streaming(rate: 30)
        let old = watchbox_monotonic_nanoseconds() - 1_000_000_000
        for step in 0..<4 { stream.scripted.deliver(.init(sequence: UInt32(step), timestamp: old)) }
        #expect(try stream.nextSequence() == 3)
        for step in 4..<8 { stream.scripted.deliver(.init(sequence: UInt32(step), timestamp: old)) }
        #expect(try stream.nextSequence(milliseconds: 0) == 7)
    }

    @Test func `of frames that build on each other none is left out`() throws {
        let stream = try Streaming { $0.formats = [.init(fourCC: .h264, sizes: [.init(width: 64, height: 48)])] }
        let old = watchbox_monotonic_nanoseconds() - 1_000_000_000
        for step in 0..<4 {
            let isFlagged = step == 1
            stream.scripted.deliver(
                .init(
                    sequence: UInt32(step), timestamp: old, bytesUsed: 100,
                    flags: isFlagged ? UInt32(V4L2_BUF_FLAG_ERROR) : 0))
        }
        let sequences = try (0..<4).map { _ in try stream.nextSequence(milliseconds: 0) }
        #expect(sequences == [0, 2, 3, nil])
        #expect(stream.device.counters.superseded == 0 && stream.device.counters.damaged == 1)
    }

    @Test func `the multi-planar interface gives the bytes behind the data offset`() throws {
        let stream = try Streaming { script in
            script.isMultiplanar = true
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)
            script.bufferBytes = Streaming.bytes + 4096
        }
        stream.scripted.deliver(.init(sequence: 1, bytesUsed: Streaming.bytes + 128, dataOffset: 128, fill: 3))
        let frame = try stream.next()
        let (count, isMultiplanar) = (frame.count, frame.setup.isMultiplanar)
        #expect(count == Streaming.bytes && isMultiplanar)
        let isFilled = frame.withBytes { bytes in bytes.count == Streaming.bytes && bytes.allSatisfy { $0 == 3 } }
        #expect(isFilled)
    }

    @Test func `frames that the driver flags, and impossible ones, are counted and go back`() throws {
        let stream = try Streaming()
        let bad: [ScriptedDevice.Frame] = [
            .init(sequence: 0, flags: UInt32(V4L2_BUF_FLAG_ERROR)),
            .init(sequence: 1, bytesUsed: 0),
            .init(sequence: 2, bytesUsed: Streaming.bytes - 1),
            .init(sequence: 3, bytesUsed: Streaming.bytes + 4096),
            .init(sequence: 4, bytesUsed: Int(UInt32.max)),
        ]
        for frame in bad {
            stream.scripted.deliver(frame)
            #expect(try stream.nextSequence(milliseconds: 0) == nil)
        }
        #expect(stream.device.counters.damaged == 5 && stream.device.counters.captured == 5)
        #expect(stream.scripted.queued.count == 4)
        stream.scripted.deliver(.init(sequence: 5))
        #expect(try stream.nextSequence() == 5)
        #expect(stream.device.counters.lost == 0)
    }

    @Test func `a data offset behind the end of the frame is damage`() throws {
        let stream = try Streaming { script in
            script.isMultiplanar = true
            script.capabilities = UInt32(bitPattern: V4L2_CAP_VIDEO_CAPTURE_MPLANE | V4L2_CAP_STREAMING)
        }
        stream.scripted.deliver(.init(sequence: 0, dataOffset: Streaming.bytes))
        stream.scripted.deliver(.init(sequence: 1, dataOffset: Int(UInt32.max)))
        #expect(try stream.nextSequence(milliseconds: 0) == nil)
        #expect(stream.device.counters.damaged == 2)
    }

    @Test func `an access unit may be as short as it likes, but not empty`() throws {
        let stream = try Streaming { $0.formats = [.init(fourCC: .mjpeg, sizes: [.init(width: 64, height: 48)])] }
        stream.scripted.deliver(.init(sequence: 0, bytesUsed: 2))
        let frame = try stream.next()
        let (count, stride) = (frame.count, frame.setup.bytesPerLine)
        #expect(count == 2 && stride == 0)
        _ = consume frame
        stream.scripted.deliver(.init(sequence: 1, bytesUsed: 0))
        #expect(try stream.nextSequence(milliseconds: 0) == nil)
    }

    @Test func `gaps in the driver's count are lost frames, wrapping is not, and a new stream counts again`()
        throws
    {
        let stream = try Streaming()
        for sequence in [UInt32.max - 2, .max, 0, 1, 5] {
            stream.scripted.deliver(.init(sequence: sequence))
            #expect(try stream.nextSequence() == sequence)
        }
        #expect(stream.device.counters.lost == 4)
        stream.device.stop()
        try stream.device.start()
        stream.scripted.deliver(.init(sequence: 20))
        #expect(try stream.nextSequence() == 20)
        #expect(stream.device.counters.lost == 4)
    }

    @Test func `a time stamp of another clock, or none that can be, is left out`() throws {
        let stream = try Streaming { script in
            script.distortions[watchbox_VIDIOC_DQBUF] = { argument in
                let buffer = argument.assumingMemoryBound(to: v4l2_buffer.self)
                switch buffer.pointee.sequence {
                case 1: buffer.pointee.timestamp.tv_sec = .max
                case 2: buffer.pointee.timestamp.tv_sec = -1
                case 3: buffer.pointee.timestamp.tv_usec = 1_000_000
                case 4: buffer.pointee.flags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY)
                default: break
                }
            }
        }
        for sequence in 0..<UInt32(6) {
            stream.scripted.deliver(.init(sequence: sequence, timestamp: 5_000_000_000))
            let frame = try stream.next()
            let timestamp = frame.timestamp
            #expect(timestamp == (sequence == 0 || sequence == 5 ? 5_000_000_000 : nil), "\(sequence)")
        }
    }

    @Test func `a changed signal is reported, and so is the end of the stream`() throws {
        let stream = try Streaming()
        var change = v4l2_event()
        change.type = UInt32(V4L2_EVENT_SOURCE_CHANGE)
        change.u.src_change.changes = UInt32(V4L2_EVENT_SRC_CH_RESOLUTION)
        var end = v4l2_event()
        end.type = UInt32(V4L2_EVENT_EOS)
        stream.scripted.change { $0.events = [end] }
        #expect(try stream.nextSequence(milliseconds: 0) == nil)
        #expect(stream.device.events == .endOfStream)
        stream.scripted.change { $0.events = [change] }
        #expect(throws: CaptureError.formatChanged) { try stream.nextSequence() }
        #expect(stream.device.events == [.endOfStream, .sourceChange])
        try stream.device.start()
        #expect(stream.device.events == [])
        stream.scripted.change { $0.answers[watchbox_VIDIOC_DQBUF] = { _, _ in EPIPE } }
        stream.scripted.deliver(.init(sequence: 0))
        #expect(throws: CaptureError.stream(call: "VIDIOC_DQBUF", errno: EPIPE)) { try stream.nextSequence() }
        #expect(stream.device.events == .endOfStream)
    }

    @Test(arguments: [
        (EIO, CaptureError.stream(call: "VIDIOC_DQBUF", errno: EIO)), (ENODEV, .disconnected),
        (EINVAL, .stream(call: "VIDIOC_DQBUF", errno: EINVAL)),
        (EPROTO, .stream(call: "VIDIOC_DQBUF", errno: EPROTO)),
    ])
    func `what the driver says instead of a frame is told apart`(number: Int32, error: CaptureError) throws {
        let stream = try Streaming { $0.answers[watchbox_VIDIOC_DQBUF] = { _, _ in number } }
        stream.scripted.deliver(.init(sequence: 0))
        #expect(throws: error) { try stream.nextSequence() }
        #expect(error.remedy == (number == ENODEV ? .waitForDevice : .restartStream))
    }

    @Test func `a driver that is gone says so when it is asked, also when its stream only seems broken`() throws {
        let stream = try Streaming()
        stream.scripted.change { $0.pollFlags = Int16(POLLERR) }
        #expect(throws: CaptureError.stream(call: "poll", errno: EIO)) { try stream.nextSequence() }
        stream.scripted.change { $0.answers[watchbox_VIDIOC_QUERYCAP] = { _, _ in ENODEV } }
        #expect(throws: CaptureError.disconnected) { try stream.nextSequence() }
        stream.scripted.change { script in
            script.answers[watchbox_VIDIOC_QUERYCAP] = nil
            script.pollFlags = Int16(POLLERR | POLLHUP | POLLPRI)
        }
        #expect(throws: CaptureError.disconnected) { try stream.nextSequence() }
    }

    @Test(arguments: [4, 31, 4_000_000_000, 2] as [UInt32])
    func `the index of no buffer, or of one that the driver does not have, is not believed`(index: UInt32) throws {
        let stream = try Streaming { script in
            script.distortions[watchbox_VIDIOC_DQBUF] = { argument in
                let buffer = argument.assumingMemoryBound(to: v4l2_buffer.self)
                if buffer.pointee.sequence == 1 { buffer.pointee.index = index }
            }
        }
        stream.scripted.deliver(.init(sequence: 0, index: 2))
        let held = try stream.next()
        stream.scripted.deliver(.init(sequence: 1))
        #expect(
            throws: CaptureError.badAnswer("VIDIOC_DQBUF gave buffer \(index), which the driver did not have.")
        ) { try stream.nextSequence() }
        let sequence = held.sequence
        #expect(sequence == 0)
    }

    @Test func `a driver that has all buffers ready all the time does not hold its reader`() throws {
        let stream = try Streaming { script in
            script.answers[watchbox_VIDIOC_DQBUF] = { count, argument in
                let buffer = argument.assumingMemoryBound(to: v4l2_buffer.self)
                buffer.pointee.index = UInt32((count - 1) % 4)
                buffer.pointee.bytesused = UInt32(Streaming.bytes)
                buffer.pointee.sequence = UInt32(count)
                return 0
            }
            script.answers[watchbox_VIDIOC_QBUF] = { _, _ in 0 }
            script.pollFlags = Int16(POLLIN)
        }
        #expect(try stream.nextSequence() == 4)
        #expect(try stream.nextSequence() == 8)
    }
}
