/// Decides which step is taken against a fault that is left (docs/ref/health.md, "Ladder").
///
/// Its duties:
/// 1. The smallest step that may help, and the next one only when that did not.
/// 2. Every step has a budget that outlives restarts and reboots (`LadderState`); a spent one is reported, once.
/// 3. What is wrong beyond the local network (relay, key access server, names, the internet) is never answered with
/// more
///    than nothing: such trouble is `.remote`. Trouble that may be on either side is answered with L1 at most.
/// 4. What systemd is doing already is not done again; what it did counts.
///
/// The odd case: a reboot for a read-only root, where the budget cannot be saved. It is allowed only after so long an
/// uptime that the budget holds without being written down.
struct EscalationLadder: Sendable {
    struct Observation: Equatable, Sendable {
        /// Seconds since boot.
        var uptime: UInt64
        /// Seconds since 1970; for people only.
        var time: Int64
        /// Active cameras.
        var cameras: [Camera] = []
        var link: Link?
        var faults: [LocalFault] = []
        var mayReboot = true
        /// What is decided will be on record before it is done.
        var isStateSaved = true
    }

    struct Camera: Equatable, Sendable {
        var id: String
        var usbPort: String?
        /// Nil when systemd does not report it.
        var phase: UnitPhase?
        /// systemd's own restarts since the unit was started by hand.
        var restarts: UInt32 = 0
        var trouble: Trouble?
    }

    enum Trouble: Equatable, Sendable {
        /// No frames, a process that does not answer: ours.
        case local(String)
        /// The same frame for long: a camera that hangs, or one that looks at something that does not move.
        case frozen(String)
        /// Frames go out and nobody acknowledges them: the process or the relay.
        case stalled(String)
        /// It waits for a relay or for a key.
        case remote(String)
    }

    /// There is carrier, but no address, or a gateway that does not answer.
    struct Link: Equatable, Sendable {
        var interface: String
        var reason: String
    }

    struct LocalFault: Equatable, Sendable {
        enum Kind: Sendable { case stuckTask, memoryLoop, readOnlyRoot }

        var kind: Kind
        var text: String
    }

    enum Action: Hashable, Sendable {
        case restartCamera(String, why: String)
        case resetDevice(camera: String, port: String, why: String)
        case renewNetwork(interface: String, why: String)
        case restartTarget(cameras: [String], why: String)
        case reboot(String)
        /// systemd restarted it by itself: only reported, and counted.
        case restartedBySystemd(String, times: Int)
        /// A step is needed, and not taken; reported once until it is taken or no longer needed.
        case held(LadderLevel, object: String, why: String)
    }

    private struct CameraHistory {
        var restarts: UInt32?
        /// In which phase without help, since which age.
        var idleSince: UInt64?
    }

    private(set) var state: LadderState
    private var cameras: [String: CameraHistory] = [:]
    private var linkSince: UInt64?
    private var faultSince: [LocalFault.Kind: UInt64] = [:]
    private var held: Set<String> = []

    /// Seconds between two restarts of one camera: it must have had the time to start.
    static let restartPause: UInt64 = 60
    /// The same for a frozen image, which may be as it should be.
    static let frozenPause: UInt64 = 600
    /// Seconds for which systemd's own restarts are awaited before a failed or stopped unit is started again.
    static let failedPause: UInt64 = 120
    static let stoppedPause: UInt64 = 30
    /// Seconds without address or gateway before L3.
    static let linkTimeout: UInt64 = 120
    /// Seconds for which a fault must last, after its check has said so, before L5.
    static let faultTimeout: UInt64 = 60
    static let targetPause: UInt64 = 600
    /// Seconds of uptime before the first reboot; doubles with each one in 24 h.
    static let rebootUptime: UInt64 = 1800
    /// Without a saved budget: three of these are a day.
    static let unsavedRebootUptime: UInt64 = 28_800

    init(state: LadderState) {
        self.state = state
    }

    mutating func observe(_ observation: Observation) -> [Action] {
        state.advance(uptime: observation.uptime)
        var actions: [Action] = []
        var needed: Set<String> = []
        let reported = held
        func hold(_ level: LadderLevel, _ object: String, _ why: String) {
            let key = "\(level.rawValue) \(object)"
            needed.insert(key)
            if !reported.contains(key) { actions.append(.held(level, object: object, why: why)) }
        }

        // A reboot makes every smaller step pointless.
        if let reboot = decideReboot(observation, hold) {
            held = needed
            return actions + [reboot]
        }
        countRestarts(observation, &actions)
        if let restart = decideTarget(observation, hold) {
            actions.append(restart)
        } else {
            for camera in observation.cameras { decide(camera, observation, hold).map { actions.append($0) } }
        }
        decideLink(observation, hold).map { actions.append($0) }
        held = needed
        return actions
    }

    /// The box's age moves on though nothing happened; before a save.
    mutating func advance(uptime: UInt64) { state.advance(uptime: uptime) }
    mutating func endOrderly() { state.endOrderly() }

    private typealias Hold = (LadderLevel, String, String) -> Void

    // MARK: L5

