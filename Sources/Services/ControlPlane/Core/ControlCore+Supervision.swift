internal import BoxMemory
internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog
internal import Logging
internal import Platform
internal import Systemd

extension ControlCore {
    /// Between two looks at the units.
    static let period = Duration.seconds(2)
    /// Looks at the cameras' processes come with every tick while somebody watches, and with every fifth otherwise.
    private static let slowPeriod = 5

    func listUnits() async -> [String: UnitState]? {
        guard let listed = try? await units.units(matching: UnitName.services) else { return nil }
        let known = listed.filter { state in
            if let id = UnitName.cameraID(state.name) { return CameraIdentifier.isValid(id) }
            return UnitName.service(state.name) != nil
        }
        return Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// One look at everything: units, what waits to be confirmed, what could not be written before.
    func tick() async {
        takeBackUnconfirmed()
        if isIncomplete {
            try? reconcile(startsIdle: true)
        } else if doubts.isDue(at: clock.sinceBoot()) {
            // What is idle is started by the supervision, which knows when.
            try? reconcile()
        }
        if let listed = await listUnits() {
            unitStates = listed
            act(on: listed)
        }
        ticks += 1
        beginTokenCare()
        beginDeviceCare()
        if isUnsaved, ticks % Self.slowPeriod == 0 { saveAgain() }
        guard hub.isWatched || ticks % Self.slowPeriod == 0 else { return }
        await observeStreams()
        if ticks % Self.slowPeriod == 0 { await observeHealth() }
    }

    /// It could not be opened, or only for reading, when this process began, because of its disk; now it can be. Or the
    /// newest generation can be read.
    var canStartAgain: Bool {
        if generationStoreProblem != nil { return generationStore.newest().problem == nil }
        if beganReadOnly { return !(Mount.of(paths.database)?.isFileSystemReadOnly == true) }
        guard memory == nil, let memoryFailure, [.readOnly, .diskFull, .writeFailed].contains(memoryFailure.code) else {
            return false
        }
        return (try? BoxMemory(path: paths.database)) != nil
    }

    private func act(on listed: [String: UnitState]) {
        guard !isConfigurationUnknown else { return }
        let marks = runtime.restartMarks()
        var desired: [String: Supervision.Desired] = [:]
        let held = Set(target.cameras.filter { $0.value.doubt != nil }.keys.map { UnitName.camera($0) })
        for (id, camera) in target.cameras {
            desired[UnitName.camera(id)] = Supervision.Desired(
                runs: camera.runs, needsRestart: marks.contains(UnitName.camera(id)))
        }
        for unit in target.services.keys {
            desired[unit] = Supervision.Desired(runs: true, needsRestart: marks.contains(unit))
        }
        let actions = supervision.observed(
            Array(listed.values), desired: desired, busy: unitJobs.busy.union(held), now: clock.sinceBoot())
        for action in actions {
            switch action {
            case .job(let job, let unit):
                logger.notice(
                    "\(unit) is not as it should be: asks systemd to \(job.rawValue) it",
                    metadata: ["unit": "\(unit)", "job": "\(job.rawValue)"])
                unitJobs.request(job, unit)
            case .forget(let unit):
                let units = self.units
                Task { try? await units.resetFailed(unit) }
            case .report(let notice):
                let (topic, object) = Self.subject(ofUnit: notice.unit)
                hub.publish(topic, object: object, code: notice.code, notice.text)
            }
        }
    }

    private func observeStreams() async {
        let documents = await streams()
        reportNews(of: documents)
        observeNetwork(documents)
        observeMoves(documents)
        observeThumbnails(documents)
    }

    /// Reports when a stream is no longer live, or live again.
    func reportNews(of documents: [StreamDocument]) {
        let now = clock.sinceBoot()
        for document in documents {
            var news = streamNews[document.camera, default: StreamNews()]
            if news.hasConnected(document.state, at: now) {
                keep(LearnedCamera(lastConnected: clock.seconds), of: document.camera)
            }
            let word = news.saw(document.state, document.reason, document.code, at: now)
            streamNews[document.camera] = news
            guard let word else { continue }
            hub.publish(.camera, object: document.camera, code: word.code, word.text)
        }
        let known = Set(documents.map(\.camera))
        streamNews = streamNews.filter { known.contains($0.key) }
    }

    /// What the health daemon has seen since the last time, as events.
    private func observeHealth() async {
        let client = ControlClient(socketPath: paths.healthSocket, readTimeout: deadlines.status)
        guard
            let history = try? await client.get(
                HealthHistoryDocument.self, APIPath.health("history"), query: [("hours", "1")])
        else { return }
        let newest = history.events.map(\.id).max() ?? 0
        // Its database may have begun again; then what is there now is old news.
        guard let last = lastHealthEvent, last <= newest else {
            lastHealthEvent = newest
            return
        }
        for event in history.events.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }).suffix(100) {
            hub.publish(.health, object: event.object ?? event.check, code: event.code, event.text)
        }
        lastHealthEvent = newest
    }
}
