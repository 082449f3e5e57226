internal import BoxReadings
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

/// All that the monitor knows at a moment, and what it makes of the next reading. No I/O: readings in, changes out.
struct CheckRunner: Sendable {
    private(set) var settings = HealthServiceSettings()
    private(set) var ledger = HealthLedger()
    private var cameras: [String: CameraWatch] = [:]
    private var outcomes: [String: CameraWatch.Outcome] = [:]
    private var documents: [String: CameraStatusDocument] = [:]
    private var units: [UnitState]?
    private var unitWatch = UnitWatch()
    private var clockWatch = ClockWatch()
    private var memoryIncidents = MemoryIncidents()
    /// False once its reading hangs.
    private var isLoadKnown = true
    private var stuckTasks = StuckTasks()
    private var stuck: [StuckTasks.Stuck] = []
    private var rootWatch = RootWatch()
    private var root = RootWatch.Outcome.fine
    private var mounts = MountReading()
    private var canary: CanaryReading?
    private var power = PowerReading()
    private var pressure = PressureReading()
    private var celsius: Double?
    private var disk: DiskReading?
    private var isClockSynchronised: Bool?
    private var link: EscalationLadder.Link?
    private let lastEnd: LadderState.LastEnd

    /// A step of the clock, or a change of a state, that belongs in the history.
    enum News: Equatable, Sendable {
        case change(HealthLedger.Change)
        case clockStep(Double)
    }

    init(lastEnd: LadderState.LastEnd) {
        self.lastEnd = lastEnd
    }

    mutating func use(_ settings: HealthServiceSettings) {
        let before = self.settings
        self.settings = settings
        let watched = Set(settings.cameras.map(\.id))
        for camera in before.cameras where !watched.contains(camera.id) {
            cameras[camera.id] = nil
            outcomes[camera.id] = nil
            documents[camera.id] = nil
            ledger.forget(Probe.camera(camera.id).checks, object: camera.id)
        }
        for relay in before.relays where !settings.relays.contains(relay) { forget(relay, .relay, settings) }
        if let kas = before.kas, kas != settings.kas { forget(kas, .kas, settings) }
    }

    private mutating func forget(
        _ peer: HealthServiceSettings.Peer, _ check: CheckName, _ settings: HealthServiceSettings
    ) {
        ledger.forget([check, .certificate], object: peer.name)
        let hosts = settings.relays.map(\.host) + [settings.kas?.host].compactMap { $0 }
        if !hosts.contains(peer.host) { ledger.forget([.networkDNS], object: peer.host) }
    }

    /// What is to be read, with these settings.
    var probes: [Probe] {
        Probe.ofTheBox + settings.cameras.map { .camera($0.id) }
            + settings.relays.map { .relay($0.name) } + (settings.kas == nil ? [] : [.kas])
    }

    func isInTrouble(_ probe: Probe) -> Bool {
        if case .units = probe {
            return settings.cameras.contains { camera in
                guard let outcome = outcomes[camera.id] else { return false }
                if case .remote = outcome.trouble { return false }
                return outcome.trouble != nil || documents[camera.id] == nil
            }
        }
        // Its stream is gone: whether the relay is there is worth a look at once.
        if case .relay(let name) = probe, witness(of: name) == nil,
            settings.cameras.contains(where: { $0.relay == name })
        {
            return true
        }
        return probe.checks.contains { check in
            let state = ledger.state(check, probe.object ?? (probe == .kas ? settings.kas?.name : nil))
            return state != .ok && state != nil
        }
    }

    /// A camera whose stream this relay acknowledges at this moment: then it need not be tried.
    func witness(of relay: String) -> String? {
        for camera in settings.cameras where camera.relay == relay {
            if let age = outcomes[camera.id]?.acknowledgedSecondsAgo, age < HealthThresholds.publishSeconds.warn {
                return "\(camera.id) was acknowledged \(age.tenths) s ago"
            }
        }
        return nil
    }

    /// A reading that should have ended long ago.
    mutating func late(_ probe: Probe, seconds: Double, at now: HealthInstant) -> [News] {
        let evidence = "\(probe.text) did not end in \(seconds.tenths) s"
        if case .camera(let id) = probe {
            return took(.camera(id), .camera(.silent(evidence)), at: now)
        }
        // What was read long ago is no ground for a step.
        switch probe {
        case .network: link = nil
        case .tasks: stuck = []
        case .mounts: root = .fine
        case .load: isLoadKnown = false
        case .units: units = nil
        default: break
        }
        let object = probe == .kas ? settings.kas?.name : probe.object
        return record(probe.checks.map { Finding($0, object, .unknown, evidence) }, probe, object: object, at: now)
    }

