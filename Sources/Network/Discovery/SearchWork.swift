internal import Glibc
internal import Logging
internal import ONVIF
internal import Platform

/// The work of one search, on its thread.
final class SearchWork {
    private let plan: SearchPlan
    private let wakeup: Wakeup
    private let logger: Logger
    private let progress: @Sendable (SearchProgress) -> Void
    private let probing: MulticastProbing
    private let scan: PortScan
    private var findings = SearchFindings()
    private var schedule: ProbeSchedule
    private let begin: UInt64
    /// When no answer to a Probe is waited for any more.
    private var listenEnd: UInt64
    private var end: SearchEnd
    private var hasChanged = false
    /// As it was reported last.
    private var devices: [FoundDevice] = []
    private var lastReport: UInt64 = 0

    /// A device may wait 500 ms before it answers (APP_MAX_DELAY), to a Probe to its own address as well.
    private static let singleListening: UInt64 = 1_500_000_000

    init(
        _ plan: SearchPlan, wakeup: Wakeup, logger: Logger, progress: @escaping @Sendable (SearchProgress) -> Void
    ) {
        self.plan = plan
        self.wakeup = wakeup
        self.logger = logger
        self.progress = progress
        begin = Clocks.monotonic
        schedule = ProbeSchedule(
            begin: begin, spacing: .random(in: 130_000_000...300_000_000),
            listening: MonotonicTime.nanoseconds(plan.options.timeout))
        end = SearchEnd(
            connectTime: MonotonicTime.nanoseconds(plan.options.connectTimeout),
            answerTime: MonotonicTime.nanoseconds(plan.options.answerTimeout))
        listenEnd = plan.probes.isEmpty ? begin : schedule.end
        probing = MulticastProbing(plan, asksSingleAddresses: !plan.options.ranges.isEmpty, logger: logger)
        scan = PortScan(plan)
    }

    func run() -> [FoundDevice] {
        var now = begin
        while !wakeup.isStopped {
            if !plan.probes.isEmpty { for types in schedule.due(at: now) { probing.send(types) } }
            scan.fill(at: now) { address in
                probing.ask(address)
                listenEnd = max(listenEnd, now + Self.singleListening)
            }
            if isDone(at: now) { break }
            let ready = wait(from: now)
            now = Clocks.monotonic
            for result in scan.advance(ready: ready, at: now) { take(result) }
            for answer in probing.receive() { take(answer) }
            report(at: now)
        }
        report(at: Clocks.monotonic, isLast: true)
        return devices
    }

    private func isDone(at now: UInt64) -> Bool {
        end.isDone(at: now, listenEnd: listenEnd, isScanning: scan.isScanning, isIdle: scan.isIdle)
    }

    /// Descriptors of the scan on which something happened.
    private func wait(from now: UInt64) -> [Int32] {
        var waits = [pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)]
        waits += probing.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let others = waits.count
        waits += scan.waits
        var until = lastReport + reportPause
        if !plan.probes.isEmpty, schedule.next > now { until = min(until, schedule.next) }
        if listenEnd > now { until = min(until, listenEnd) }
        if let deadline = scan.nextDeadline { until = min(until, deadline) }
        if scan.hasRoom { until = now }
        guard poll(&waits, nfds_t(waits.count), wakeup.milliseconds(until: until, from: now)) > 0 else { return [] }
        return waits[others...].filter { $0.revents != 0 }.map(\.fd)
    }

    private func take(_ answer: MulticastProbing.Answer) {
        let heard = findings.heard(answer.target, network: answer.network)
        hasChanged = hasChanged || heard.hasChanged
        guard heard.isNew, plan.options.asksDevices else { return }
        // Only there where the answer came from: a device could name somebody else's address, and have us ask there.
        for text in answer.target.addresses {
            guard let address = DiscoveryAddress(text), !address.isSecure, address.host == answer.target.source,
                let socketAddress = SocketAddress(text: address.host, port: address.port)
            else { continue }
            scan.ask(ScanTarget(address: socketAddress, question: .information(path: address.path)))
            return
        }
    }

    private func take(_ result: PortScan.Result) {
        let address = result.target.address
        switch result.verdict {
        case .undecided, .other: return
        case .rtsp(let status):
            hasChanged = true
            guard findings.answeredRTSP(address, status: status), plan.options.asksDevices,
                !findings.isAnnounced(address.host)
            else { return }
            for port in plan.options.onvifPorts {
                scan.ask(ScanTarget(address: SocketAddress(address.family, port: port), question: .onvif))
            }
        case .onvif:
            guard findings.answeredONVIF(address) else { return }
            hasChanged = true
            scan.ask(
                ScanTarget(address: address, question: .information(path: DiscoveryAddress.standardPath)))
        case .information(let facts):
            hasChanged = true
            findings.answered(address, facts: facts, needsLogin: false)
        case .loginNeeded:
            hasChanged = true
            findings.answered(address, facts: nil, needsLogin: true)
        }
    }

    private var reportPause: UInt64 { ReportPause.nanoseconds(hasChanged: hasChanged, devices: findings.count) }

    private func report(at now: UInt64, isLast: Bool = false) {
        guard isLast || now >= lastReport + reportPause else { return }
        lastReport = now
        if hasChanged { devices = findings.devices }
        hasChanged = false
        var state = SearchProgress()
        state.found = devices
        state.probed = scan.probed
        state.total = scan.total
        state.elapsed = .nanoseconds(Int64(clamping: now - begin))
        var problems = plan.problems + probing.problems + scan.problems
        if findings.collection.overflow > 0 {
            problems.append("more than \(DiscoveryCollection.limit) devices answered; the others are not listed")
        }
        state.problems = Array(problems.prefix(16))
        progress(state)
    }
}
