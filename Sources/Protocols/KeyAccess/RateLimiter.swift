/// Token buckets, one per key (a subject or an address), in bounded memory.
///
/// When the table is full, buckets that have refilled are dropped: forgetting them changes nothing. If none has, new
/// keys share one bucket, so that a flood of addresses can crowd out newcomers but never those already known.
public struct RateLimiter: Sendable {
    /// Requests per second, in the long run.
    public let rate: Double
    /// Requests at once after a pause.
    public let burst: Double
    public let capacity: Int

    private struct Bucket {
        var tokens: Double
        /// Nanoseconds of the caller's monotonic clock.
        var filledAt: UInt64
    }

    private var buckets: [String: Bucket] = [:]
    private var overflow: Bucket?
    /// The earliest instant at which another sweep of the full table is worth its time.
    private var nextSweep: UInt64 = 0

    public init(rate: Double, burst: Double, capacity: Int = 8192) {
        precondition(rate > 0 && burst >= 1 && capacity > 0)
        self.rate = rate
        self.burst = burst
        self.capacity = capacity
    }

    public var count: Int { buckets.count }

    /// Takes one token of `key`'s bucket; false when there is none.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    public mutating func allows(_ key: String, at now: UInt64) -> Bool {
        if buckets[key] == nil, buckets.count >= capacity {
            sweep(at: now)
            if buckets.count >= capacity {
                var bucket = overflow ?? Bucket(tokens: burst, filledAt: now)
                defer { overflow = bucket }
                return Self.take(&bucket, rate: rate, burst: burst, at: now)
            }
        }
        return Self.take(
            &buckets[key, default: Bucket(tokens: burst, filledAt: now)], rate: rate, burst: burst, at: now)
    }

    /// Static: a method would hold this value, and with it the table, which would be copied to be changed.
    private static func take(_ bucket: inout Bucket, rate: Double, burst: Double, at now: UInt64) -> Bool {
        bucket.tokens = level(bucket, rate: rate, burst: burst, at: now)
        bucket.filledAt = max(now, bucket.filledAt)
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    private static func level(_ bucket: Bucket, rate: Double, burst: Double, at now: UInt64) -> Double {
        let elapsed = now > bucket.filledAt ? Double(now - bucket.filledAt) / 1e9 : 0
        return min(burst, bucket.tokens + elapsed * rate)
    }

    /// At most once a second: a sweep costs as much as the table is long.
    private mutating func sweep(at now: UInt64) {
        guard now >= nextSweep else { return }
        nextSweep = now.addingReportingOverflow(1_000_000_000).partialValue
        buckets = buckets.filter { Self.level($0.value, rate: rate, burst: burst, at: now) < burst }
    }
}
