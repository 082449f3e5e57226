internal import Glibc

/// What to do about a stream that failed: decides, and does nothing itself.
///
/// Not `snd_pcm_recover`: that waits for a sleeping device without end, and leaves a capture stream stopped.
struct StreamRecovery {
    enum Action: Equatable {
        /// Nothing to read yet: look again after that time.
        case pause(milliseconds: Int)
        /// Prepare and start it.
        case restart
        /// Wake it, and say how that went.
        case resume
        case giveUp(Failure)
    }

    enum Failure: Equatable {
        case disconnected
        case faulty(call: String, errno: Int32)
        case silent(seconds: Int)
    }

    /// Times that samples were lost because they were not fetched.
    private(set) var overruns: UInt64 = 0
    /// Times that the stream was started again.
    private(set) var restarts: UInt64 = 0
    /// Without a sample in between.
    private var restartsInVain = 0
    /// Without a sample.
    private var silentMilliseconds = 0

    private static let maxRestarts = 5
    private static let maxSilence = 3000

    /// Samples came.
    mutating func delivered() {
        restartsInVain = 0
        silentMilliseconds = 0
    }

    /// `milliseconds` went by without a sample.
    mutating func waited(milliseconds: Int) -> Action {
        silentMilliseconds += milliseconds
        if silentMilliseconds >= Self.maxSilence {
            return .giveUp(.silent(seconds: Self.maxSilence / 1000))
        }
        return .pause(milliseconds: 0)
    }

    /// `call` said `number`, a positive errno.
    mutating func failed(_ call: String, _ number: Int32) -> Action {
        switch number {
        case EAGAIN, EINTR:
            // Also of a device that is not awake yet, and of plugins that wake readers too early.
            let pause = 10
            if case .giveUp(let failure) = waited(milliseconds: pause) { return .giveUp(failure) }
            return .pause(milliseconds: pause)
        case ENODEV, ENXIO, ESHUTDOWN, EBADF:
            return .giveUp(.disconnected)
        case ESTRPIPE where call != "snd_pcm_resume":
            return .resume
        case EPIPE:
            overruns += 1
            return restarted(call, number)
        default:
            return restarted(call, number)
        }
    }

    private mutating func restarted(_ call: String, _ number: Int32) -> Action {
        restartsInVain += 1
        guard restartsInVain <= Self.maxRestarts else { return .giveUp(.faulty(call: call, errno: number)) }
        restarts += 1
        return .restart
    }
}
