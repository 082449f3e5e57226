internal import CV4L2

extension CaptureDevice {
    /// Begins to capture what was negotiated.
    ///
    /// - Parameter buffers: asked of the driver, 2 to 32; it may give more or less.
    /// - Throws: `stream` for what another attempt may fix; `busy`, `disconnected`, `noSignal`, `badAnswer`.
    public func start(buffers: Int = 4) throws(CaptureError) {
        try checkOpen()
        stop()
        guard let setup else { throw .refused(call: "start, because nothing was negotiated", errno: EINVAL) }
        subscribe()
        let started: BufferPool
        do throws(CaptureError) {
            started = try makePool(min(max(2, buffers), 32), setup)
            for index in 0..<started.count {
                do throws(CallFailure) {
                    try started.queue(index)
                } catch {
                    started.end()
                    throw .streaming("VIDIOC_QBUF", error, path: path)
                }
            }
            do throws(CallFailure) {
                var type = BufferCall.type(isMultiplanar: isMultiplanar)
                try calls.perform(descriptor, watchbox_VIDIOC_STREAMON, &type)
            } catch {
                started.end()
                throw .streaming("VIDIOC_STREAMON", error, path: path)
            }
        } catch {
            freeBuffers()
            throw error
        }
        pool = started
        sequences = SequenceCounter()
        events = []
    }

    /// Ends the stream; nothing when there is none. Frames that are still out stay readable.
    public func stop() {
        guard let pool else { return }
        // First of all: a frame that ends now must not queue its buffer between STREAMOFF and REQBUFS.
        pool.end()
        self.pool = nil
        var type = BufferCall.type(isMultiplanar: isMultiplanar)
        try? calls.perform(descriptor, watchbox_VIDIOC_STREAMOFF, &type)
        freeBuffers()
    }

    private func makePool(_ count: Int, _ setup: CaptureSetup) throws(CaptureError) -> BufferPool {
        var request = v4l2_requestbuffers()
        request.count = UInt32(count)
        request.type = BufferCall.type(isMultiplanar: isMultiplanar)
        request.memory = V4L2_MEMORY_MMAP.rawValue
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_REQBUFS, &request)
        } catch {
            throw .streaming("VIDIOC_REQBUFS", error, path: path)
        }
        // With one buffer the driver would have none while its frame is looked at.
        guard (2...32).contains(request.count) else {
            throw .badAnswer("VIDIOC_REQBUFS gave \(request.count) buffers, where 2 to 32 can be used.")
        }
        var mappings: [BufferPool.Mapping] = []
        do throws(CaptureError) {
            for index in 0..<Int(request.count) { mappings.append(try map(index, setup)) }
        } catch {
            for mapping in mappings { calls.unmap(mapping.memory, length: mapping.length, margin: mapping.margin) }
            throw error
        }
        return BufferPool(
            descriptor: descriptor, isMultiplanar: isMultiplanar, calls: calls, mappings: mappings)
    }

    private func map(_ index: Int, _ setup: CaptureSetup) throws(CaptureError) -> BufferPool.Mapping {
        let answer: BufferAnswer
        do throws(CallFailure) {
            answer = try BufferCall(index: index, isMultiplanar: isMultiplanar)
                .perform(calls, descriptor, watchbox_VIDIOC_QUERYBUF)
        } catch {
            throw .streaming("VIDIOC_QUERYBUF", error, path: path)
        }
        let least = Self.leastBytes(setup)
        guard (least...FormatNegotiation.maxBytes).contains(answer.length) else {
            throw .badAnswer(
                "VIDIOC_QUERYBUF gave a buffer of \(answer.length) bytes, where a frame needs \(least).")
        }
        let margin = Self.margin(setup)
        do throws(CallFailure) {
            let memory = try calls.map(descriptor, length: answer.length, offset: answer.offset, margin: margin)
            return BufferPool.Mapping(memory: memory, length: answer.length, margin: margin)
        } catch {
            throw .streaming("mmap", error, path: path)
        }
    }

    /// Bytes behind an uncompressed frame up to the end of its last row of macroblocks: an encoder that may read them
    /// needs no copy.
    private static func margin(_ setup: CaptureSetup) -> Int {
        guard FrameLayout(setup.pixelFormat) != nil else { return 0 }
        return min(setup.bytesPerLine * 16, FormatNegotiation.maxBytes)
    }

    /// Of a whole frame; 1 when any number may do.
    private static func leastBytes(_ setup: CaptureSetup) -> Int {
        FrameLayout(setup.pixelFormat)?.bytes(bytesPerLine: setup.bytesPerLine, height: setup.height) ?? 1
    }

    private func freeBuffers() {
        var request = v4l2_requestbuffers()
        request.type = BufferCall.type(isMultiplanar: isMultiplanar)
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try? calls.perform(descriptor, watchbox_VIDIOC_REQBUFS, &request)
    }

    /// Drivers without events refuse; they have nothing to say.
    private func subscribe() {
        for type in [V4L2_EVENT_SOURCE_CHANGE, V4L2_EVENT_EOS] {
            var subscription = v4l2_event_subscription()
            subscription.type = UInt32(type)
            try? calls.perform(descriptor, watchbox_VIDIOC_SUBSCRIBE_EVENT, &subscription)
        }
    }
}

