/// Items that came before their key, in order of arrival; bounded in number, bytes and time.
struct HoldQueue<Context: Sendable>: Sendable {
    enum Content: Sendable {
        /// A whole container item. `opensLeft` bounds what it may still cost; `wasTried` decides how it is counted when
        /// it is given up: no key for it, or keys that all refused it.
        case sealed([UInt8], opensLeft: Int, wasTried: Bool)
        /// Opened, but an item before it may still come: order is kept.
        case opened(OpenedItem<Context>, sequence: UInt64)
    }

    struct Entry: Sendable {
        var content: Content
        let medium: ItemMedium
        let context: Context
        let arrivedAt: UInt64
        let byteCount: Int
    }

    private(set) var entries: [Entry] = []
    private var byteCount = 0
    private let limits: HoldLimits

    init(limits: HoldLimits) {
        self.limits = limits
    }

    var isEmpty: Bool { entries.isEmpty }

    var nextDeadline: UInt64? { entries.first?.arrivedAt.saturatingAdd(limits.duration) }

    /// Whether `count` more bytes fit as one more item.
    func admits(_ count: Int) -> Bool {
        entries.count < limits.items && byteCount <= limits.bytes - count
    }

    mutating func append(_ entry: Entry) {
        byteCount += entry.byteCount
        entries.append(entry)
    }

    mutating func removeFirst() -> Entry {
        byteCount -= entries[0].byteCount
        return entries.removeFirst()
    }

    mutating func replaceAll(_ entries: [Entry]) {
        self.entries = entries
        byteCount = entries.reduce(0) { $0 + $1.byteCount }
    }

    mutating func replaceContent(at index: Int, by content: Content) {
        entries[index].content = content
    }

    func isExpired(_ entry: Entry, at now: UInt64) -> Bool {
        now >= entry.arrivedAt.saturatingAdd(limits.duration)
    }
}

/// How much may wait for a key. An entry is given up when its time is over; what doesn't fit is dropped on arrival.
public struct HoldLimits: Equatable, Sendable {
    public var items: Int
    /// Nanoseconds.
    public var duration: UInt64
    public var bytes: Int

    /// 32 items, 500 ms, 8 MiB: for a header that is just behind its first items. A viewer that waits for a KAS needs
    /// more.
    public init(items: Int = 32, duration: UInt64 = 500_000_000, bytes: Int = 8 << 20) {
        self.items = items
        self.duration = duration
        self.bytes = bytes
    }
}
