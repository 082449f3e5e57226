import ControlAPI
import Glibc
import Synchronization
import Systemd

@testable import HealthMonitor

/// systemd as the monitor sees it; writes down what it is asked to do.
final class StandInUnits: UnitControl {
    private struct State {
        var units: [UnitState] = []
        var missing: Set<String> = []
        var calls: [String] = []
        var waiting: [(call: String, continuation: CheckedContinuation<Void, Never>)] = []
        var isSilent = false
    }

    private let state = Mutex(State())
    let gate = Gate()

    init(_ units: [UnitState] = [], missing: Set<String> = []) {
        state.withLock {
            $0.units = units
            $0.missing = missing
        }
    }

    var calls: [String] { state.withLock { $0.calls } }

    func set(_ units: [UnitState]) { state.withLock { $0.units = units } }

    /// From now on questions wait until the gate is opened.
    func fallSilent() { state.withLock { $0.isSilent = true } }

    func called(_ call: String) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.calls.contains(call) { state.waiting.append((call, continuation)) }
                return state.calls.contains(call)
            }
            if isDone { continuation.resume() }
        }
    }

    private func record(_ verb: String, _ unit: String) throws(SystemdError) {
        let call = "\(verb) \(unit)"
        let (isMissing, waiting) = state.withLock { state in
            state.calls.append(call)
            let waiting = state.waiting.filter { $0.call == call }
            state.waiting.removeAll { $0.call == call }
            return (state.missing.contains(unit), waiting)
        }
        for waiter in waiting { waiter.continuation.resume() }
        if isMissing, verb != "reset-failed" { throw .noSuchUnit(unit) }
    }

    func start(_ unit: String) async throws(SystemdError) { try record("start", unit) }
    func startIrreversibly(_ unit: String) async throws(SystemdError) { try record("start irreversibly", unit) }
    func stop(_ unit: String) async throws(SystemdError) { try record("stop", unit) }
    func restart(_ unit: String) async throws(SystemdError) { try record("restart", unit) }
    func resetFailed(_ unit: String) async throws(SystemdError) { try record("reset-failed", unit) }

    func state(of unit: String) async throws(SystemdError) -> UnitState {
        state.withLock { $0.units.first { $0.name == unit } }
            ?? UnitState(name: unit, load: "not-found", active: "inactive", sub: "dead")
    }

    func units(matching pattern: String) async throws(SystemdError) -> [UnitState] {
        if state.withLock({ $0.isSilent }) { await gate.opened() }
        return state.withLock { $0.units }
    }
}

/// Cameras that answer what the test wants; one without an answer is silent until the gate is opened.
final class StandInCameras: CameraStatusReading {
    struct Silence: Error, CustomStringConvertible {
        var description: String { "connection refused" }
    }

    private let answers = Mutex<[String: CameraStatusDocument?]>([:])
    let gate = Gate()

    /// Nil: refuses.
    func set(_ camera: String, _ document: CameraStatusDocument?) { answers.withLock { $0[camera] = .some(document) } }

    /// It hangs.
    func forget(_ camera: String) { answers.withLock { $0[camera] = nil } }

    func status(of camera: String) async throws -> CameraStatusDocument {
        guard let answer = answers.withLock({ $0[camera] }) else {
            await gate.opened()
            throw Silence()
        }
        guard let answer else { throw Silence() }
        return answer
    }
}

/// What PID 1 would hear.
final class NotifySocket: Sendable {
    private let descriptor: CInt
    let path: String

    init(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "bind \(path): \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }

    /// All that came since it was last asked.
    func messages() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return messages }
            messages.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}
