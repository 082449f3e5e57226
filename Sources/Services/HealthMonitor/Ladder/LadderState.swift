/// What the ladder must not forget: which steps were taken, and when.
///
/// "When" is the box's age: seconds in which it ran, over all boots. It needs no clock that somebody set, never goes
/// back, and does not run while the box is off: a budget is neither refilled nor locked by a clock that jumps.
struct LadderState: Codable, Equatable, Sendable {
    struct Use: Codable, Equatable, Sendable {
        /// Seconds.
        var age: UInt64
        /// Seconds since 1970 by the clock of that moment; for people only.
        var time: Int64
        /// The camera or interface; `*` stands for each of them.
        var object: String
    }

    /// A reboot that this ladder ordered.
    struct Reboot: Codable, Equatable, Sendable {
        /// The boot that it ended.
        var boot: String
        var reason: String
        var time: Int64
    }

    /// How the boot before this one ended.
    enum LastEnd: Codable, Equatable, Sendable {
        /// Nothing is known of it.
        case unknown
        /// Somebody shut it down or rebooted it.
        case orderly
        /// We did.
        case ladder(reason: String)
        /// It just ended: power, a crash of the kernel, the watchdog.
        case sudden
    }

    static let currentSchema = "watchbox.ladder/1"
    /// A hundred years: an age beyond it is damage.
    private static let oldest: UInt64 = 100 * 366 * 86_400
    /// Per level; at most this many are needed for the counts of a day.
    static let maxUses = 512

    var schema = LadderState.currentSchema
    var uses: [LadderLevel: [Use]] = [:]
    /// Ever.
    var totals: [LadderLevel: UInt64] = [:]
    /// This boot, by the kernel's own random id; empty where it has none.
    private(set) var boot = ""
    /// Below 0 when this boot was begun to be counted late.
    private(set) var ageAtBoot: Int64 = 0
    /// At the last save.
    private(set) var age: UInt64 = 0
    private(set) var lastReboot: Reboot?
    private(set) var endedOrderly = false
    private(set) var lastEnd = LastEnd.unknown

    init() {}

    /// For a record that is lost: every step above L1 counts as used up at this moment, so that none is taken too
    /// often. They come back with time.
    mutating func exhaust() {
        for level in LadderLevel.allCases where level != .restartCamera {
            let count = level.budgets.map(\.allowed).max() ?? 0
            uses[level] = Array(repeating: Use(age: age, time: 0, object: "*"), count: count)
        }
    }

    /// The monitor starts, in this boot.
    ///
    /// - Parameter uptime: seconds since boot.
    mutating func begin(boot id: String, uptime: UInt64) {
        if id.isEmpty {
            // No way to tell boots apart: the age goes on from where it was.
            ageAtBoot = Int64(age) - Int64(clamping: uptime)
        } else if id != boot {
            if !boot.isEmpty {
                lastEnd =
                    lastReboot.flatMap { $0.boot == boot ? .ladder(reason: $0.reason) : nil }
                    ?? (endedOrderly ? .orderly : .sudden)
            }
            boot = id
            ageAtBoot = Int64(age)
        }
        endedOrderly = false
        advance(uptime: uptime)
    }

    /// - Returns: the box's age now.
    @discardableResult
    mutating func advance(uptime: UInt64) -> UInt64 {
        age = max(age, UInt64(max(ageAtBoot + Int64(min(uptime, Self.oldest)), 0)))
        for (level, list) in uses {
            // In the order of their ages.
            guard let first = list.first, age - min(first.age, age) > 86_400 else { continue }
            uses[level] = list.filter { age - min($0.age, age) <= 86_400 }
        }
        return age
    }

    /// The monitor ends because somebody asked it to.
    mutating func endOrderly() { endedOrderly = true }

    mutating func add(_ level: LadderLevel, object: String, time: Int64) {
        uses[level, default: []].append(Use(age: age, time: time, object: object))
        if let count = uses[level]?.count, count > Self.maxUses { uses[level]?.removeFirst(count - Self.maxUses) }
        totals[level, default: 0] &+= 1
    }

    mutating func addReboot(reason: String, time: Int64) {
        add(.reboot, object: "box", time: time)
        lastReboot = Reboot(boot: boot, reason: reason, time: time)
    }

    /// Newest first.
    func uses(of level: LadderLevel, object: String?, within seconds: UInt64) -> [Use] {
        var found: [Use] = []
        for use in (uses[level] ?? []).reversed() {
            guard age - min(use.age, age) < seconds else { break }
            if !level.isPerObject || object == nil || use.object == object || use.object == "*" { found.append(use) }
        }
        return found
    }

    func hasRoom(_ level: LadderLevel, object: String) -> Bool {
        level.budgets.allSatisfy { uses(of: level, object: object, within: $0.seconds).count < $0.allowed }
    }

    /// In the last 24 h of running time, by level.
    var recoveries: [String: Int] {
        var counts: [String: Int] = [:]
        for level in LadderLevel.allCases {
            let count = uses(of: level, object: nil, within: 86_400).count { $0.object != "*" }
            if count > 0 { counts[level.rawValue] = count }
        }
        return counts
    }

    /// False when this program cannot have written it.
    var isValid: Bool {
        schema == Self.currentSchema && age < Self.oldest && ageAtBoot.magnitude < Self.oldest
            && ageAtBoot <= Int64(age) && boot.utf8.count <= 64
            && uses.values.allSatisfy { list in
                list.count <= Self.maxUses && list.allSatisfy { $0.age <= age && $0.object.utf8.count <= 64 }
                    && zip(list, list.dropFirst()).allSatisfy { $0.age <= $1.age }
            }
            && (lastReboot?.reason.utf8.count ?? 0) <= 512
    }
}
