internal import ControlAPI
internal import Glibc
internal import HTTPClient
internal import Platform
internal import Synchronization

/// The socket of a daemon on another machine, through the system's ssh: who asks there is the user who is logged in, and
/// nothing listens in a network.
///
/// Opened by the first request, and again when ssh has ended. This end is a socket in a private directory for as long as ssh
/// needs to make it; then both are removed, and the socket is reached by a descriptor alone. So nothing stays, whatever ends
/// this process.
public final class SSHForward: Sendable {
    private struct State {
        var opening: Task<Result<String, ControlClientError>, Never>?
        var process: SSHProcess?
        var socket: OwnedSocket?
    }

    /// A person may have to type a passphrase, and to compare a fingerprint. sshd gives 120 s by itself.
    static let timeout = Duration.seconds(150)
    /// From the socket's file to the first answer.
    private static let answerTimeout = Duration.seconds(10)

    public let host: SSHHost
    /// On the other machine.
    public let socket: String
    private let configurationFile: String?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - socket: from the root, on the other machine.
    ///   - configurationFile: read by ssh in place of the user's own and the system's.
    public init(host: SSHHost, socket: String, configurationFile: String? = nil) {
        self.host = host
        self.socket = socket
        self.configurationFile = configurationFile
    }

    /// How ssh ended; nil while it runs, and before it was started.
    var endStatus: Int32? { state.withLock { $0.process?.status } }

    /// Asks ssh to end.
    func terminate() {
        state.withLock { $0.process }?.terminate()
    }

    /// Where connect(2) reaches the daemon.
    func localPath() async throws(ControlClientError) -> String {
        let opening = state.withLock { state in
            if state.process?.status != nil { state = State() }
            if let opening = state.opening { return opening }
            let opening = Task { await open() }
            state.opening = opening
            return opening
        }
        let result = await opening.value
        if case .failure = result { state.withLock { if $0.socket == nil, $0.opening == opening { $0 = State() } } }
        return try result.get()
    }

    private func open() async -> Result<String, ControlClientError> {
        do throws(SSHForwardError) {
            return .success(try await opened())
        } catch {
            return .failure(.forward(error))
        }
    }

    private func opened() async throws(SSHForwardError) -> String {
        guard Self.isPlain(socket), UnixAddress(path: socket) != nil else { throw .invalidSocket(path: socket) }
        guard let ssh = Self.program() else { throw .noSSH }
        let directory = try PrivateDirectory()
        // Until the directory is gone; a command that has a use for signals sees to its own.
        let signals = directory.removedOnSignals()
        defer {
            directory.remove()
            signals.end()
        }
        let process: SSHProcess
        switch await SSHProcess.start(ssh, arguments(directory.socket)) {
        case .success(let started): process = started
        case .failure(let failure): throw .notStarted(why: SystemMessage.text(failure.number))
        }
        do throws(SSHForwardError) {
            let owned = try await listening(directory.socket, process)
            directory.remove()
            try await answering(owned, process)
            state.withLock {
                $0.process = process
                $0.socket = owned
            }
            return owned.path
        } catch {
            process.terminate()
            throw error
        }
    }

    func arguments(_ local: String) -> [String] {
        var options = [
            // Another connection of the user's would keep the forward when this one ends.
            "-S", "none", "-N", "-T", "-a", "-x", "-o", "ExitOnForwardFailure=yes", "-o", "ConnectTimeout=15",
            "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-o", "StreamLocalBindMask=0177",
            "-o", "StreamLocalBindUnlink=no", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
        ]
        if !Self.hasTerminal { options += ["-o", "BatchMode=yes"] }
        if let configurationFile { options += ["-F", configurationFile] }
        if let port = host.port { options += ["-p", "\(port)"] }
        return ["ssh"] + options + ["-L", "\(local):\(socket)", "--", host.destination]
    }

    /// Waits for ssh to listen, which it does once the user is logged in.
    private func listening(_ path: String, _ process: SSHProcess) async throws(SSHForwardError) -> OwnedSocket {
        let deadline = ContinuousClock.now + Self.timeout
        while true {
            if let status = process.status { throw .ended(host, status: status) }
            if access(path, F_OK) == 0, let owned = try? OwnedSocket(path: path, owner: geteuid()) { return owned }
            guard ContinuousClock.now < deadline else { throw .timedOut(host, after: Self.timeout) }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits for any answer: what the other end refuses, it closes without one.
    private func answering(_ owned: OwnedSocket, _ process: SSHProcess) async throws(SSHForwardError) {
        let deadline = ContinuousClock.now + Self.answerTimeout
        while true {
            let request = HTTPRequest(
                url: "http://watchbox\(APIPath.version())", connectTimeout: Self.answerTimeout,
                totalTimeout: Self.answerTimeout, maximumResponseBytes: 64 << 10, unixSocketPath: owned.path)
            do throws(HTTPClientError) {
                _ = try await ControlClient.http.send(request)
                return
            } catch .connectionLost {
                // One end may be seen before the other.
                try? await Task.sleep(for: .milliseconds(50))
                if let status = process.status { throw .ended(host, status: status) }
                throw .refused(host, socket: socket)
            } catch .unreachable {
                // Between its bind(2) and its listen(2).
                if let status = process.status { throw .ended(host, status: status) }
                guard ContinuousClock.now < deadline else { throw .refused(host, socket: socket) }
                try? await Task.sleep(for: .milliseconds(20))
            } catch {
                // Slow, or strange: the request itself will say so.
                return
            }
        }
    }

    /// Whether ssh could ask a person for something.
    private static var hasTerminal: Bool {
        guard isatty(STDERR_FILENO) == 1 else { return false }
        let terminal = Glibc.open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// Without what ssh takes out of a path: `:` between two of them, `%` and `$` of its own.
    static func isPlain(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "/")
            && path.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "@"):
                    true
                default: false
                }
            }
    }

    /// The first of PATH; never one of the working directory.
    private static func program() -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/ssh" }.first { candidate in
            var information = stat()
            return stat(candidate, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
                && access(candidate, X_OK) == 0
        }
    }
}
