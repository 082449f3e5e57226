internal import CSandbox
internal import Glibc

/// What somebody who has taken over a decoder would try. Made from inside the sandbox by its check, to see it refused.
public enum SandboxAttempt: String, CaseIterable, Sendable {
    case open, socket, execve, kill, ptrace, fork, memory, time
    case executableMemory = "executable-memory"
    case sharedMemory = "shared-memory"
    case growingMemory = "growing-memory"
    case readonlyMemory = "readonly-memory"
    /// What a decoder does all day: has to work.
    case work

    /// Nil: it was let through, or has come to its end; else the errno of its refusal. A filter of system calls ends the
    /// process instead.
    public func run() -> Int32? {
        let result =
            switch self {
            case .open: wb_try_open("/etc/passwd")
            case .socket: wb_try_socket()
            case .execve: wb_try_execve("/bin/true")
            case .kill: wb_try_kill()
            case .ptrace: wb_try_ptrace()
            case .fork: wb_try_clone()
            case .memory: Self.fill(DecoderSandbox.Limits().memory)
            case .time: Self.spin()
            case .executableMemory: wb_try_executable_memory()
            case .sharedMemory: wb_try_shared_memory()
            case .growingMemory: wb_try_growing_memory()
            case .readonlyMemory: wb_try_readonly_memory(DecoderSandbox.Limits().memory)
            case .work: Self.fill(32 << 20)
            }
        return result < 0 ? -result : nil
    }

    /// One mebibyte after the other, as much as is allowed at most.
    private static func fill(_ count: Int) -> Int32 {
        var pieces: [UnsafeMutableRawPointer] = []
        defer { for piece in pieces { free(piece) } }
        pieces.reserveCapacity(count >> 20 + 1)
        while pieces.count <= count >> 20 {
            guard let piece = malloc(1 << 20) else { return -ENOMEM }
            memset(piece, 1, 1 << 20)
            pieces.append(piece)
        }
        return 0
    }

    private static func spin() -> Int32 {
        let end = SourceClock.now &+ 600_000_000_000
        while SourceClock.now < end {}
        return 0
    }
}