    mutating func acknowledge(_ check: CheckName, object: String?) -> Bool {
        ledger.acknowledge(check, object: object)
    }

    mutating func took(_ probe: Probe, _ reading: Reading, at now: HealthInstant) -> [News] {
        switch reading {
        case .camera(let answer): return tookCamera(probe, answer, at: now)
        case .units(.units(let list)):
            units = list
            memoryIncidents.took(list, at: now)
            return record(unitWatch.took(list, at: now), probe, at: now)
        case .units(.unavailable(let why)):
            units = nil
            return record([Finding(.unit, nil, .unknown, "systemd does not report it: \(why)")], probe, at: now)
        case .power(let reading):
            power = reading
            return record([BoardChecks.power(reading)], probe, at: now)
        case .heat(let reading):
            celsius = reading.celsius
            let finding = BoardChecks.heat(
                reading, throttled: power.throttled, limits: HealthThresholds.heatCelsius, was: ledger.state(.heat))
            return record([finding], probe, at: now)
        case .watchdog(let reading):
            let boot = BoardChecks.boot(reading, lastEnd: lastEnd, uptime: now.uptimeSeconds)
            return record([BoardChecks.watchdog(reading), boot], probe, at: now)
        case .load(let reading, let groups):
            pressure = reading
            isLoadKnown = true
            memoryIncidents.took(groups, total: reading.killedForMemory, at: now)
            let memory = LoadChecks.memory(
                reading.memory, memoryIncidents, limits: HealthThresholds.memoryPressure, was: ledger.state(.memory),
                at: now)
            let processor = LoadChecks.processor(
                reading.processor, limits: HealthThresholds.processorPressure, was: ledger.state(.cpu))
            return record(memory + [processor], probe, at: now)
        case .tasks(let reading):
            stuck = stuckTasks.took(reading, seconds: HealthThresholds.stuckSeconds, at: now)
            return record([StuckTasks.finding(reading, stuck: stuck)], probe, at: now)
        case .clock(let reading):
            let outcome = clockWatch.took(
                reading, limits: HealthThresholds.unsynchronisedSeconds, was: ledger.state(.clock))
            isClockSynchronised = reading.isSynchronised
            return (outcome.step.map { [.clockStep($0)] } ?? []) + record([outcome.finding], probe, at: now)
        case .network(let reading):
            let outcome = NetworkChecks.local(reading)
            link = outcome.link
            return record(outcome.findings, probe, at: now)
        case .mounts(let reading):
            mounts = reading
            root = rootWatch.took(reading)
            return record([StorageChecks.readOnly(mounts, canary: canary, root: root)], probe, at: now)
        case .canary(let reading):
            canary = reading
            return record([StorageChecks.readOnly(mounts, canary: canary, root: root)], probe, at: now)
        case .disk(let reading):
            disk = reading
            let finding = StorageChecks.disk(reading, limits: HealthThresholds.diskUsed, was: ledger.state(.disk))
            return record([finding], probe, at: now)
        case .card(let reading): return record(BoardChecks.card(reading), probe, at: now)
        case .peer(let peer, let reading): return tookPeer(probe, peer, reading, at: now)
        }
    }

    /// What the monitor reports of itself, and of what control sent it.
    mutating func tookOwn(_ findings: [Finding], at now: HealthInstant) -> [News] {
        ledger.took(findings, of: [.monitor, .configuration], at: now).map { .change($0) }
    }

    // MARK: What is reported to others

    func report(state: LadderState, at now: HealthInstant) -> HealthReport {
        HealthReport(
            state: ledger.worst, time: now.realtimeSeconds, checks: ledger.checks(at: now),
            ladder: LadderDocument(state), recoveries: state.recoveries)
    }

    func observation(at now: HealthInstant) -> EscalationLadder.Observation {
        // A link over which streams are acknowledged works, whatever the router says: to renew it could only take its
        // address away.
        let isLinkUsed = outcomes.values.contains { $0.acknowledgedSecondsAgo != nil }
        var observation = EscalationLadder.Observation(
            uptime: now.uptime / 1_000_000_000, time: now.realtimeSeconds, link: isLinkUsed ? nil : link,
            mayReboot: settings.reboot)
        observation.cameras = settings.cameras.map { camera in
            EscalationLadder.Camera(
                id: camera.id, usbPort: cameras[camera.id]?.usbPort, phase: livePhase(of: camera.id),
                restarts: restarts(of: camera.id),
                trouble: outcomes[camera.id]?.trouble)
        }
        // Only our own processes: one of somebody else may hang on a file server that is away.
        if let task = stuck.first(where: { $0.task.unit != nil })?.task {
            observation.faults.append(
                .init(
                    kind: .stuckTask,
                    text: "\(task.name) (\(task.processIdentifier)) of \(task.unit ?? "") hangs in the kernel"))
        }
        let incidents = isLoadKnown ? memoryIncidents.loop(at: now) : 0
        if incidents >= MemoryIncidents.loop {
            observation.faults.append(
                .init(kind: .memoryLoop, text: "the box ran out of memory \(incidents)× in 10 min"))
        }
        if case .failed(let text) = root { observation.faults.append(.init(kind: .readOnlyRoot, text: text)) }
        return observation
    }

