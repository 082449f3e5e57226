import Glibc

@testable import AudioCapture

/// Time that passes when somebody waits.
final class VirtualClock: CaptureClock {
    var now: UInt64 = 1_000_000_000_000

    func sleep(until instant: UInt64) { now = max(now, instant) }

    func pass(milliseconds: Int) { now += UInt64(milliseconds) * 1_000_000 }
}

/// A microphone on a USB port: what it does next is written down. Stands in for what needs an audio card and a hand
/// that pulls it out.
final class ScriptedStream: CaptureStream {
    enum Step {
        /// So many frames become readable, with the driver's stamp.
        case audio(Int)
        /// Nothing within the wait.
        case nothing
        /// The wait fails.
        case waitFails(Int32)
        /// The wait succeeds, and reading fails.
        case readFails(Int32)
        /// Readers are woken, and there is nothing.
        case falseAlarm
        /// Frames that were not sampled: time stands still.
        case nonsense(Int)
    }

    var shape = StreamShape(rate: 48_000, channels: 1, format: .signed16, period: 960, buffer: 24_000)
    var script: [Step]
    /// What the next calls return; empty: success.
    var drops: [Int32] = []
    var prepares: [Int32] = []
    var starts: [Int32] = []
    var resumes: [Int32] = []
    private(set) var calls: [String] = []
    private(set) var isClosed = false

    private let clock: VirtualClock
    var available = 0
    private var readResult: Int32?

    init(_ clock: VirtualClock, _ script: [Step] = []) {
        self.clock = clock
        self.script = script
    }

    func wait(milliseconds: Int32) -> Int {
        if available > 0 { return 1 }
        guard !script.isEmpty else {
            clock.pass(milliseconds: Int(milliseconds))
            return 0
        }
        switch script.removeFirst() {
        case .audio(let frames):
            clock.pass(milliseconds: frames * 1000 / shape.rate)
            available = frames
            return 1
        case .nothing:
            clock.pass(milliseconds: Int(milliseconds))
            return 0
        case .waitFails(let number): return Int(-number)
        case .readFails(let number):
            readResult = -number
            return 1
        case .nonsense(let frames):
            available = frames
            return 1
        case .falseAlarm:
            readResult = -EAGAIN
            return 1
        }
    }

    func position() -> StreamPosition {
        StreamPosition(
            available: available, stampSeconds: Int64(clock.now / 1_000_000_000),
            stampNanoseconds: Int64(clock.now % 1_000_000_000))
    }

    func read(into bytes: UnsafeMutableRawBufferPointer, frames: Int) -> Int {
        if let result = readResult {
            readResult = nil
            return Int(result)
        }
        let count = min(frames, available)
        guard count > 0 else { return Int(-EAGAIN) }
        for index in 0..<(count * 2) { bytes[index] = index.isMultiple(of: 2) ? 0 : 0x40 }
        available -= count
        return count
    }

    func drop() -> Int { answer("drop", &drops) }
    func prepare() -> Int { answer("prepare", &prepares) }
    func start() -> Int { answer("start", &starts) }
    func resume() -> Int { answer("resume", &resumes) }
    func close() { isClosed = true }

    private func answer(_ call: String, _ results: inout [Int32]) -> Int {
        calls.append(call)
        return results.isEmpty ? 0 : Int(-results.removeFirst())
    }
}
