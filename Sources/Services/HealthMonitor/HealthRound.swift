internal import BoxReadings
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Platform
internal import Synchronization
internal import Systemd

/// One round after the other: starts what is due, waits a little, takes what came, decides, saves, and says so.
struct HealthRound: Sendable {
    private let service: HealthService
    private let file: LadderFile
    private let saving = ProbeSlot<String?>()
    private var ladder: EscalationLadder
    private var ladderTrouble: String?
    private var saved: LadderState?
    private var savedAt: UInt64 = 0
    /// Why the last save failed; nil: it worked.
    private var saveTrouble: String?
    private var settingsFile: SettingsFile
    private var settingsTrouble: String?
    private var slots: [Probe: ProbeSlot<Reading>] = [:]
    private var startedAt: [Probe: UInt64] = [:]
    private var lastReadingAt: UInt64
    private var isReady = false

    /// Seconds after a save for the next one in which nothing but the box's age is new: a save is a file, a folder and
    /// two commits of the journal, some 100 kB on a card. A box whose power is cut time and again, after twenty minutes
    /// or more, loses half of its age at most.
    ///
    /// - Parameter saved: seconds since boot, of the save.
    private static func saveInterval(after saved: Double) -> Double { min(max(saved, 600), 3600) }

    init(_ service: HealthService) async {
        self.service = service
        file = LadderFile(directory: service.paths.stateDirectory)
        settingsFile = SettingsFile(path: service.paths.settingsFile)
        let now = service.clock.now()
        lastReadingAt = now.uptime
        let file = file
        let boot = SmallFile.line("\(service.paths.box.processRoot)/sys/kernel/random/boot_id") ?? ""
        let loaded =
            await ProbeSlot<LadderFile.Loaded>().run(limit: HealthService.diskTimeout, clock: service.clock) {
                file.load()
            }
            ?? LadderFile.Loaded(state: LadderState(), trouble: "\(file.directory) does not answer; larger steps wait")
        var state = loaded.state
        state.begin(boot: boot, uptime: now.uptime / 1_000_000_000)
        if loaded.trouble != nil { state.exhaust() }
        ladder = EscalationLadder(state: state)
        ladderTrouble = loaded.trouble
        service.shared.withLock { shared in
            shared.runner = CheckRunner(lastEnd: state.lastEnd)
            shared.ladder = state
        }
    }

    /// - Returns: the steps that are to be taken now.
    mutating func turn() async -> [EscalationLadder.Action] {
        readSettings()
        let (settings, probes) = service.shared.withLock { ($0.runner.settings, $0.runner.probes) }
        let started = start(probes, settings)
        await wait(started)
        collect(probes)
        let actions = await decide()
        report()
        return actions
    }

    /// The monitor stops because it was asked to.
    mutating func end() async {
        ladder.advance(uptime: service.clock.now().uptime / 1_000_000_000)
        ladder.endOrderly()
        await save()
        await service.history.finish(limit: HealthService.diskTimeout, clock: service.clock)
    }

    // MARK: Readings

    private mutating func readSettings() {
        switch settingsFile.changes() {
        case nil: break
        case .settings(let settings):
            settingsTrouble = nil
            service.shared.withLock { $0.runner.use(settings) }
        case .invalid(let why): settingsTrouble = why
        }
    }

    /// - Returns: what was begun now. What hangs since an earlier round is not waited for again.
    private mutating func start(_ probes: [Probe], _ settings: HealthServiceSettings) -> [Probe] {
        var started: [Probe] = []
        let now = service.clock.now()
        slots = slots.filter { probes.contains($0.key) || $0.value.busySince != nil }
        startedAt = startedAt.filter { slots[$0.key] != nil }
        for probe in probes {
            let (inTrouble, witness) = service.shared.withLock { shared in
                var witness: String?
                if case .relay(let name) = probe { witness = shared.runner.witness(of: name) }
                return (shared.runner.isInTrouble(probe), witness)
            }
            // Half a pause early: a round that begins a little sooner than the last must not skip its turn.
            if let last = startedAt[probe],
                now.seconds(since: last) < probe.period(inTrouble: inTrouble) - 1
            {
                continue
            }
            let slot = slots[probe] ?? ProbeSlot<Reading>()
            slots[probe] = slot
            if service.reader.start(probe, in: slot, at: now.uptime, settings: settings, witness: witness) {
                startedAt[probe] = now.uptime
                started.append(probe)
            }
        }
        return started
    }

    private func wait(_ probes: [Probe]) async {
        let awaited = probes.filter(\.isAwaited).compactMap { slots[$0] }.filter { $0.busySince != nil }
        guard !awaited.isEmpty else { return }
        await Waiting.until(limit: HealthService.timeout, clock: service.clock) {
            for slot in awaited { await slot.ended() }
        }
    }

