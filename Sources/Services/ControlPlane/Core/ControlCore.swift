internal import BoxConfiguration
internal import BoxMemory
internal import ControlAPI
internal import ControlClient
internal import CredentialStore
internal import Discovery
internal import ErrorCatalog
internal import Logging
internal import ONVIF
internal import Platform
internal import Settings
internal import Systemd

/// The box's configuration and what is made of it: one change after the other, each either completely or not at all.
///
/// A change is committed without waiting for anything but the disk; jobs for units go to the crew, which works on its
/// own. So no camera that is slow to start holds up a change, and no change sees a half of another.
actor ControlCore {
    /// Of all the operator's files together: a generation keeps them.
    static let filesLimit = 1 << 20

    let paths: ControlPaths
    let transaction: FileTransaction
    let generationStore: GenerationStore
    let runtime: RuntimeFiles
    nonisolated let memory: BoxMemory?
    /// Why there is none: events are published but not kept, and nothing is learned of cameras.
    let memoryFailure: CodedError?
    /// Its disk took no writes when it was opened: SQLite then never writes through that connection.
    let beganReadOnly: Bool
    let credentials: CredentialStore
    let units: any UnitControl
    nonisolated let unitJobs: UnitJobs
    nonisolated let hub: EventHub
    nonisolated let processes: CameraProcesses
    let deadlines: ProcessDeadlines
    /// Searches of the network and tests of cameras.
    nonisolated let jobs: NetworkJobs
    let clock: ControlClock
    let serviceChecks: ServiceChecks
    let logger: Logger
    let version: String
    /// Of `CLOCK_BOOTTIME`.
    let startedAt: Duration

    /// What runs.
    var current = Generation.none
    /// Why the operator's files are not what runs (`WB-1005`); nil when they are.
    var filesProblem: CodedError?
    /// Why the last change, or the configuration at boot, is not saved.
    var savingProblem: CodedError?
    /// Why it is not known of a camera whether its secrets are there; what runs goes on meanwhile.
    var secretsProblem: CodedError?
    /// When that is looked at again.
    var doubts = DoubtPacing()
    /// Why an older generation runs, or none: nothing is changed, saved or cleared away on that ground.
    var generationStoreProblem: CodedError?
    /// No generation can be read: whatever runs goes on.
    var isConfigurationUnknown: Bool { generationStoreProblem != nil && current.number == 0 }
    /// What runs is on no disk yet.
    var isUnsaved = false
    /// By ID, for cameras that came since control started: another number is another camera.
    var arrivals: [String: Int] = [:]
    /// Requests are answered from here on.
    nonisolated let booted = BootGate()
    var warnings: [ConfigurationIssue] = []
    var pending: PendingConfirmation?
    var target: RuntimeTarget
    /// Runtime files that could not be written; tried again with the next tick.
    var isIncomplete = false
    /// As systemd said last.
    var unitStates: [String: UnitState]?
    /// When, and after how many jobs, somebody's question led to that.
    var unitsAsked: (jobs: Int, at: Duration)?
    var supervision = Supervision()
    var ticks = 0
    var streamNews: [String: StreamNews] = [:]
    var lastHealthEvent: Int64?
    /// By ID.
    var network: [String: NetworkMemory] = [:]
    var thumbnails: [String: [UInt8]] = [:]
    var thumbnailTask: Task<Void, Never>?
    var awayWatch = AwayWatch()
    /// A look around for cameras that are away, or a question to one that is there; never two.
    var moveTask: Task<Void, Never>?
    let sightings: @Sendable ([String]) async -> [Sighting]
    let identityAt: @Sendable (String) async -> DeviceIdentity?
    let keyAccessTools: KeyAccessTools
    var tokens = HeldTokens()
    var signing = HeldDevice()
    /// The camera whose secrets are sealed for another ID at this moment: nothing else changes meanwhile.
    var beingRenamed: String?
    /// Somebody wanted the files to be read meanwhile.
    var isReloadOwed = false
    private var marks = 0
    var commits = 0

    init(
        paths: ControlPaths, transaction: FileTransaction, units: any UnitControl, credentials: CredentialStore,
        network: NetworkTools, keyAccess: KeyAccessTools, version: String, logger: Logger, clock: ControlClock,
        deadlines: ProcessDeadlines
    ) {
        self.paths = paths
        self.transaction = transaction
        self.units = units
        self.credentials = credentials
        keyAccessTools = keyAccess
        self.version = version
        self.logger = logger
        self.clock = clock
        serviceChecks = ServiceChecks(directories: paths.unitDirectories, libraries: paths.systemdLibraries)
        startedAt = clock.sinceBoot()
        generationStore = GenerationStore(directory: paths.generations, transaction: transaction)
        let runtime = RuntimeFiles(paths: paths, transaction: transaction)
        self.runtime = runtime
        self.deadlines = deadlines
        let processes = CameraProcesses(paths: paths, deadlines: deadlines)
        self.processes = processes
        target = RuntimeTarget(
            settings: BoxSettings(), paths: paths, stopped: [], problem: nil, signingSecret: { _ in nil },
            hasSecret: { _, _ in false })
        beganReadOnly = (Mount.of(paths.database)?.isFileSystemReadOnly == true)
        do {
            memory = try BoxMemory(path: paths.database)
            memoryFailure = nil
        } catch {
            memory = nil
            memoryFailure = CodedError(error)
        }
        let hub = EventHub(memory: memory, now: clock.realtimeMicroseconds)
        self.hub = hub
        sightings = network.sightings
        identityAt = network.identity
        jobs = NetworkJobs(tools: network, clock: clock, hub: hub)
        unitJobs = UnitJobs(
            units: units, willDo: transaction.willDo,
            prepare: { unit, isDown in
                if let id = UnitName.cameraID(unit), CameraIdentifier.isValid(id) {
                    try Self.provide(to: id, credentials, runtime, hub: hub, logger: logger)
                    if isDown { runtime.clearSocket(of: id) }
                }
                if unit == UnitName.hooks { try Self.provideToHooks(credentials, runtime, logger: logger) }
                return runtime.restartToken(ofUnit: unit)
            },
            change: { unit, change, user in
                guard let id = UnitName.cameraID(unit), CameraIdentifier.isValid(id) else { return }
                try await processes.change(change, of: id, user: user)
            },
            ended: { outcome in Self.ended(outcome, runtime: runtime, hub: hub, logger: logger) })
    }

    /// What a camera's unit loads: its own secrets, and those of the box that its settings name and it is given none of
    /// its own for. A secret that cannot be opened is reported and left out: whether this camera needs it is for its
    /// process to say, and one that no process uses must not keep the others from starting.
    static func provide(
        to camera: String, _ credentials: CredentialStore, _ runtime: RuntimeFiles, hub: EventHub, logger: Logger
    ) throws(CredentialError) {
        let unit = UnitName.camera(camera)
        guard let lack = try provide(to: "camera-\(camera)", unit: unit, credentials, runtime) else { return }
        let text = "starts without a secret: \(lack.what)\(lack.why.map { ": \($0)" } ?? "")"
        hub.publish(.camera, object: camera, code: lack.code, text)
        logger.warning("camera \(camera) \(text)", metadata: ["camera": "\(camera)", "code": "\(lack.code)"])
    }

    /// What the unit of the hooks loads: of the box's secrets those that its settings name. One that cannot be opened
    /// is left out; its hook says so.
    static func provideToHooks(
        _ credentials: CredentialStore, _ runtime: RuntimeFiles, logger: Logger
    ) throws(CredentialError) {
        guard let lack = try provide(to: "hooks", unit: UnitName.hooks, credentials, runtime) else { return }
        // No event: what is wrong with hooks is not reported by hooks.
        logger.warning("the hooks start without a secret: \(lack)", metadata: ["code": "\(lack.code)"])
    }

    /// - Returns: why one of them was left out; nil: none was.
    private static func provide(
        to scope: String, unit: String, _ credentials: CredentialStore, _ runtime: RuntimeFiles
    ) throws(CredentialError) -> CodedError? {
        do throws(CredentialError) {
            // Whatever a file names: what vouches for every camera's key is given to none.
            try credentials.provide(runtime.secretNames(ofUnit: unit).subtracting(BoxDevice.secretNames), to: scope)
            return nil
        } catch {
            switch error {
            case .damaged, .keyMissing, .notInMemory: return CodedError(error)
            default: throw error
            }
        }
    }

    /// A job is done: the mark that requested it goes, unless a newer change has left another.
    private static func ended(_ outcome: UnitJobs.Outcome, runtime: RuntimeFiles, hub: EventHub, logger: Logger) {
        var isObsolete = outcome.failure == nil
        // The old process has ended, and the next one reads the new settings.
        if case .jobFailed? = outcome.failure { isObsolete = true }
        if isObsolete, let mark = outcome.mark, runtime.restartToken(ofUnit: outcome.unit) == mark,
            let path = runtime.paths.restartMark(ofUnit: outcome.unit)
        {
            try? runtime.transaction.remove(path)
        }
        let (topic, object) = Self.subject(ofUnit: outcome.unit)
        if let refusal = outcome.refusal {
            let text = "is restarted, since it did not take the change over: \(refusal)"
            hub.publish(topic, object: object, text)
            logger.notice("\(object) \(text)", metadata: ["unit": "\(outcome.unit)"])
        }
        guard let failure = outcome.failure else { return }
        hub.publish(
            topic, object: object, code: .systemManager, "could not \(outcome.job.rawValue): \(failure)")
        logger.warning(
            "systemd did not \(outcome.job.rawValue) \(outcome.unit): \(failure)",
            metadata: [
                "unit": "\(outcome.unit)", "job": "\(outcome.job.rawValue)", "code": "\(ErrorCode.systemManager)",
            ])
    }

    static func subject(ofUnit unit: String) -> (EventTopic, object: String) {
        if let id = UnitName.cameraID(unit) { return (.camera, id) }
        switch unit {
        case UnitName.keyAccess: return (.kas, unit)
        case UnitName.hooks: return (.system, unit)
        default: return (.relay, unit)
        }
    }

    /// Answers when the actor is free, the memory reads and the crew takes requests: what the watchdog asks.
    func isAlive() {
        _ = try? memory?.latestEventID()
        _ = unitJobs.busy
    }

    /// One line for systemd.
    var summary: String {
        let count = current.settings.cameras.count
        let cameras = "\(count) camera\(count == 1 ? "" : "s"), generation \(current.number)"
        if filesProblem != nil { return "\(cameras), files are not valid (\(ErrorCode.lastGoodInUse))" }
        return pending == nil ? cameras : "\(cameras), waits to be confirmed"
    }

    // MARK: Parts that changes share

    /// The operator's files as they are on disk.
    func filesOnDisk() throws(CodedError) -> [Generation.KeptFile] {
        let files = try ConfigurationFiles.read(directory: paths.configurationDirectory)
        guard files.reduce(0, { $0 + $1.text.utf8.count }) <= Self.filesLimit else {
            throw CodedError(
                .unreadableFile, "the files in \(paths.configurationDirectory) are too long",
                why: "together they have more than \(Self.filesLimit) bytes")
        }
        return [Generation.KeptFile](files)
    }

    /// What files and store make together, without the objects that this version refuses: `quarantined` names those.
    static func admit(
        _ files: [Generation.KeptFile], _ content: StoreContent
    ) throws(CodedError) -> (settings: BoxSettings, warnings: [ConfigurationIssue]) {
        let (settings, issues) = ConfigurationReader.admit(files: files.sources, stored: content.parts)
        guard let settings else { throw CodedError(issues.filter { !$0.isWarning }) }
        return (settings, issues.filter(\.isWarning))
    }

    /// What a change makes of files and store. It is refused with what it has refused; what was quarantined before and
    /// stays as it is holds no other change up.
    ///
    /// - Parameter renaming: of a camera: a hook that names it is changed by that alone, and nobody asked for it.
    func resolve(
        _ files: [Generation.KeptFile], _ content: StoreContent, renaming: (from: String, to: String)? = nil
    ) throws(CodedError) -> (settings: BoxSettings, warnings: [ConfigurationIssue]) {
        let (settings, warnings) = try Self.admit(files, content)
        var store = current.store
        if let renaming { store.renameInHooks(renaming.from, to: renaming.to) }
        let former = store.parts
        let changed = Set(content.parts.filter { !former.contains($0) }.map { StoredPart.shown($0.object) })
        let refused = settings.quarantined.values.filter { object in
            guard let known = current.settings.quarantined[object.object], known.isStored == object.isStored else {
                return true
            }
            return object.isStored ? changed.contains(object.object) : files != current.files
        }
        guard refused.isEmpty else {
            throw CodedError(refused.sorted { $0.object < $1.object }.flatMap(\.issues))
        }
        return (settings, warnings)
    }

    func makeTarget(_ settings: BoxSettings, _ content: StoreContent, stopped: Set<String>) -> RuntimeTarget {
        var box: Set<String>?
        func names(_ scope: String) throws(CodedError) -> Set<String> {
            do throws(CredentialError) { return Set(try credentials.names(scope: scope)) } catch {
                throw CodedError(error)
            }
        }
        let problem = filesProblem.map { Self.message($0) }
        func instance(_ id: String) -> String? {
            // One of the store stays the same when a file takes it over. One of files alone is the same for as long as
            // its frames come from the same place.
            if let uuid = content.camera(id)?.uuid { return uuid }
            return settings.cameras[id].map { "file-" + Fingerprint.text($0.source) }
        }
        return RuntimeTarget(
            settings: settings, paths: paths, stopped: stopped, problem: problem, instance: instance,
            signingSecret: { self.signingSecret(forStream: $0) }
        ) { (name, camera) throws(CodedError) in
            if try names("camera-\(camera)").contains(name) { return true }
            let ofBox: Set<String>
            if let box { ofBox = box } else { ofBox = try names("box") }
            box = ofBox
            return ofBox.contains(name)
        }
    }

    /// Never twice the same.
    func nextMark() -> String {
        marks += 1
        return "\(clock.bootIdentifier) \(clock.sinceBoot()) \(marks)"
    }

    func nextNumber() -> Int { max(generationStore.highestNumber(), current.number) + 1 }
}

extension CodedError {
    /// All that is wrong with a configuration, represented by its first issue.
    init(_ issues: [ConfigurationIssue]) {
        guard let first = issues.first else {
            self.init(.invalidValue, "the configuration is not valid")
            return
        }
        let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
        // The issue's own text begins with the code, and so will this error's.
        let code = "\(first.code) "
        let issue = "\(first)"
        let text = issue.hasPrefix(code) ? String(issue.dropFirst(code.count)) : issue
        self.init(first.code, "\(text)\(more)", why: nil, hint: first.hint, object: first.file ?? first.key)
    }
}
