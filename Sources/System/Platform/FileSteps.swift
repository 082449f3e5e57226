internal import Glibc

/// What it takes to put a file in place, asked of the kernel one by one. A test has one of them fail, as a full or a broken
/// disk does.
struct FileSteps: Sendable {
    enum Step: CaseIterable, Sendable {
        case openDirectory, open, fchmod, fchown, write, fsync, rename, fsyncDirectory

        var call: String {
            switch self {
            case .openDirectory: "open"
            case .fsyncDirectory: "fsync"
            default: "\(self)"
            }
        }
    }

    /// Nil: the kernel decides.
    var failing: Step?

    /// - Returns: what `body` gave, 0 or more.
    @discardableResult
    func callAsFunction(_ step: Step, _ path: String, _ body: () -> Int) throws(FileFailure) -> Int {
        while true {
            let result = failing == step ? -1 : body()
            if result >= 0 { return result }
            if failing == step { throw FileFailure(call: step.call, path: path, number: EIO) }
            if errno != EINTR { throw FileFailure(call: step.call, path: path, number: errno) }
        }
    }
}