    private mutating func collect(_ probes: [Probe]) {
        let now = service.clock.now()
        var news: [CheckRunner.News] = []
        // The order of `probes`: units come first, because a camera's answer is read in their light.
        for probe in probes {
            guard let slot = slots[probe] else { continue }
            if let reading = slot.take() {
                lastReadingAt = now.uptime
                news += service.shared.withLock { $0.runner.took(probe, reading, at: now) }
            } else if let since = slot.busySince, now.seconds(since: since) >= probe.limit {
                news += service.shared.withLock {
                    $0.runner.late(probe, seconds: now.seconds(since: since), at: now)
                }
            }
        }
        report(news, at: now)
    }

    private func report(_ news: [CheckRunner.News], at now: HealthInstant) {
        for item in news {
            switch item {
            case .clockStep(let seconds):
                service.report(
                    HealthEvent(
                        id: 0, time: now.realtimeSeconds, kind: "state", check: CheckName.clock.rawValue,
                        text: "the clock was set by \(seconds.tenths) s", code: .clockStepped))
            case .change(let change):
                let finding = change.finding
                let states = [change.from, finding.state]
                guard states.contains(.warn) || states.contains(.fail) || finding.state == .unknown else { continue }
                let name = finding.check.rawValue + (finding.object.map { " \($0)" } ?? "")
                service.report(
                    HealthEvent(
                        id: 0, time: now.realtimeSeconds, kind: "state", check: finding.check.rawValue,
                        object: finding.object, from: change.from, to: finding.state,
                        text: "\(name) is \(finding.state.rawValue): \(finding.evidence)", code: finding.code))
            }
        }
    }

    // MARK: Steps

    private mutating func decide() async -> [EscalationLadder.Action] {
        let now = service.clock.now()
        var observation = service.shared.withLock { $0.runner.observation(at: now) }
        let earlier = ladder
        var actions = ladder.observe(observation)
        let isNews = ladder.state.uses != earlier.state.uses || ladder.state.totals != earlier.state.totals
        // What could not be written is tried sooner: it costs no card anything.
        let interval = saveTrouble == nil ? Self.saveInterval(after: Double(savedAt) / 1e9) : 600
        // On record before it is done: a step that ends this process must not be forgotten.
        if isNews || saved == nil || now.seconds(since: savedAt) >= interval { await save() }
        if saveTrouble != nil {
            // Decided once more, as of a box that forgets what it does.
            ladder = earlier
            observation.isStateSaved = false
            actions = ladder.observe(observation)
        }
        service.shared.withLock { [state = ladder.state] in $0.ladder = state }
        return actions
    }

    private mutating func save() async {
        let state = ladder.state
        let file = file
        savedAt = service.clock.now().uptime
        let result = await saving.run(limit: HealthService.diskTimeout, clock: service.clock) { () -> String? in
            do throws(LadderFile.Failure) {
                try file.save(state)
                return nil
            } catch {
                return "\(error)"
            }
        }
        switch result {
        case .some(let trouble): saveTrouble = trouble
        case .none: saveTrouble = "\(file.directory) does not answer"
        }
        saved = state
    }

    // MARK: What is reported

    private mutating func report() {
        let now = service.clock.now()
        service.history.turn(at: now)
        // Before the lock, which they take as well.
        let own = ownFindings()
        let news = service.shared.withLock { shared in shared.runner.tookOwn(own, at: now) }
        report(news, at: now)
        let summary = service.shared.withLock { $0.runner.summary }
        if !isReady {
            isReady = true
            service.notifier.ready(status: summary)
        } else {
            service.notifier.status(summary)
        }
        // The end of a round, and one that learned something not long ago: nothing else proves that this works.
        if now.seconds(since: lastReadingAt) < HealthService.blindness { service.notifier.watchdog() }
    }

    private func ownFindings() -> [Finding] {
        var troubles: [(String, ErrorCode)] = []
        if let settingsTrouble { troubles.append((settingsTrouble, .invalidValue)) }
        if let saveTrouble { troubles.append(("the ladder's budgets cannot be saved: \(saveTrouble)", .writeFailed)) }
        if let ladderTrouble { troubles.append((ladderTrouble, .writeFailed)) }
        if let trouble = service.history.trouble {
            let lost = service.history.lost
            troubles.append(
                (
                    "the history is kept in memory only: \(trouble.text)"
                        + (lost > 0 ? "; \(lost) events are lost" : ""),
                    trouble.code
                ))
        }
        let settings = service.shared.withLock { $0.runner.settings }
        let configuration =
            if let problem = settings.configurationProblem {
                Finding(.configuration, nil, .warn, problem, code: .lastGoodInUse)
            } else if let quarantine = settings.quarantine {
                Finding(.configuration, nil, .warn, quarantine, code: .objectQuarantined)
            } else {
                Finding(.configuration, nil, .ok, "the operator's files are what runs")
            }
        guard let first = troubles.first else {
            return [configuration, Finding(.monitor, nil, .ok, "settings, budgets and history are in order")]
        }
        return [
            configuration, Finding(.monitor, nil, .warn, troubles.map(\.0).joined(separator: "; "), code: first.1),
        ]
    }
}
