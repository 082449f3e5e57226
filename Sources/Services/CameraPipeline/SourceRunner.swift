internal import Media
internal import NIOPosix
internal import Synchronization

/// Runs a media source on a thread of its own: it may block, and the cooperative pool has one thread per core.
final class SourceRunner: Sendable {
    private enum State {
        case idle
        case running
        case ended(MediaSourceError?)
    }

    let source: any MediaSource
    let tap = KeyFrameTap()
    private let channel: FrameChannel
    private let observers: [any FrameObserver]
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State.idle)

    /// - Parameter observer: nil: nobody else.
    init(_ source: any MediaSource, into channel: FrameChannel, observer: (any FrameObserver)? = nil) {
        self.source = source
        self.channel = channel
        observers = [tap] + (observer.map { [$0] } ?? [])
    }

    /// Begins, once; further calls do nothing.
    /// - Parameter wake: the queue has something, or will never have anything again; from the source's thread.
    func start(wake: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            guard case .idle = state else { return false }
            state = .running
            return true
        }
        guard begins else { return }
        thread.start()
        thread.submit { phase in
            let failure = phase == .active ? self.run(wake: wake) : nil
            self.state.withLock { $0 = .ended(failure) }
            self.channel.sourceEnded()
            for observer in self.observers { observer.ended() }
            wake()
        }
    }

    private func run(wake: @escaping @Sendable () -> Void) -> MediaSourceError? {
        let source = source
        let channel = channel
        let observers = observers
        do throws(MediaSourceError) {
            // A source with audio may call from two threads; everything here can bear that.
            try source.run { event in
                for observer in observers { observer.observed(event) }
                let offered = channel.offer(event)
                if offered.requestKeyFrame { source.requestKeyFrame() }
                if offered.wake { wake() }
            }
            return nil
        } catch {
            return error
        }
    }

    func published(_ isLive: Bool, from instant: UInt64) {
        for observer in observers { observer.published(isLive, from: instant) }
    }

    /// Why the source ended before its time.
    var failure: MediaSourceError? {
        state.withLock { state in
            if case .ended(let failure) = state { failure } else { nil }
        }
    }

    /// Ends the source, and its thread with it.
    func stop() async {
        source.stop()
        channel.abandon()
        let wasStarted = state.withLock { state in
            if case .idle = state {
                state = .ended(nil)
                return false
            }
            return true
        }
        guard wasStarted else { return observers.forEach { $0.ended() } }
        try? await thread.shutdownGracefully()
    }
}
