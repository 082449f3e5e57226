internal import CSystemd
internal import Glibc
internal import Platform
internal import Synchronization

/// The thread behind a `SystemBus`: made by the first call, gone with its connection after a while without one.
final class BusThread: Sendable {
    private struct State {
        /// Handed over, not yet seen by the thread.
        var arrived: [BusOperation] = []
        /// Seen by the thread and not finished.
        var underWay = 0
        /// A caller gave up: the thread looks through its operations.
        var cancelled = false
        var stopping = false
        var isRunning = false
        /// An eventfd that wakes the thread; -1 while there is none.
        var bell: CInt = -1
        var lastID: UInt64 = 0
    }

    /// Calls under way at once.
    static let limit = 256

    private let address: String
    private let idleTime: Duration
    private let state = Mutex(State())

    init(address: String, idleTime: Duration) {
        self.address = address
        self.idleTime = idleTime
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    /// Never 0, which stands for none in a `UnitDialogue.Tag`.
    func nextID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func submit(_ operation: BusOperation) {
        enum Step { case refuse(String), go, start }
        let step = state.withLock { state -> Step in
            if operation.answer.isGiven { return .go }
            if state.stopping { return .refuse("the connection to the system bus was closed") }
            if state.arrived.count + state.underWay >= Self.limit {
                return .refuse("\(Self.limit) calls to PID 1 are under way already")
            }
            state.arrived.append(operation)
            Self.ring(state.bell)
            defer { state.isRunning = true }
            return state.isRunning ? .go : .start
        }
        switch step {
        case .go: break
        case .refuse(let reason): operation.answer.give(.failure(.unavailable(reason)))
        case .start:
            if !OwnThread.start({ self.run() }) { failAll(.unavailable("no thread can be made")) }
        }
    }

    func cancel(_ operation: BusOperation) {
        let purpose = UnitDialogue.purpose(operation.call)
        operation.answer.give(.failure(.unavailable("\(purpose): no one waits for it any more")))
        state.withLock { state in
            state.cancelled = true
            Self.ring(state.bell)
        }
    }

    func stop() {
        state.withLock { state in
            state.stopping = true
            Self.ring(state.bell)
        }
    }

    private static func ring(_ bell: CInt) {
        if bell >= 0 { watchbox_bell_ring(bell) }
    }

    private func failAll(_ error: SystemdError) {
        let operations = state.withLock { state -> [BusOperation] in
            defer {
                state.arrived = []
                state.underWay = 0
                state.isRunning = false
            }
            return state.arrived
        }
        for operation in operations { operation.answer.give(.failure(error)) }
    }

    // MARK: on the thread

    private func run() {
        let bell = watchbox_bell_new()
        guard bell >= 0 else { return failAll(.system(call: "eventfd", errno: errno)) }
        defer { close(bell) }
        state.withLock { $0.bell = bell }
        var session = BusSession(address: address)
        var idleSince = ContinuousClock.now
        while true {
            let (arrived, cancelled, stopping) = state.withLock { state in
                defer {
                    state.underWay += state.arrived.count
                    state.arrived = []
                    state.cancelled = false
                }
                return (state.arrived, state.cancelled, state.stopping)
            }
            // First what came in: a connection that died meanwhile is replaced before something new is sent over it.
            session.receive()
            for operation in arrived { session.begin(operation) }
            if cancelled { session.forgetDecided() }
            if stopping { session.close("the connection to the system bus was closed") }
            session.receive()
            session.expire(.now)
            let underWay = session.count
            state.withLock { $0.underWay = underWay }
            if underWay > 0 { idleSince = .now }
            let idleEnd = idleSince + idleTime
            if underWay == 0, stopping || idleEnd <= .now, endIfNothingArrived() { return }
            session.wait(bell, until: underWay == 0 ? idleEnd : nil)
        }
    }

    /// True when the thread may end: from here on, a new call makes a new one.
    private func endIfNothingArrived() -> Bool {
        state.withLock { state in
            guard state.arrived.isEmpty else { return false }
            state.bell = -1
            state.isRunning = false
            return true
        }
    }
}
