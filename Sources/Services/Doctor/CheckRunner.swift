public import ControlAPI
internal import Glibc
internal import Platform

/// Runs checks side by side, and waits for none of them longer than it is allowed.
public struct CheckRunner: Sendable {
    /// The most that one check may take. One that hangs is itself a finding.
    public var timeLimit: Duration
    /// Checks under way at the same time.
    public var width: Int

    public init(timeLimit: Duration = .seconds(15), width: Int = 8) {
        self.timeLimit = timeLimit
        self.width = max(1, width)
    }

    /// - Parameters:
    ///   - checks: in the order of the report.
    ///   - finished: called after each check, with how many are done.
    public func run(
        _ checks: [DoctorCheck] = DoctorCheck.all, in environment: Environment,
        finished: @escaping @Sendable (_ done: Int, _ check: String) -> Void = { _, _ in }
    ) async -> DoctorReport {
        let context = CheckContext(environment)
        let findings = await withTaskGroup(of: (Int, DoctorFinding).self) { group in
            var findings = [DoctorFinding?](repeating: nil, count: checks.count)
            var started = 0
            var done = 0
            func startNext() {
                guard started < checks.count else { return }
                let (index, check) = (started, checks[started])
                group.addTask { (index, await examine(check, context)) }
                started += 1
            }
            for _ in 0..<width { startNext() }
            while let (index, finding) = await group.next() {
                findings[index] = finding
                done += 1
                finished(done, finding.check)
                startNext()
            }
            return findings.compactMap(\.self)
        }
        return DoctorReport(
            time: Clocks.wallSeconds, version: environment.version, isOffline: environment.isOffline,
            findings: findings)
    }

    private func examine(_ check: DoctorCheck, _ context: CheckContext) async -> DoctorFinding {
        let begin = ContinuousClock.now
        let finding =
            await TimeLimit.within(timeLimit) { await check.examine(context) }
            ?? .fail(
                "it hangs: no answer within \((timeLimit.milliseconds / 1000).tenths) s",
                hint: "Look at the kernel's log: journalctl -k")
        return DoctorFinding(
            check: check.name, state: finding.state, evidence: finding.evidence, code: finding.code,
            hint: finding.hint, milliseconds: ((ContinuousClock.now - begin).milliseconds * 10).rounded() / 10)
    }
}
