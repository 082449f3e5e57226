internal import Glibc
internal import Logging
internal import Platform

/// The connections of a search, as many at a time as its options allow. Used by one thread.
final class PortScan {
    struct Result: Equatable {
        var target: ScanTarget
        var verdict: DeviceQuestion.Verdict
    }

    /// Questions to devices that were found which may wait; the others are not asked.
    static let waitingLimit = 8192

    private var order: ScanOrder
    /// Asked before the scan goes on.
    private var waiting: [ScanTarget] = []
    private var waitingHead = 0
    private var connections: [Int32: ScanConnection] = [:]
    /// At most `limit`; less while the system gives no more.
    private var concurrency: Int
    private let limit: Int
    private let begin: (ScanTarget, UInt64) -> ScanConnection.Start
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    /// Pairs of the scan that are done.
    private(set) var probed = 0
    private var reasons: Set<Int32> = []
    private(set) var problems: [String] = []

    convenience init(_ plan: SearchPlan) {
        let connectTime = MonotonicTime.nanoseconds(plan.options.connectTimeout)
        let answerTime = MonotonicTime.nanoseconds(plan.options.answerTimeout)
        self.init(plan) { target, now in
            ScanConnection.start(target, at: now, connectTime: connectTime, answerTime: answerTime)
        }
    }

    /// - Parameter begin: begins one connection at a time.
    init(_ plan: SearchPlan, begin: @escaping (ScanTarget, UInt64) -> ScanConnection.Start) {
        self.begin = begin
        order = ScanOrder(ranges: plan.options.ranges, ports: plan.options.ports)
        limit = plan.options.concurrency
        concurrency = limit
    }

    var total: Int { order.total }
    var isScanning: Bool { probed < total }
    var isIdle: Bool { connections.isEmpty && waitingHead == waiting.count && !isScanning }

    /// `fill` would begin more at once.
    var hasRoom: Bool { connections.count < concurrency && (!order.isExhausted || waitingHead < waiting.count) }

    func ask(_ target: ScanTarget) {
        guard waiting.count - waitingHead < Self.waitingLimit else { return }
        waiting.append(target)
    }

    /// Begins what there is room for.
    ///
    /// - Parameter first: an address of the scan comes for the first time.
    func fill(at now: UInt64, first: (SocketAddress) -> Void) {
        // No more than a few rounds at once, so that answers are read in between.
        var begun = 0
        while connections.count < concurrency, begun < 256 {
            begun += 1
            if waitingHead < waiting.count {
                let target = waiting[waitingHead]
                guard start(target, at: now) else { return }
                waitingHead += 1
                if waitingHead == waiting.count {
                    waiting = []
                    waitingHead = 0
                }
                continue
            }
            var next = order
            guard let pair = next.next() else { return }
            guard start(ScanTarget(address: pair.address, question: .rtsp), at: now) else { return }
            if pair.isFirst { first(pair.address) }
            order = next
        }
    }

    /// False when it must be tried again later.
    private func start(_ target: ScanTarget, at now: UInt64) -> Bool {
        switch begin(target, now) {
        case .connection(let connection): connections[connection.descriptor] = connection
        case .closed: count(target)
        case .failed(let errno):
            // No descriptors, ports or memory just now: fewer at a time, as long as there are any.
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRNOTAVAIL].contains(errno), !connections.isEmpty {
                concurrency = max(1, connections.count)
                return false
            }
            note(errno, at: target)
            count(target)
        }
        return true
    }

    private func note(_ errno: Int32, at target: ScanTarget) {
        guard reasons.count < 8, reasons.insert(errno).inserted else { return }
        problems.append("\(target.address.host) and perhaps others were not asked: \(SystemMessage.text(errno))")
    }

    private func count(_ target: ScanTarget) {
        if target.question == .rtsp { probed += 1 }
    }

    /// What to wait for, and until when at most.
    var waits: [pollfd] {
        connections.values.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    }

    var nextDeadline: UInt64? { connections.values.map(\.deadline).min() }

    /// - Parameter ready: descriptors on which something happened.
    func advance(ready: [Int32], at now: UInt64) -> [Result] {
        var results: [Result] = []
        for descriptor in ready {
            guard let connection = connections[descriptor] else { continue }
            settle(connection, connection.ready(at: now, buffer: &buffer), &results)
        }
        for connection in connections.values.filter({ $0.deadline <= now }) {
            settle(connection, connection.expired(), &results)
        }
        return results
    }

    private func settle(_ connection: ScanConnection, _ outcome: ScanConnection.Outcome, _ results: inout [Result]) {
        switch outcome {
        case .pending: return
        case .closed: break
        case .answered(let verdict): results.append(Result(target: connection.target, verdict: verdict))
        }
        connections[connection.descriptor] = nil
        count(connection.target)
        // What the system lacked may be there again: one more is tried with each that is done.
        concurrency = min(limit, concurrency + 1)
    }
}
