/// One frame in the driver's memory. Its end gives the buffer back to the driver.
///
/// The memory may be written to as well (masks, text): the driver overwrites it with the next frame.
public struct RawFrame: ~Copyable, Sendable {
    public let setup: CaptureSetup
    /// The driver's count of frames; goes round at 2^32, and begins again with each stream.
    public let sequence: UInt32
    /// CLOCK_MONOTONIC nanoseconds from the driver; nil when its clock is another one. A driver may be wrong: compare
    /// with `received`.
    public let timestamp: UInt64?
    /// CLOCK_MONOTONIC nanoseconds when it was taken from the driver.
    public let received: UInt64
    /// How often it was copied before it came here.
    public let copies: Int
    /// Bytes of this frame.
    public var count: Int { lease.count }

    let lease: BufferLease

    init(
        setup: CaptureSetup, sequence: UInt32, timestamp: UInt64?, received: UInt64, copies: Int, lease: BufferLease
    ) {
        self.copies = copies
        self.setup = setup
        self.sequence = sequence
        self.timestamp = timestamp
        self.received = received
        self.lease = lease
    }

    /// Lends the bytes of the frame; the pointer must not leave `body`.
    public borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let lease = lease
        defer { withExtendedLifetime(lease) {} }
        return try body(UnsafeRawBufferPointer(start: lease.start, count: lease.count))
    }

    /// Hands the memory on without a copy, to whoever needs it longer than this call stack, on whatever thread.
    public consuming func detach() -> DetachedFrame {
        DetachedFrame(setup: setup, sequence: sequence, timestamp: timestamp, received: received, lease: lease)
    }

    /// The buffer as a DMA-BUF descriptor, which is the caller's to close. It stays readable after the frame's end,
    /// and then shows later ones.
    ///
    /// - Throws: `unsupported` where the driver does not export its buffers.
    public borrowing func exportDMABUF() throws(CaptureError) -> Int32 {
        try lease.exportDMABUF()
    }
}

/// A `RawFrame` with as many owners as it likes. The last one's end gives the buffer back to the driver, or does
/// nothing when the stream has stopped meanwhile; the memory stays until then in both cases.
public final class DetachedFrame: Sendable {
    public let setup: CaptureSetup
    public let sequence: UInt32
    /// As in `RawFrame`.
    public let timestamp: UInt64?
    public let received: UInt64
    private let lease: BufferLease

    init(setup: CaptureSetup, sequence: UInt32, timestamp: UInt64?, received: UInt64, lease: BufferLease) {
        self.setup = setup
        self.sequence = sequence
        self.timestamp = timestamp
        self.received = received
        self.lease = lease
    }

    /// Bytes of this frame.
    public var count: Int { lease.count }

    /// All bytes; valid as long as this object.
    public var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: lease.start, count: lease.count)
    }

    /// The same with what can be read behind it: encoders read whole rows of macroblocks, and a driver's buffer of 1080
    /// lines ends within one. Only the frame itself may be written to.
    public var memory: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: lease.start, count: lease.capacity)
    }

    /// The planes of an uncompressed frame, with the bytes from line to line; one plane, stride 0, when it is
    /// compressed or of an odd format. Valid as long as this object.
    public var planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)] {
        guard let layout = FrameLayout(setup.pixelFormat) else {
            return [(lease.start.assumingMemoryBound(to: UInt8.self), 0)]
        }
        return layout.planes(bytesPerLine: setup.bytesPerLine, height: setup.height).map {
            ((lease.start + $0.offset).assumingMemoryBound(to: UInt8.self), $0.stride)
        }
    }
}
