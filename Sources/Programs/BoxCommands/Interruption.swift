import Console
import Glibc

/// Ctrl-C while the daemon works for this command: the daemon's job is ended first. The second one ends the command at
/// once.
struct Interruption {
    private let signals = SignalWatch {}

    var isThere: Bool { signals.isSignalled }

    /// From here on Ctrl-C ends the command, as before.
    func end() {
        signals.cancel()
        for number in signals.numbers { signal(number, SIG_DFL) }
    }
}
