import CameraModel
import DeviceSource
import Dispatch
import Foundation
import Glibc
import ScriptedDevice
import Synchronization

/// Delivers frames at an even rate, as a camera does: the first one until it has gone through, so that what follows is
/// counted from it.
final class FrameFeed: Sendable {
    private struct State {
        var delivered: [UInt64] = []
        var refused = 0
        var isStopped = false
    }

    private let frames: [[UInt8]]
    private let interval: UInt64
    private let camera: ScriptedDevice
    private let source: DeviceSource
    private let state = Mutex(State())

    init(_ frames: [[UInt8]], rate: Double, camera: ScriptedDevice, source: DeviceSource) {
        self.frames = frames
        interval = UInt64(1e9 / rate)
        self.camera = camera
        self.source = source
    }

    /// CLOCK_MONOTONIC, nanoseconds, of each frame that a buffer was there for.
    var delivered: [UInt64] { state.withLock { $0.delivered } }
    /// Frames without a buffer.
    var refused: Int { state.withLock { $0.refused } }

    func start() {
        Thread.detachNewThread { self.run() }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() {
        while !isStopped, !show(0) { usleep(1000) }
        while !isStopped, source.capture.ownDurations.count == 0 { usleep(1000) }
        var due = Self.now + interval
        var number = 1
        while !isStopped {
            Self.sleep(until: due)
            if !show(number) { state.withLock { $0.refused += 1 } }
            number += 1
            due += interval
        }
    }

    private func show(_ number: Int) -> Bool {
        let now = Self.now
        let content = frames[number % frames.count]
        let frame = ScriptedDevice.Frame(
            sequence: UInt32(truncatingIfNeeded: number), timestamp: now, bytesUsed: content.count, content: content)
        guard camera.deliver(frame) else { return false }
        state.withLock { $0.delivered.append(now) }
        return true
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func sleep(until instant: UInt64) {
        var time = timespec(tv_sec: Int(instant / 1_000_000_000), tv_nsec: Int(instant % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

/// A file of JPEG images one after the other, as `ffmpeg -f mjpeg` writes it.
enum JPEGFile {
    static func frames(in bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var begin: Int?
        var position = 0
        while position + 1 < bytes.count {
            if bytes[position] == 0xFF, bytes[position + 1] == 0xD8 { begin = position }
            if bytes[position] == 0xFF, bytes[position + 1] == 0xD9, let start = begin {
                frames.append(Array(bytes[start..<(position + 2)]))
                begin = nil
            }
            position += 1
        }
        return frames
    }
}
