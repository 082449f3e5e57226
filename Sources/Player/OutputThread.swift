internal import Media
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The thread that writes: disks and pipes may block it, the stream is not held up, and what waits is bounded.
///
/// `@unchecked Sendable`: the sinks and `failure` are touched on `loop` alone.
final class OutputThread: @unchecked Sendable {
    struct Backlog {
        var bytes = 0
        var dropped: UInt64 = 0
        /// After a loss, video waits for a picture that a decoder can begin with.
        var needsKeyFrame = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private var sinks: [any MediaSink]
    private let recorder: RelayRecorder?
    private let limit: Int
    private let backlog = Mutex(Backlog())
    private var failure: ViewerError?
    private let ended: @Sendable (ViewerError?) -> Void

    /// - Parameter ended: called on the output thread when an output failed, or when none wants anything more.
    init(
        sinks: sending [any MediaSink], recorder: RelayRecorder?, limit: Int,
        ended: @escaping @Sendable (ViewerError?) -> Void
    ) {
        self.sinks = sinks
        self.recorder = recorder
        self.limit = limit
        self.ended = ended
        loop = group.next()
    }

    var droppedUnits: UInt64 { backlog.withLock { $0.dropped } }

    func deliver(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) {
        let size = admit(event)
        guard let size else { return }
        loop.execute {
            self.backlog.withLock { $0.bytes -= size }
            guard self.failure == nil else { return }
            do throws(ViewerError) {
                for sink in self.sinks { try sink.consume(event, provenance) }
                if !self.sinks.isEmpty, self.sinks.allSatisfy(\.isSatisfied) { self.ended(nil) }
            } catch {
                self.fail(error)
            }
        }
    }

    func record(type: UInt8, timestamp: UInt32, body: [UInt8]) {
        guard recorder != nil else { return }
        let isRoom = backlog.withLock { backlog in
            guard backlog.bytes + body.count <= limit else {
                backlog.dropped += 1
                return false
            }
            backlog.bytes += body.count
            return true
        }
        guard isRoom else { return }
        loop.execute {
            self.backlog.withLock { $0.bytes -= body.count }
            guard self.failure == nil else { return }
            do throws(ViewerError) {
                try self.recorder?.write(type: type, timestamp: timestamp, body: body)
            } catch {
                self.fail(error)
            }
        }
    }

    /// Completes every output; the first error of all.
    func finish() async throws(ViewerError) {
        let error: ViewerError? =
            (try? await loop.submit { () -> ViewerError? in
                for sink in self.sinks {
                    do throws(ViewerError) { try sink.finish() } catch { self.failure = self.failure ?? error }
                }
                self.sinks = []
                return self.failure
            }.get()) ?? nil
        try? await group.shutdownGracefully()
        if let error { throw error }
    }

    private func admit(_ event: MediaEvent) -> Int? {
        guard case .accessUnit(let unit) = event else { return 0 }
        return backlog.withLock { backlog in
            guard backlog.bytes + unit.data.count <= limit else {
                backlog.dropped += 1
                if unit.track.isVideo { backlog.needsKeyFrame = true }
                return nil
            }
            if unit.track.isVideo, backlog.needsKeyFrame {
                guard unit.isKeyFrame else {
                    backlog.dropped += 1
                    return nil
                }
                backlog.needsKeyFrame = false
            }
            backlog.bytes += unit.data.count
            return unit.data.count
        }
    }

    private func fail(_ error: ViewerError) {
        failure = error
        ended(error)
    }
}
