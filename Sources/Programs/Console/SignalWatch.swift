@preconcurrency internal import Dispatch
internal import Glibc
internal import Synchronization

/// Calls back on the first SIGINT, SIGTERM or SIGHUP (a terminal that goes away) instead of ending the process, so that outputs are completed.
/// Whoever sends another does not want to wait for that: it ends the process at once, with the shell's status for it.
public final class SignalWatch: Sendable {
    private final class Record: Sendable {
        let isSignalled = Atomic(false)
    }

    private let record: Record
    private let sources: [any DispatchSourceSignal]
    /// Those that it takes: not SIGHUP where that is ignored already, as nohup(1) has it.
    public let numbers: [CInt]

    public init(_ received: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "watchbox.signals")
        let record = Record()
        self.record = record
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { number in
            var former = sigaction()
            guard number == SIGHUP, sigaction(number, nil, &former) == 0 else { return true }
            return unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self)
                != unsafeBitCast(SIG_IGN, to: Int.self)
        }
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if record.isSignalled.exchange(true, ordering: .relaxed) { _exit(128 + number) }
                received()
            }
            source.resume()
            return source
        }
    }

    /// The process was asked to end.
    public var isSignalled: Bool { record.isSignalled.load(ordering: .relaxed) }

    public func cancel() {
        for source in sources { source.cancel() }
    }
}
