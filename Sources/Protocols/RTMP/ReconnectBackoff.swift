/// When to connect again. A pure decision: time and chance are arguments.
///
/// Exponential with jitter, 0.5 s to 4 s: after however long an outage, a stream is back within 5 s of its relay. While an outage is young, and after streams that were up for less than the
/// 30 s that count as good, the delay stays small: a relay that restarts finds its publishers back within 2 s, and one
/// that is gone for long, or flaps, is not stormed.
public struct ReconnectBackoff: Sendable {
    public struct Configuration: Equatable, Sendable {
        /// Nanoseconds before the first retry (the jitter takes away up to half).
        public var first: UInt64 = 500_000_000
        /// Nanoseconds; the delay is never longer.
        public var longest: UInt64 = 4_000_000_000
        /// Nanoseconds that an outage counts as young for; its delays are at most `youngLongest`.
        public var youngOutage: UInt64 = 20_000_000_000
        public var youngLongest: UInt64 = 1_500_000_000
        /// Nanoseconds of streaming after which everything is forgotten.
        public var goodStream: UInt64 = 30_000_000_000
        /// Nanoseconds between attempts that an operator must help.
        public var authentication: UInt64 = 300_000_000_000

        public init() {}
    }

    private let configuration: Configuration
    /// Delays given since the last good stream.
    public private(set) var attempts = 0
    private var outageBegan: UInt64?
    private var streamBegan: UInt64?

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Publishing or playing was accepted.
    public mutating func streamStarted(at now: UInt64) {
        streamBegan = now
        outageBegan = nil
    }

    /// Nanoseconds to wait before the next attempt; nil when there is to be none.
    /// - Parameter random: any 64 random bits.
    public mutating func delay(after retry: RetryClass, at now: UInt64, random: UInt64) -> UInt64? {
        if let began = streamBegan, now >= began, now - began >= configuration.goodStream { attempts = 0 }
        streamBegan = nil
        let began = outageBegan ?? now
        outageBegan = began
        switch retry {
        case .never: return nil
        case .immediately: return 0
        case .authentication: return jittered(configuration.authentication, random: random)
        case .transient, .badName:
            var delay = min(configuration.first << UInt64(min(attempts, 16)), configuration.longest)
            if now < began || now - began < configuration.youngOutage {
                delay = min(delay, configuration.youngLongest)
            }
            attempts += 1
            return jittered(delay, random: random)
        }
    }

    /// Between half of `delay` and all of it: a thousand publishers of one relay come back one after the other.
    private func jittered(_ delay: UInt64, random: UInt64) -> UInt64 {
        let half = delay / 2
        return delay - (half == 0 ? 0 : random % (half + 1))
    }
}
