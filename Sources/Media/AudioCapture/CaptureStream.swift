/// An open audio device: libasound's, or a stand-in for what no machine without sound cards can show. All calls that
/// return a number return a negative errno on failure, as libasound does.
protocol CaptureStream: AnyObject {
    var shape: StreamShape { get }
    /// 1: samples are there; 0: not in time.
    func wait(milliseconds: Int32) -> Int
    /// What can be read, and its instant as far as the driver knows it.
    func position() -> StreamPosition
    /// Frames that were read.
    func read(into bytes: UnsafeMutableRawBufferPointer, frames: Int) -> Int
    /// Stops, and forgets what was not read.
    func drop() -> Int
    func prepare() -> Int
    func start() -> Int
    func resume() -> Int
    func close()
}

/// What a device agreed to.
struct StreamShape: Equatable {
    var rate: Int
    var channels: Int
    var format: SampleFormat
    /// Frames.
    var period: Int
    /// Frames.
    var buffer: Int

    var bytesPerFrame: Int { channels * format.bytes }

    func nanoseconds(frames: Int) -> Int64 {
        Int64(frames) * 1_000_000_000 / Int64(rate)
    }
}

/// Where a stream is, according to the driver. Nothing here is to be trusted.
struct StreamPosition: Equatable {
    /// Frames that can be read; a negative errno where that failed.
    var available: Int
    /// The instant at which `available` was right; nil: the driver gives none.
    var stampSeconds: Int64?
    var stampNanoseconds: Int64 = 0
    /// How many frames ago the first readable one was sampled, counted from now; nil: unknown.
    var delay: Int?

    /// CLOCK_MONOTONIC of the first readable frame. `now` is an instant right after the driver was asked.
    func instant(shape: StreamShape, now: UInt64) -> UInt64 {
        let longest = 4 * shape.buffer
        let ready = min(max(available, 0), longest)
        var end = now
        var back = ready
        if let stamp = validStamp(now: now) {
            end = stamp
        } else if let delay {
            back = min(max(delay, ready), longest)
        }
        let age = UInt64(max(shape.nanoseconds(frames: back), 0))
        return end > age ? end - age : 0
    }

    /// Some plugins leave it zero, some give the time of day: what is not within the last second is not a stamp.
    private func validStamp(now: UInt64) -> UInt64? {
        guard let stampSeconds, stampSeconds >= 0, (0..<1_000_000_000).contains(stampNanoseconds) else { return nil }
        let (product, overflow) = UInt64(stampSeconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return nil }
        let (stamp, carry) = product.addingReportingOverflow(UInt64(stampNanoseconds))
        guard !carry, stamp <= now, now - stamp <= 1_000_000_000 else { return nil }
        return stamp
    }
}