    func metrics(state: LadderState, version: String, at now: HealthInstant) -> HealthMetrics.Input {
        HealthMetrics.Input(
            version: version, states: ledger.worstByCheck, recoveries: state.totals, pressure: pressure,
            celsius: celsius, disk: disk, isClockSynchronised: isClockSynchronised,
            cameras: settings.cameras.map { ($0.id, documents[$0.id]) },
            time: Double(now.realtime) / 1e9)
    }

    /// One line for `systemctl status`.
    var summary: String {
        let worst = ledger.worstByCheck
        let failing = worst.filter { $0.value == .fail }.map(\.key.rawValue).sorted()
        let warning = worst.filter { $0.value == .warn }.map(\.key.rawValue).sorted()
        let live = settings.cameras.count { outcomes[$0.id]?.acknowledgedSecondsAgo != nil }
        var parts = ["\(live) of \(settings.cameras.count) cameras live"]
        if !failing.isEmpty { parts.append("failing: \(failing.joined(separator: ", "))") }
        if !warning.isEmpty { parts.append("warning: \(warning.joined(separator: ", "))") }
        if failing.isEmpty, warning.isEmpty { parts.append("all checks fine") }
        return parts.joined(separator: "; ")
    }

    // MARK: One reading

    private mutating func tookCamera(_ probe: Probe, _ reading: CameraReading, at now: HealthInstant) -> [News] {
        guard let id = probe.object, let camera = settings.cameras.first(where: { $0.id == id }) else {
            return []
        }
        if case .answered(let document) = reading { documents[id] = document } else { documents[id] = nil }
        var watch = cameras[id] ?? CameraWatch(at: now)
        let outcome = watch.took(
            reading, camera: camera, phase: phase(of: id), at: now)
        cameras[id] = watch
        outcomes[id] = outcome
        return record(outcome.findings, probe, object: id, at: now) + vouch(camera, at: now)
    }

    /// A relay that was found to be away and acknowledges a stream again is there: that counts from now, not from its
    /// turn.
    private mutating func vouch(_ camera: HealthServiceSettings.Camera, at now: HealthInstant) -> [News] {
        guard let name = camera.relay, ledger.state(.relay, name) == .fail, let text = witness(of: name),
            let peer = settings.relays.first(where: { $0.name == name })
        else { return [] }
        return tookPeer(.relay(name), peer, .vouched(text), at: now)
    }

    private mutating func tookPeer(
        _ probe: Probe, _ peer: HealthServiceSettings.Peer, _ reading: PeerReading, at now: HealthInstant
    ) -> [News] {
        let check: CheckName = probe == .kas ? .kas : .relay
        guard check == .kas ? settings.kas == peer : settings.relays.contains(peer) else { return [] }
        var findings = NetworkChecks.peer(peer, reading, as: check)
        if peer.tls { findings.append(NetworkChecks.certificate(peer)) }
        // The name server's finding has an object of its own, so it is recorded on its own.
        let names = findings.filter { $0.check == .networkDNS }
        let others = findings.filter { $0.check != .networkDNS }
        return record(others, probe, object: peer.name, at: now)
            + ledger.took(names, of: [], at: now).map { .change($0) }
    }

    private mutating func record(
        _ findings: [Finding], _ probe: Probe, object: String? = nil, at now: HealthInstant
    ) -> [News] {
        ledger.took(findings, of: probe.checks, object: object, at: now).map { .change($0) }
    }

    private func unit(of camera: String) -> UnitState? {
        units?.first { $0.name == UnitNames.camera(camera) }
    }

    /// A unit that systemd has not loaded does not run.
    private func phase(of camera: String) -> UnitPhase? {
        units == nil ? nil : unit(of: camera)?.phase ?? .stopped
    }

    /// A process that answers runs, whoever started it.
    private func livePhase(of camera: String) -> UnitPhase? {
        let phase = phase(of: camera)
        return phase == .stopped && documents[camera] != nil ? .running : phase
    }

    private func restarts(of camera: String) -> UInt32 { unit(of: camera)?.restarts ?? 0 }
}
