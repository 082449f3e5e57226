import Dispatch
import Media
import Synchronization

/// A source that delivers what the test says.
final class ScriptedSource: MediaSource {
    private let script: @Sendable (ScriptedSource, (MediaEvent) -> Void) -> MediaSourceError?
    private let state = Mutex((isStopped: false, keyFrameRequests: 0))
    private let bell = DispatchSemaphore(value: 0)

    init(_ script: @escaping @Sendable (ScriptedSource, (MediaEvent) -> Void) -> MediaSourceError?) {
        self.script = script
    }

    /// Delivers `events`, as fast as they are taken, and ends.
    convenience init(_ events: [MediaEvent]) {
        self.init { source, deliver in
            for event in events {
                if source.isStopped { break }
                deliver(event)
            }
            return nil
        }
    }

    /// A camera: every 4 ms a frame and an audio until it is stopped; key frames when asked for, and every 25
    /// frames. Each unit's bytes are its own.
    static func camera() -> ScriptedSource {
        ScriptedSource { source, deliver in
            deliver(.videoFormat(videoFormat))
            deliver(.audioFormat(audioFormat))
            var number: Int64 = 0
            while source.waits(milliseconds: 4) {
                let key = number % 25 == 0 || source.takeKeyFrameRequest()
                var unit = numbered(number, key: key)
                unit.captureInstant = DispatchTime.now().uptimeNanoseconds
                deliver(.accessUnit(unit))
                deliver(audio(number * 4 + 1))
                number += 1
            }
            return nil
        }
    }

    static func numbered(_ number: Int64, key: Bool) -> AccessUnit {
        var unit = videoUnit(number * 4, key: key, size: 300)
        for index in 0..<8 { unit.data[index] = UInt8(truncatingIfNeeded: number >> Int64(8 * index)) }
        return unit
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }
    var keyFrameRequests: Int { state.withLock { $0.keyFrameRequests } }

    /// False when it was stopped meanwhile.
    func waits(milliseconds: Int) -> Bool {
        _ = bell.wait(timeout: .now() + .milliseconds(milliseconds))
        return !isStopped
    }

    func takeKeyFrameRequest() -> Bool {
        state.withLock { state in
            defer { state.keyFrameRequests = 0 }
            return state.keyFrameRequests > 0
        }
    }

    func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        if let error = script(self, deliver) { throw error }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        bell.signal()
    }

    func requestKeyFrame() {
        state.withLock { $0.keyFrameRequests += 1 }
    }
}
