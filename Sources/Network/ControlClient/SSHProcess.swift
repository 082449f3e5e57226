internal import CProgram
internal import Glibc
internal import Platform
internal import Synchronization

/// A running ssh. It ends with this process, whatever ends this process.
final class SSHProcess: Sendable {
    private struct State {
        var number: Int32
        /// As waitpid gave it.
        var status: Int32?
    }

    struct Failure: Error {
        let number: Int32
    }

    private let state: Mutex<State>

    private init(number: Int32) {
        state = Mutex(State(number: number, status: nil))
    }

    /// - Parameter arguments: the first is the program's name.
    static func start(_ path: String, _ arguments: [String]) async -> Result<SSHProcess, Failure> {
        await withCheckedContinuation { continuation in
            // The thread that starts it waits for it: the kernel ends a child with the thread that is its parent.
            let isStarted = OwnThread.start {
                var number: Int32 = 0
                let failure = CStrings.with(arguments) { wb_program_start_bound(path, $0, &number) }
                guard failure == 0 else { return continuation.resume(returning: .failure(Failure(number: failure))) }
                let process = SSHProcess(number: number)
                continuation.resume(returning: .success(process))
                process.reap()
            }
            if !isStarted { continuation.resume(returning: .failure(Failure(number: EAGAIN))) }
        }
    }

    /// Nil while it runs.
    var status: Int32? { state.withLock { $0.status } }

    /// Asks it to end.
    func terminate() {
        state.withLock { state in
            // Once it is reaped the number may be another's.
            if state.status == nil { kill(state.number, SIGTERM) }
        }
    }

    private func reap() {
        let number = state.withLock { $0.number }
        var information = siginfo_t()
        while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        state.withLock { state in
            var status: Int32 = 0
            while waitpid(number, &status, 0) < 0, errno == EINTR {}
            state.status = status
        }
    }
}