    private mutating func decideReboot(_ observation: Observation, _ hold: Hold) -> Action? {
        faultSince = faultSince.filter { entry in observation.faults.contains { $0.kind == entry.key } }
        for fault in observation.faults where faultSince[fault.kind] == nil { faultSince[fault.kind] = state.age }
        let lasting = observation.faults.first { state.age - (faultSince[$0.kind] ?? state.age) >= Self.faultTimeout }
        guard let lasting else { return nil }
        guard observation.mayReboot else {
            hold(.reboot, "box", "\(lasting.text); rebooting is switched off in the settings")
            return nil
        }
        let used = state.uses(of: .reboot, object: nil, within: 86_400)
        guard state.hasRoom(.reboot, object: "box") else {
            hold(.reboot, "box", "\(lasting.text); \(used.count) reboots in 24 h are all that is allowed")
            return nil
        }
        var needed = Self.rebootUptime << UInt64(used.count)
        if !observation.isStateSaved { needed = max(needed, Self.unsavedRebootUptime) }
        let sinceLast = used.map { state.age - $0.age }.min() ?? .max
        guard observation.uptime >= needed, sinceLast >= needed else {
            hold(
                .reboot, "box",
                "\(lasting.text); it reboots when it has run for \(needed / 60) min, now \(observation.uptime / 60) min"
            )
            return nil
        }
        state.addReboot(reason: lasting.text, time: observation.time)
        faultSince = [:]
        return .reboot(lasting.text)
    }

    // MARK: L4

    private mutating func decideTarget(_ observation: Observation, _ hold: Hold) -> Action? {
        let wedged = observation.cameras.filter { camera in
            guard case .local = camera.trouble else { return false }
            return state.uses(of: .restartCamera, object: camera.id, within: 300).count >= 2
        }
        guard wedged.count >= 2 else { return nil }
        let names = wedged.map(\.id)
        let why = "\(names.joined(separator: ", ")) stay without frames after restarts of their own"
        // It ends this process, too: what is not on record would be forgotten.
        guard observation.isStateSaved, state.hasRoom(.restartTarget, object: "box") else {
            hold(.restartTarget, "box", why)
            return nil
        }
        if let last = state.uses(of: .restartTarget, object: nil, within: 3600).map(\.age).max(),
            state.age - last < Self.targetPause
        {
            return nil
        }
        state.add(.restartTarget, object: "box", time: observation.time)
        // Each camera starts again with it: its own restart must not follow at once.
        for camera in wedged { state.add(.restartCamera, object: camera.id, time: observation.time) }
        return .restartTarget(cameras: names, why: why)
    }

    // MARK: L1, L2

    private mutating func countRestarts(_ observation: Observation, _ actions: inout [Action]) {
        cameras = cameras.filter { entry in observation.cameras.contains { $0.id == entry.key } }
        for camera in observation.cameras where camera.phase != nil {
            let before = cameras[camera.id]?.restarts
            cameras[camera.id, default: CameraHistory()].restarts = camera.restarts
            // It begins at 0 again when somebody starts the unit by hand.
            guard let before, camera.restarts != before else { continue }
            let news = camera.restarts > before ? camera.restarts - before : camera.restarts
            guard news > 0 else { continue }
            let times = Int(min(news, 16))
            for _ in 0..<times { state.add(.restartCamera, object: camera.id, time: observation.time) }
            actions.append(.restartedBySystemd(camera.id, times: times))
        }
    }

    private mutating func decide(_ camera: Camera, _ observation: Observation, _ hold: Hold) -> Action? {
        var why: String
        var isLocal = true
        var pause = Self.restartPause
        var sinceLast = Self.restartPause
        switch (camera.phase, camera.trouble) {
        case (.changing, _):
            cameras[camera.id]?.idleSince = nil
            return nil
        case (.failed(let result), _):
            why = "systemd has given up on it (\(result))"
            pause = Self.failedPause
        case (.stopped, _):
            why = "it does not run though it should"
            pause = Self.stoppedPause
        case (_, nil), (_, .remote):
            cameras[camera.id]?.idleSince = nil
            return nil
        case (_, .local(let reason)): why = reason
        case (_, .stalled(let reason)):
            why = reason
            isLocal = false
        case (_, .frozen(let reason)):
            why = reason
            isLocal = false
            sinceLast = Self.frozenPause
        }
        switch camera.phase {
        case .failed, .stopped:
            let since = cameras[camera.id]?.idleSince ?? state.age
            cameras[camera.id, default: CameraHistory()].idleSince = since
            guard state.age - since >= pause else { return nil }
        default: cameras[camera.id]?.idleSince = nil
        }
        let recent = state.uses(of: .restartCamera, object: camera.id, within: 600)
        if let last = recent.map(\.age).max(), state.age - last < sinceLast { return nil }

        let within5Minutes = recent.count { state.age - $0.age < 300 }
        let hasRoom = state.hasRoom(.restartCamera, object: camera.id)
        if isLocal, let port = camera.usbPort, within5Minutes >= 3 || !hasRoom {
            if state.hasRoom(.resetDevice, object: camera.id) {
                state.add(.resetDevice, object: camera.id, time: observation.time)
                return .resetDevice(camera: camera.id, port: port, why: why)
            }
            if !hasRoom { hold(.resetDevice, camera.id, why) }
        }
        guard hasRoom else {
            hold(.restartCamera, camera.id, why)
            return nil
        }
        state.add(.restartCamera, object: camera.id, time: observation.time)
        return .restartCamera(camera.id, why: why)
    }

    // MARK: L3

    private mutating func decideLink(_ observation: Observation, _ hold: Hold) -> Action? {
        guard let link = observation.link else {
            linkSince = nil
            return nil
        }
        let since = linkSince ?? state.age
        linkSince = since
        guard state.age - since >= Self.linkTimeout else { return nil }
        guard state.hasRoom(.renewNetwork, object: link.interface) else {
            // Its budget is a pause, not an end: only a fault that outlives a renewal is worth a message, and a renewal
            // takes its time.
            let last = state.uses(of: .renewNetwork, object: link.interface, within: 900).map(\.age).max()
            if last.map({ state.age - $0 >= Self.linkTimeout }) ?? true {
                hold(.renewNetwork, link.interface, link.reason)
            }
            return nil
        }
        state.add(.renewNetwork, object: link.interface, time: observation.time)
        return .renewNetwork(interface: link.interface, why: link.reason)
    }
}