// MARK: frames

extension CaptureDevice {
    /// A filled buffer, found good.
    private struct Filled {
        var lease: BufferLease
        var sequence: UInt32
        var timestamp: UInt64?
        var received: UInt64
        var copies: Int
    }

    /// Waits up to `milliseconds` for frames, takes all that are ready and keeps the newest; the others go back to
    /// the driver at once. Nil: none in time.
    ///
    /// Of frames that build on each other (`FourCC.isVideo`) none is left out: they come one by one, oldest first.
    /// One that the driver lost, or that was damaged, shows as a gap in `RawFrame.sequence`.
    ///
    /// A driver whose buffers were all full had no room for newer frames. What it has then is old, and is kept only
    /// if no newer one comes within one and a half times the distance of two frames.
    ///
    /// - Throws: `disconnected`; `stream` and `badAnswer` for what a restart of the stream may fix; `formatChanged`.
    public func nextFrame(milliseconds: Int) throws(CaptureError) -> RawFrame? {
        try checkOpen()
        guard let pool, let setup else { throw .stream(call: "VIDIOC_DQBUF", errno: EINVAL) }
        do throws(CallFailure) {
            try pool.queueRefused()
        } catch {
            throw .streaming("VIDIOC_QBUF", error, path: path)
        }
        var deadline = watchbox_monotonic_nanoseconds() + UInt64(min(max(0, milliseconds), 3_600_000)) * 1_000_000
        var newest: Filled?
        var isFreshening = false
        while true {
            let isReady = try wait(until: deadline)
            if isReady, try takeReady(pool, setup, &newest), !isFreshening, let frame = newest,
                isOld(frame, setup)
            {
                isFreshening = true
                deadline = min(deadline, watchbox_monotonic_nanoseconds() + Self.period(setup) * 3 / 2)
                continue
            }
            if let frame = newest {
                if isFreshening, !isReady, watchbox_monotonic_nanoseconds() < deadline { continue }
                return RawFrame(
                    setup: setup, sequence: frame.sequence, timestamp: frame.timestamp,
                    received: frame.received, copies: frame.copies, lease: frame.lease)
            }
            if watchbox_monotonic_nanoseconds() >= deadline { return nil }
        }
    }

    /// Nanoseconds from frame to frame.
    private static func period(_ setup: CaptureSetup) -> UInt64 {
        setup.rate.isFinite && setup.rate > 1.0 / 60 ? UInt64(1e9 / min(setup.rate, 10_000)) : 60_000_000_000
    }

    private func isOld(_ frame: Filled, _ setup: CaptureSetup) -> Bool {
        guard !setup.pixelFormat.isVideo, let timestamp = frame.timestamp, timestamp < frame.received else {
            return false
        }
        let age = frame.received - timestamp
        // A time stamp of hours ago is a clock that is wrong.
        return age > 2 * Self.period(setup) && age < 3_600_000_000_000
    }

