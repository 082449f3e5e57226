import CameraModel
import Dispatch
import Media
import Synchronization

@testable import CameraPipeline

/// A camera whose encoder makes exactly the bitrate that it is told: 50 frames a second and audio between them, a key frame when it is asked
/// for, and each two seconds.
final class RatedSource: BitrateSource {
    private struct State {
        var bitrate: Int
        var changes: [Int] = []
        var requests = 0
    }

    let changes: AsyncStream<Int>
    /// One for each frame, the newest alone.
    let frames: AsyncStream<Int64>
    private let changed: AsyncStream<Int>.Continuation
    private let delivered: AsyncStream<Int64>.Continuation
    private let state: Mutex<State>
    private let isRequested = Atomic(false)
    private let stopping = DispatchSemaphore(value: 0)

    private static let rate: Int64 = 50
    private static let group: Int64 = 100

    init(_ bitrate: Int) {
        state = Mutex(State(bitrate: bitrate))
        (changes, changed) = AsyncStream.makeStream()
        (frames, delivered) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// All that it was told, in order.
    var told: [Int] { state.withLock { $0.changes } }
    var asked: Int { state.withLock { $0.requests } }

    func setBitsPerSecond(_ bitsPerSecond: Int) {
        state.withLock { state in
            state.bitrate = bitsPerSecond
            state.changes.append(bitsPerSecond)
        }
        changed.yield(bitsPerSecond)
    }

    func requestKeyFrame() {
        isRequested.store(true, ordering: .relaxed)
        state.withLock { $0.requests += 1 }
    }

    func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        deliver(.videoFormat(videoFormat))
        deliver(.audioFormat(audioFormat))
        var number: Int64 = 0
        var due = DispatchTime.now()
        while stopping.wait(timeout: due) == .timedOut {
            let bitrate = state.withLock { $0.bitrate }
            let key = number % Self.group == 0 || isRequested.exchange(false, ordering: .relaxed)
            var unit = videoUnit(number * 20, key: key, size: max(16, bitrate / 8 / Int(Self.rate)))
            for index in 0..<8 { unit.data[index] = UInt8(truncatingIfNeeded: number >> Int64(8 * index)) }
            unit.captureInstant = DispatchTime.now().uptimeNanoseconds
            deliver(.accessUnit(unit))
            deliver(audio(number * 20 + 10))
            delivered.yield(number)
            number += 1
            due = due + .milliseconds(20)
        }
    }

    func stop() { stopping.signal() }

    /// Of a video unit of such a source.
    static func number(of unit: AccessUnit) -> Int64 {
        (0..<8).reduce(0) { $0 | Int64(unit.data[$1]) << Int64(8 * $1) }
    }
}
