internal import Platform
internal import Synchronization
internal import Systemd

/// Whether the kernel's clock follows a time server.
struct ClockReading: Equatable, Sendable {
    /// Nil when nobody says so.
    var isSynchronised: Bool?
    /// Who said so, or why nobody does.
    var source: String
    var instant: HealthInstant
}

/// Asks whether the clock follows a time server. The kernel, where this process may (`ProtectClock=` refuses adjtimex even for
/// reading); else systemd-timedated, which may: it is started for the question, so it is asked seldom. Both see what any
/// time service did, timesyncd, chrony or ntpsec, and that it stopped: without corrections the kernel's estimate of the
/// error grows by half a millisecond a second, and from 16 s on, nine hours later, the clock does not count as set.
final class ClockAsker: Sendable {
    private struct Answer {
        var isSynchronised: Bool?
        var source: String
        var at: HealthInstant
    }

    private let control: (any ClockControl)?
    private let askKernel: @Sendable () -> Bool?
    private let last = Mutex<Answer?>(nil)

    /// Seconds for which an answer of systemd-timedated holds.
    static let lifetime = 300.0
    /// The same for an answer that is not reassuring.
    static let shortLifetime = 60.0

    /// - Parameters:
    ///   - control: nil: nobody but the kernel can be asked.
    ///   - askKernel: the kernel's answer, nil where it is refused.
    init(
        _ control: (any ClockControl)?,
        askKernel: @escaping @Sendable () -> Bool? = { ClockSynchronisation.isSynchronised }
    ) {
        self.control = control
        self.askKernel = askKernel
    }

    func read(_ clock: any HealthClock) async -> ClockReading {
        if let isSynchronised = askKernel() {
            return ClockReading(isSynchronised: isSynchronised, source: "the kernel (adjtimex)", instant: clock.now())
        }
        let answer = await answer(at: clock.now())
        // The moment of this look, not of the answer: the clock may have been set meanwhile.
        return ClockReading(isSynchronised: answer.isSynchronised, source: answer.source, instant: clock.now())
    }

    private func answer(at now: HealthInstant) async -> Answer {
        if let last = last.withLock({ $0 }),
            now.seconds(since: last.at.uptime) < (last.isSynchronised == true ? Self.lifetime : Self.shortLifetime)
        {
            return last
        }
        var answer = Answer(isSynchronised: nil, source: "adjtimex is refused to this unit", at: now)
        if let control {
            do throws(SystemdError) {
                answer.isSynchronised = try await control.isClockSynchronised()
                answer.source = "systemd-timedated"
            } catch {
                answer.source += ", and systemd-timedated does not report it: \(error)"
            }
        }
        last.withLock { $0 = answer }
        return answer
    }
}
