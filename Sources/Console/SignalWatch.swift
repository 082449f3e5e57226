@preconcurrency internal import Dispatch
internal import Glibc

/// Calls back on SIGINT and SIGTERM instead of ending the process at once, so that outputs are completed.
public final class SignalWatch: Sendable {
    private let sources: [any DispatchSourceSignal]

    public init(_ received: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "watchbox.signals")
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: received)
            source.resume()
            return source
        }
    }

    public func cancel() {
        for source in sources { source.cancel() }
    }
}
