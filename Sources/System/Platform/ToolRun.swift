internal import Glibc

/// Another program of this system, run to its end: no shell, an empty standard input, this process's environment and standard error.
public enum ToolRun {
    public struct Outcome: Sendable, Equatable {
        /// Its exit status; 128 and more: the signal that ended it, as a shell says it.
        public var status: Int32
        /// What it wrote to its standard output, unless that went to ours.
        public var output: [UInt8]

        public init(status: Int32, output: [UInt8]) {
            self.status = status
            self.output = output
        }
    }

    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// An errno: ENOENT when there is no such program.
        case notStarted(Int32)
        case tooMuchOutput(limit: Int)
        case tooLong(seconds: Int)

        public var description: String {
            switch self {
            case .notStarted(let number): "it cannot be started: \(SystemMessage.text(number))"
            case .tooMuchOutput(let limit): "it wrote more than \(limit) bytes"
            case .tooLong(let seconds): "it did not end in \(seconds) s"
            }
        }
    }

    /// The errno of `notStarted` then.
    public static let noSuchProgram = ENOENT

    /// Blocks: for a thread that may (`OwnThread.value`).
    ///
    /// - Parameters:
    ///   - path: absolute, or a name to be looked for in PATH.
    ///   - isShown: its standard output goes to ours, as it comes.
    ///   - limit: bytes of output that are kept; more than that ends it.
    ///   - seconds: how long it may take; then it is ended.
    public static func run(
        _ path: String, _ arguments: [String], isShown: Bool = false, atMost limit: Int = 1 << 20, seconds: Int
    ) throws(Failure) -> Outcome {
        var ends: [CInt] = [-1, -1]
        // Also when its output is shown: it closes with the program's end, which is waited for without a signal handler.
        // Not a pipe: this call makes it close in other children at once.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .notStarted(errno) }
        defer { close(ends[0]) }
        let started = spawn(path, arguments, output: ends[1], isShown: isShown)
        close(ends[1])
        let process: pid_t
        switch started {
        case .success(let number): process = number
        case .failure(let failure): throw failure
        }
        let deadline = ContinuousClock.now + .seconds(seconds)
        var read = Self.read(ends[0], atMost: limit, until: deadline, seconds: seconds)
        if case .failure = read { kill(process, SIGKILL) }
        var status: Int32 = 0
        // One that closes its output may go on without it.
        while true {
            let ended = waitpid(process, &status, WNOHANG)
            if ended == process || (ended < 0 && errno != EINTR) { break }
            if ContinuousClock.now >= deadline, case .success = read {
                kill(process, SIGKILL)
                read = .failure(.tooLong(seconds: seconds))
            }
            var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000)
            nanosleep(&pause, nil)
        }
        let signal = status & 0x7F
        return Outcome(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, output: try read.get())
    }

    private static func spawn(
        _ path: String, _ arguments: [String], output: CInt, isShown: Bool
    ) -> Result<pid_t, Failure> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        // A descriptor that nobody writes to tells the end where the output is not ours to read.
        posix_spawn_file_actions_adddup2(&actions, output, isShown ? endMark : STDOUT_FILENO)
        // A thread of ours may have blocked them all (`OwnThread`).
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        let number = CStrings.with([path] + arguments) {
            posix_spawnp(&process, path, &actions, &attributes, $0, environ)
        }
        return number == 0 ? .success(process) : .failure(.notStarted(number))
    }

    private static let endMark: CInt = 9

    private static func read(
        _ descriptor: CInt, atMost limit: Int, until deadline: ContinuousClock.Instant, seconds: Int
    ) -> Result<[UInt8], Failure> {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let left = deadline - .now
            guard left > .zero else { return .failure(.tooLong(seconds: seconds)) }
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // At most a minute at a time; a signal, or a minute without a word, is no reason to read.
            guard poll(&asked, 1, CInt(min(left, .seconds(60)) / .milliseconds(1)) + 1) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                return .failure(.notStarted(errno))
            }
            if count == 0 { return .success(bytes) }
            bytes += buffer[..<count]
            if bytes.count > limit { return .failure(.tooMuchOutput(limit: limit)) }
        }
    }
}
