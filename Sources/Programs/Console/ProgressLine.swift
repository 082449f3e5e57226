internal import Glibc

/// Says on standard error what is going on: a line that redraws itself on a terminal, whole lines elsewhere.
public struct ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let begin = ContinuousClock.now

    public init() {}

    /// One finished step, with the time since the beginning.
    public func step(_ text: String) {
        StandardError.write(erase + "[\(elapsed)] \(text)\n")
    }

    /// What is being waited for; shown on a terminal only, and replaced by the next call.
    ///
    /// - Parameter fraction: 0…1 of the way; nil when that is unknown.
    public func update(_ text: String, fraction: Double? = nil) {
        guard isTerminal else { return }
        guard let fraction else {
            StandardError.write(erase + "[\(elapsed)] \(text)")
            return
        }
        let width = 30
        let filled = Int((min(max(fraction, 0), 1) * Double(width)).rounded())
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        StandardError.write(erase + "[\(elapsed)] \(bar) \(text)")
    }

    /// Takes the unfinished line off the terminal.
    public func clear() {
        if isTerminal { StandardError.write(erase) }
    }

    private var erase: String { isTerminal ? "\r\u{1B}[K" : "" }

    private var elapsed: String {
        let tenths = (ContinuousClock.now - begin) / .milliseconds(100)
        let whole = Int64(tenths.rounded())
        return "\(whole / 10).\(whole % 10) s"
    }
}
