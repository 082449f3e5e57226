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
        var ignored: UInt64 = 0
        /// After a loss, video waits for a frame that a decoder can begin with.
        var needsKeyFrame = false
        /// Formats that there was no room for, the newest of each track: they go in front of the next unit.
        var owedVideoFormat: MediaEvent?
        var owedAudioFormat: MediaEvent?
    }

    /// What an entry costs besides its bytes: closures, arrays and provenance, generously.
    static let overhead = 256

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let loop: any EventLoop
    private var sinks: [any MediaSink]
    private let recorder: RelayRecorder?
    private let limit: Int
    private let backlog = Mutex(Backlog())
    private var failure: ViewerError?
    private let abandonments: [@Sendable () -> Void]
    private let ended: @Sendable (ViewerError?) -> Void

    /// - Parameter ended: called on the output thread when an output failed, or when none wants anything more.
    init(
        sinks: sending [any MediaSink], recorder: RelayRecorder?, limit: Int,
        ended: @escaping @Sendable (ViewerError?) -> Void
    ) {
        abandonments = sinks.map(\.abandon) + (recorder.map { [$0.abandon] } ?? [])
        self.sinks = sinks
        self.recorder = recorder
        self.limit = limit
        self.ended = ended
        loop = group.next()
    }

    var droppedUnits: UInt64 { backlog.withLock { $0.dropped } }
    var ignoredUnits: UInt64 { backlog.withLock { $0.ignored } }

    /// The end has come: readers that take nothing are not waited for. From any thread.
    func abandon() {
        for abandon in abandonments { abandon() }
    }

    func deliver(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) {
        for (event, size) in admit(event) {
            loop.execute { self.consume(event, provenance, size) }
        }
    }

    private func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?, _ size: Int) {
        // Only afterwards: what a sink is blocked with is still there.
        defer { backlog.withLock { $0.bytes -= size } }
        guard failure == nil else { return }
        do throws(ViewerError) {
            for sink in sinks { try sink.consume(event, provenance) }
            let ignored = sinks.reduce(0) { $0 + $1.ignoredUnits }
            backlog.withLock { $0.ignored = ignored }
            if !sinks.isEmpty, sinks.allSatisfy(\.isSatisfied) { ended(nil) }
        } catch {
            fail(error)
        }
    }

    func record(type: UInt8, timestamp: UInt32, body: [UInt8]) {
        guard recorder != nil else { return }
        let size = body.count + Self.overhead
        let isRoom = backlog.withLock { backlog in
            guard backlog.bytes + size <= limit else {
                backlog.dropped += 1
                return false
            }
            backlog.bytes += size
            return true
        }
        guard isRoom else { return }
        loop.execute {
            defer { self.backlog.withLock { $0.bytes -= size } }
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
        abandon()
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

    /// What goes to the outputs now, each with what it is charged.
    private func admit(_ event: MediaEvent) -> [(MediaEvent, Int)] {
        backlog.withLock { backlog in
            let size = Self.charge(event)
            let isRoom = backlog.bytes + size <= limit
            switch event {
            case .videoFormat:
                backlog.owedVideoFormat = isRoom ? nil : event
                if !isRoom { backlog.needsKeyFrame = true }
            case .audioFormat: backlog.owedAudioFormat = isRoom ? nil : event
            case .accessUnit(let unit):
                let isOmitted = unit.track.isVideo && backlog.needsKeyFrame && !unit.isKeyFrame
                if !isRoom || isOmitted {
                    backlog.dropped += 1
                    if unit.track.isVideo { backlog.needsKeyFrame = true }
                    return []
                }
                if unit.track.isVideo { backlog.needsKeyFrame = false }
            }
            guard isRoom else { return [] }
            var admitted = [(event, size)]
            if case .accessUnit = event {
                admitted =
                    [backlog.owedVideoFormat, backlog.owedAudioFormat].compactMap(\.self).map { ($0, Self.charge($0)) }
                    + admitted
                (backlog.owedVideoFormat, backlog.owedAudioFormat) = (nil, nil)
            }
            for (_, size) in admitted { backlog.bytes += size }
            return admitted
        }
    }

    private static func charge(_ event: MediaEvent) -> Int {
        switch event {
        case .videoFormat(let format): format.configurationRecord.count + overhead
        case .audioFormat(let format): format.audioSpecificConfig.count + overhead
        case .accessUnit(let unit): unit.data.count + overhead
        }
    }

    private func fail(_ error: ViewerError) {
        failure = error
        ended(error)
    }
}
