internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Runs an `EncoderProbe` in a process of its own, which is killed when it does not end in time.
///
/// The child writes an `EncoderProbeResult` as JSON to its standard output.
public struct EncoderProbeChild: Sendable {
    public var executable: String
    /// In front of `--encoder E --size WxH --rate N`.
    public var arguments: [String]
    public var deadline: Duration

    public init(
        executable: String = "/proc/self/exe", arguments: [String] = ["encoder-probe"],
        deadline: Duration = .seconds(5)
    ) {
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    /// Blocks until the child ended, at most for the deadline and a little. Every failure is in the result.
    public func run(encoder: String, width: Int, height: Int, rate: Double) -> EncoderProbeResult {
        func failed(_ reason: String) -> EncoderProbeResult {
            EncoderProbeResult(encoder: encoder, works: false, reason: reason)
        }
        let number = rate == rate.rounded() ? Int(exactly: rate).map { "\($0)" } ?? "\(rate)" : "\(rate)"
        let words =
            [executable] + arguments
            + ["--encoder", encoder, "--size", "\(width)x\(height)", "--rate", number]
        let child: RunningProbe
        do {
            child = try RunningProbe(executable, words)
        } catch {
            return failed("the probe could not be started: \(error)")
        }
        switch child.output(limit: Self.longestOutput, within: deadline) {
        case .late: return failed("did not answer within \(Self.words(deadline))")
        case .tooLong: return failed("the probe wrote more than \(Self.longestOutput) bytes")
        case .ended(let status, let bytes):
            guard var result = try? JSONDecoder().decode(EncoderProbeResult.self, from: Data(bytes)) else {
                return failed("the probe ended with \(Self.words(status: status)) and without a result")
            }
            guard result.encoder == encoder, result.fps.isFinite, result.packets >= 0 else {
                return failed("the probe answered for another encoder")
            }
            // Whatever a driver is called ends up in a log line.
            result.reason = String(
                String.UnicodeScalarView(result.reason.unicodeScalars.lazy.map { $0.value < 0x20 ? " " : $0 })
                    .prefix(Self.longestReason))
            return result
        }
    }

    private static let longestOutput = 64 << 10
    private static let longestReason = 500

    private static func words(_ duration: Duration) -> String {
        "\(EncoderCapacity.words(duration / .seconds(1))) s"
    }

    private static func words(status: Int32?) -> String {
        guard let status else { return "an unknown status" }
        let signal = status & 0x7F
        return signal == 0 ? "status \((status >> 8) & 0xFF)" : "signal \(signal)"
    }
}

/// A child process with a socket at its standard output. Ends with its owner: killed, and reaped if it can be.
private final class RunningProbe {
    enum Output {
        /// Status as waitpid gave it; nil when someone else reaped the child.
        case ended(status: Int32?, [UInt8])
        case late
        case tooLong
    }

    struct Failure: Error, CustomStringConvertible {
        var call: String
        var number: Int32
        var description: String { "\(call): \(String(cString: strerror(number)))" }
    }

    private let process: pid_t
    private let socket: Int32
    private var isReaped = false

    /// Killed children that the kernel did not let go yet; looked at again with the next probe.
    private static let abandoned = Mutex<[pid_t]>([])

    init(_ executable: String, _ words: [String]) throws(Failure) {
        Self.abandoned.withLock { $0.removeAll { waitpid($0, nil, WNOHANG) != 0 } }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(call: "socketpair", number: errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A thread that blocks signals must not hand that on: the child has to end on SIGTERM and SIGINT.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var child = pid_t()
        let failure = Self.withCStrings(words) { arguments in
            Self.withCStrings(Self.environment) { environment in
                posix_spawn(&child, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard failure == 0 else {
            close(ends[0])
            throw Failure(call: executable, number: failure)
        }
        process = child
        socket = ends[0]
    }

    deinit {
        close(socket)
        guard !isReaped else { return }
        kill(process, SIGKILL)
        for _ in 0..<40 {
            if waitpid(process, nil, WNOHANG) != 0 { return }
            Self.pause()
        }
        let process = process
        Self.abandoned.withLock { $0.append(process) }
    }

    /// All that the child writes until it ends.
    func output(limit: Int, within duration: Duration) -> Output {
        let deadline = SourceClock.now &+ UInt64(((duration / .seconds(1)) * 1e9).clamped(to: 0...600e9))
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let now = SourceClock.now
            guard now < deadline else { return .late }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, Int32(clamping: (deadline - now) / 1_000_000 + 1))
            guard ready > 0 else { continue }
            let count = read(socket, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { break }
            bytes += buffer.prefix(count)
            if bytes.count > limit { return .tooLong }
        }
        while SourceClock.now < deadline {
            var status: Int32 = 0
            let reaped = waitpid(process, &status, WNOHANG)
            if reaped == 0 || (reaped < 0 && errno == EINTR) {
                Self.pause()
                continue
            }
            isReaped = true
            return .ended(status: reaped == process ? status : nil, bytes)
        }
        return .late
    }

    private static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 5_000_000)
        nanosleep(&time, nil)
    }

    /// What the loader and libav read. Not the service manager's sockets and secrets.
    private static var environment: [String] {
        let names: [String] = ["PATH", "LANG", "LD_LIBRARY_PATH", "TZ"]
        return names.compactMap { (name: String) -> String? in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
