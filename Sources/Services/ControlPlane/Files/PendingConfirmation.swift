/// A change that is taken back unless somebody confirms it. On disk, so that neither a restart of control nor a reboot
/// keeps a change that cut everybody off.
struct PendingConfirmation: Codable, Equatable, Sendable {
    /// The generation that waits.
    var generation: Int
    /// The one to go back to.
    var before: Int
    var bootIdentifier: String
    /// Seconds by `CLOCK_BOOTTIME`, which goes by no wall clock.
    var deadline: Double

    enum Verdict: Equatable {
        case wait(Duration)
        case takeBack
        /// It was confirmed or taken back: nothing else changes while one waits. Only its note is left.
        case settled
    }

    /// After a reboot it is taken back: the clock began again, and the reboot may have been somebody's way to get back
    /// in.
    func verdict(now: Duration, bootIdentifier: String, currentGeneration: Int) -> Verdict {
        if currentGeneration > generation { return .settled }
        guard bootIdentifier == self.bootIdentifier, generation == currentGeneration else { return .takeBack }
        let left = Duration.seconds(deadline) - now
        return left > .zero ? .wait(left) : .takeBack
    }
}