    /// Whether frames are there.
    private func wait(until deadline: UInt64) throws(CaptureError) -> Bool {
        let now = watchbox_monotonic_nanoseconds()
        let milliseconds = now >= deadline ? 0 : (deadline - now + 999_999) / 1_000_000
        let found: Int16
        do throws(CallFailure) {
            found = try calls.poll(
                descriptor, events: Int16(POLLIN | POLLPRI), milliseconds: Int32(clamping: milliseconds))
        } catch {
            throw .streaming("poll", error, path: path)
        }
        if found & Int16(POLLHUP | POLLNVAL) != 0 { throw .disconnected }
        if found & Int16(POLLPRI) != 0 { try takeEvents() }
        if found & Int16(POLLERR) != 0 { throw broken("poll", CallFailure(errno: EIO)) }
        return found & Int16(POLLIN) != 0
    }

    /// A driver tells a broken stream and a device that is gone apart when it is asked for something else.
    private func broken(_ call: String, _ failure: CallFailure) -> CaptureError {
        if failure.errno == EIO {
            do throws(CallFailure) {
                _ = try Capability(calls, descriptor)
            } catch {
                if error.errno == ENODEV || error.errno == ENXIO { return .streaming(call, error, path: path) }
            }
        }
        return .streaming(call, failure, path: path)
    }

    private func takeEvents() throws(CaptureError) {
        for _ in 0..<32 {
            var event = v4l2_event()
            guard (try? calls.perform(descriptor, watchbox_VIDIOC_DQEVENT, &event)) != nil else { break }
            if event.type == UInt32(V4L2_EVENT_EOS) { events.insert(.endOfStream) }
            if event.type == UInt32(V4L2_EVENT_SOURCE_CHANGE),
                event.u.src_change.changes & UInt32(V4L2_EVENT_SRC_CH_RESOLUTION) != 0
            {
                events.insert(.sourceChange)
            }
        }
        if events.contains(.sourceChange) { throw .formatChanged }
    }

    /// Takes what is there; `newest` is the last good one.
    ///
    /// - Returns: Whether all buffers that the driver had were full.
    private func takeReady(
        _ pool: BufferPool, _ setup: CaptureSetup, _ newest: inout Filled?
    ) throws(CaptureError) -> Bool {
        let queued = pool.queued
        var taken = 0
        // A driver that fills buffers as fast as they come back must not hold the caller here.
        while taken < pool.count, newest == nil || !setup.pixelFormat.isVideo {
            let answer: BufferAnswer?
            do throws(CallFailure) {
                answer = try pool.dequeue()
            } catch {
                if error.errno == EPIPE { events.insert(.endOfStream) }
                throw broken("VIDIOC_DQBUF", error)
            }
            guard let answer else { break }
            taken += 1
            guard pool.accept(answer.index) else {
                throw .badAnswer("VIDIOC_DQBUF gave buffer \(answer.index), which the driver did not have.")
            }
            counters.captured += 1
            counters.lost += sequences.missing(before: answer.sequence)
            guard let frame = filled(answer, pool, setup) else {
                counters.damaged += 1
                pool.giveBack(answer.index)
                continue
            }
            if newest != nil { counters.superseded += 1 }
            newest = frame
        }
        return taken >= queued
    }

    /// Nil when the driver flags it, or when its numbers cannot be.
    private func filled(_ answer: BufferAnswer, _ pool: BufferPool, _ setup: CaptureSetup) -> Filled? {
        let end = answer.bytesUsed
        guard answer.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0, end <= pool.mapping(answer.index).length,
            answer.dataOffset < end, end - answer.dataOffset >= Self.leastBytes(setup)
        else { return nil }
        return Filled(
            lease: BufferLease(
                pool: pool, index: answer.index, offset: answer.dataOffset, count: end - answer.dataOffset),
            sequence: answer.sequence, timestamp: answer.timestamp, received: watchbox_monotonic_nanoseconds(),
            copies: answer.copies)
    }
}

extension BufferAnswer {
    /// CLOCK_MONOTONIC nanoseconds; nil when the driver's clock is another one, or its numbers are no time.
    fileprivate var timestamp: UInt64? {
        guard flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC),
            (0..<1_000_000).contains(microseconds), (0..<(1 << 33)).contains(seconds)
        else { return nil }
        return UInt64(seconds) * 1_000_000_000 + UInt64(microseconds) * 1000
    }
}
