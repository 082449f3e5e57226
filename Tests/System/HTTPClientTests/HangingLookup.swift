import Glibc
import Synchronization

/// A name whose look-up hangs until it is let go, in this process: no name server can be asked to be silent here.
final class HangingLookup: Sendable {
    static let shared = HangingLookup()

    /// Whether libcurl will find `interposedLookUp` before the C library's function: it must be among the program's
    /// dynamic symbols, which takes an option of the linker.
    static let isInterposed: Bool = {
        // RTLD_DEFAULT is a cast, which Swift cannot read, of zero.
        guard let first = dlsym(nil, "getaddrinfo"), let next = HangingLookup.next else { return false }
        return first != next
    }()

    typealias LookUp =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeMutableRawPointer?
        ) -> CInt

    /// The C library's function. RTLD_NEXT is a cast of -1.
    fileprivate static var next: UnsafeMutableRawPointer? {
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), "getaddrinfo")
    }

    let host = "hanging.invalid"

    private struct State {
        var isHeld = false
        /// Look-ups that hang.
        var began = 0
        var isOver = false
        var waiting: CheckedContinuation<Bool, Never>?
    }

    private let state = Mutex(State())
    /// Posted once for each look-up that is let go.
    private nonisolated(unsafe) let gate: UnsafeMutablePointer<sem_t>

    private init() {
        gate = .allocate(capacity: 1)
        precondition(sem_init(gate, 0, 0) == 0)
    }

    /// From here on, look-ups hang.
    func hold() { state.withLock { $0 = State(isHeld: true) } }

    /// Lets those that hang fail, and those that come after them.
    func release() {
        let count = state.withLock { state in
            state.isHeld = false
            return state.began
        }
        for _ in 0..<count { sem_post(gate) }
    }

    /// Waits until one hangs; false when `over` comes first.
    func begun() async -> Bool {
        await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.began > 0 { return true }
                if state.isOver { return false }
                state.waiting = continuation
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Whoever looked the name up has an answer.
    func over() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.isOver = true
            return state.waiting
        }
        waiting?.resume(returning: false)
    }

    fileprivate func hang() {
        let (isHeld, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Bool, Never>?) in
            guard state.isHeld else { return (false, nil) }
            defer { state.waiting = nil }
            state.began += 1
            return (true, state.waiting)
        }
        waiting?.resume(returning: true)
        guard isHeld else { return }
        while sem_wait(gate) != 0 {}
    }
}

/// Asks the C library's for every other name.
@_cdecl("getaddrinfo")
public func interposedLookUp(
    _ node: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafeRawPointer?,
    _ result: UnsafeMutableRawPointer?
) -> CInt {
    if let node, String(cString: node) == HangingLookup.shared.host {
        HangingLookup.shared.hang()
        return EAI_NONAME
    }
    guard let next = HangingLookup.next else { return EAI_FAIL }
    return unsafeBitCast(next, to: HangingLookup.LookUp.self)(node, service, hints, result)
}
