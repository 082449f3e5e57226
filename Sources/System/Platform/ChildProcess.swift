internal import CSandbox
package import Glibc

/// A child process with one socket at its standard input and output. Ends with its owner: killed, and reaped if it can
/// be.
///
/// For what may hang or crash: a driver, a library that speaks to one, or a decoder with third-party frames.
package final class ChildProcess {
    package enum Output {
        /// Status as waitpid gave it; nil when someone else reaped the child.
        case ended(status: Int32?, [UInt8])
        case late
        case tooLong
    }

    package struct Failure: Error, CustomStringConvertible {
        package var call: String
        package var number: Int32
        package var description: String { "\(call): \(SystemMessage.text(number))" }
    }

    /// What the child finds.
    package enum Connection {
        /// Standard input and output are a stream of bytes.
        case stream
        /// They are a row of messages, and descriptor 3 is this memory.
        case messages(memory: Int32?)
    }

    package let process: pid_t
    /// This process's end; open as long as this object.
    package let socket: Int32
    private var isReaped = false
    /// The child has closed its end, which it does by ending.
    private var hasHungUp = false
    private static let memoryPlace: Int32 = 3
    /// From the end of the socket to that of the process.
    package static let maxEndingTime = Duration.seconds(2)

    /// - Parameter isSandboxed: it gets nothing of this process's environment but where libraries are.
    package init(
        _ executable: String, _ arguments: [String], connection: Connection = .stream, isSandboxed: Bool = false
    ) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        var kind = Int32(SOCK_STREAM.rawValue)
        var memory: Int32?
        if case .messages(let given) = connection {
            kind = Int32(SOCK_SEQPACKET.rawValue)
            memory = given
        }
        guard socketpair(AF_UNIX, kind | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(call: "socketpair", number: errno)
        }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if let memory { posix_spawn_file_actions_adddup2(&actions, memory, Self.memoryPlace) }
        // Libraries open descriptors that stay open on exec.
        let closing = wb_spawn_close_from(&actions, Self.memoryPlace + (memory == nil ? 0 : 1))
        guard closing == 0 else {
            close(ends[0])
            throw Failure(call: "posix_spawn_file_actions_addclosefrom_np", number: closing)
        }
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
        let failure = CStrings.with(arguments) { arguments in
            CStrings.with(Self.environment(isSandboxed)) { environment in
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
        guard kill() else { return }
        for _ in 0..<40 {
            if waitpid(process, nil, WNOHANG) != 0 { return }
            Self.pause()
        }
        AbandonedChildren.add(process)
    }

    /// Ends it at once; false when it had ended before.
    @discardableResult
    package func kill() -> Bool {
        // Somebody else may have reaped it: then the number may be that of another process by now.
        guard !isReaped, waitpid(process, nil, WNOHANG) == 0 else {
            isReaped = true
            return false
        }
        Glibc.kill(process, SIGKILL)
        return true
    }

    /// All that the child writes until it ends.
    ///
    /// - Parameter input: what it reads, with an end behind it.
    package func output(of input: [UInt8] = [], limit: Int, within duration: Duration) -> Output {
        let deadline = Clocks.monotonic &+ Self.nanoseconds(duration)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var sent = 0
        var isSending = true
        while true {
            if isSending, sent == input.count {
                shutdown(socket, Int32(SHUT_WR))
                isSending = false
            }
            let now = Clocks.monotonic
            guard now < deadline else { return .late }
            let events = POLLIN | (isSending ? POLLOUT : 0)
            var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
            let ready = poll(&entry, 1, Int32(clamping: (deadline - now) / 1_000_000 + 1))
            guard ready > 0 else { continue }
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            if isSending, Int32(entry.revents) & POLLOUT != 0 {
                let count = input.withUnsafeBytes { all in
                    Glibc.send(socket, all.baseAddress! + sent, all.count - sent, flags)
                }
                if count > 0 { sent += count }
                // One that has read enough: what it says about it is still to be read.
                if count < 0, errno != EINTR, errno != EAGAIN { sent = input.count }
            }
            guard Int32(entry.revents) & ~POLLOUT != 0 else { continue }
            let count = recv(socket, &buffer, buffer.count, flags)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { break }
            bytes += buffer.prefix(count)
            if bytes.count > limit { return .tooLong }
        }
        while Clocks.monotonic < deadline {
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

    /// Sends one message, and never waits: false when the child does not take it. One that reads before it answers
    /// always has room for the next request.
    package func send(message: [UInt8]) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        var count = -1
        repeat {
            count = message.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, flags) }
        } while count < 0 && errno == EINTR
        if count < 0, errno == EPIPE || errno == ECONNRESET { hasHungUp = true }
        return count == message.count
    }

    /// The next message, without what of it is longer than `buffer`; nil when the child ended, or none came in time.
    ///
    /// - Parameter isStopped: looked at ten times a second; then nil.
    package func receive(
        into buffer: inout [UInt8], within duration: Duration, isStopped: () -> Bool
    ) -> ArraySlice<UInt8>? {
        let deadline = Clocks.monotonic &+ Self.nanoseconds(duration)
        while !isStopped() {
            let now = Clocks.monotonic
            guard now < deadline else { return nil }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(clamping: min((deadline - now) / 1_000_000 + 1, 100))) > 0 else { continue }
            let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            hasHungUp = count <= 0
            return count > 0 ? buffer[0..<count] : nil
        }
        return nil
    }

    /// Text for how it ended, when it has: "signal 11". One that has closed its end is waited for: on a busy machine
    /// its end takes a while.
    ///
    /// - Parameters:
    ///   - hasHungUp: somebody else who reads from `socket` saw its end.
    ///   - isStopped: no one waits any more.
    package func ending(
        within duration: Duration = maxEndingTime, hasHungUp isSeen: Bool = false, isStopped: () -> Bool = { false }
    ) -> String? {
        hasHungUp = hasHungUp || isSeen
        guard !isReaped else { return nil }
        var status: Int32 = 0
        let limit = ContinuousClock.now + duration
        while true {
            let reaped = waitpid(process, &status, WNOHANG)
            isReaped = reaped != 0
            // Below zero: somebody else has reaped it, and knows how it ended.
            if reaped < 0 { return nil }
            if reaped == process {
                return status & 0x7F != 0 ? "signal \(status & 0x7F)" : "status \((status >> 8) & 0xFF)"
            }
            guard hasHungUp, !isStopped(), ContinuousClock.now < limit else { return nil }
            Self.pause()
        }
    }

    /// At most ten minutes.
    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        UInt64(max(0, min((duration / .seconds(1)) * 1e9, 600e9)))
    }

    private static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 5_000_000)
        nanosleep(&time, nil)
    }

    /// What the loader and libav read. Not the service manager's sockets and secrets.
    private static func environment(_ isSandboxed: Bool) -> [String] {
        let names: [String] = isSandboxed ? ["LD_LIBRARY_PATH"] : ["PATH", "LANG", "LD_LIBRARY_PATH", "TZ"]
        let kept = names.compactMap { (name: String) -> String? in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        // A crash reporter is one more program that untrusted bytes would reach.
        return isSandboxed ? kept + ["SWIFT_BACKTRACE=enable=no"] : kept
    }
}
