internal import CameraModel
internal import ControlAPI
internal import Systemd

/// What there is in the runtime directory and in systemd.
struct RuntimePresent: Equatable {
    /// By unit.
    var files: [String: UnitFile] = [:]
    /// Units whose files are there and cannot be read as what they should be.
    var unreadable: Set<String> = []
    var health: HealthServiceSettings?
    /// Units that may run with older settings.
    var restartMarks: Set<String> = []
    /// Of these, those whose process lacks nothing but a change that the crew is about to send it.
    var changing: Set<String> = []
    /// By unit name; nil when systemd was not asked: then nothing is started that nothing changed for.
    var units: [String: UnitState]?
}

/// The least that brings `present` to `target`: files that are different, and jobs for the units that they are for.
struct RuntimePlan: Equatable {
    struct Write: Equatable {
        var path: String
        var bytes: [UInt8]
        var mode: UInt32
    }

    struct Job: Equatable {
        var unit: String
        var job: UnitJobQueue.Job
        /// Of a change: what the process is sent.
        var change: VideoChange?
    }

    /// A file that says "this unit may run with older settings": there before the file is, and gone after the restart,
    /// or after the process has taken the change over. What a kill leaves behind becomes a restart.
    struct Mark: Equatable {
        var path: String
        var isChange: Bool
    }

    /// What marks hold, so that the end of an older restart does not take a newer one's mark away.
    var token: String
    var writes: [Write] = []
    var marks: [Mark] = []
    var removals: [String] = []
    var jobs: [Job] = []

    /// - Parameter startsIdle: start what should run and does not, though nothing changed for it. At boot yes; after a
    ///   change the supervision does it, so that a change for one camera never touches another.
    init(
        from present: RuntimePresent, to target: RuntimeTarget, paths: ControlPaths, token: String, startsIdle: Bool
    ) {
        self.token = token
        for (id, camera) in target.cameras.sorted(by: { $0.key < $1.key }) where camera.doubt == nil {
            plan(UnitName.camera(id), camera.file, runs: camera.runs, present, paths, startsIdle: startsIdle)
        }
        for service in UnitName.optional {
            let unit = UnitName.unit(ofService: service)
            let file = target.services[unit]
            plan(unit, file, runs: file != nil, present, paths, startsIdle: startsIdle)
        }
        let known = Set(target.cameras.keys.map { UnitName.camera($0) })
        let gone = present.unreadable.union(present.files.keys).filter {
            UnitName.cameraID($0) != nil && !known.contains($0)
        }
        for unit in gone.sorted() {
            if let path = paths.file(ofUnit: unit) { removals.append(path) }
            jobs.append(Job(unit: unit, job: .stop))
        }
        for unit in (present.units ?? [:]).values.sorted(by: { $0.name < $1.name }) {
            guard UnitName.cameraID(unit.name) != nil, !known.contains(unit.name), !gone.contains(unit.name), unit.isUp
            else { continue }
            jobs.append(Job(unit: unit.name, job: .stop))
        }
        if present.health != target.health {
            writes.append(
                Write(path: "\(paths.services)/health.json", bytes: JSONDocument.bytes(target.health), mode: 0o644))
        }
    }

    private mutating func plan(
        _ unit: String, _ file: UnitFile?, runs: Bool, _ present: RuntimePresent, _ paths: ControlPaths,
        startsIdle: Bool
    ) {
        guard let path = paths.file(ofUnit: unit), let mark = paths.restartMark(ofUnit: unit) else { return }
        let (known, state) = (present.files[unit], present.units?[unit])
        let isThere = known != nil || present.unreadable.contains(unit)
        let isMarked = present.restartMarks.contains(unit)
        let isChanging = present.changing.contains(unit)
        // A process that waits for a restart has older settings than its file. Whether it runs at all is for the crew
        // to see: what is known here of a unit may be old.
        let change = !isMarked || isChanging ? file.flatMap { known?.change(to: $0) } : nil
        let isOther = file.map { known?.says(theSameAs: $0) != true } ?? isThere
        if let file, file != known {
            if isThere || state?.isUp == true, runs, isOther {
                marks.append(Mark(path: mark, isChange: change != nil))
            }
            writes.append(Write(path: path, bytes: file.bytes, mode: file.mode))
        }
        if file == nil, isThere { removals.append(path) }
        guard runs else {
            // What was known of the unit may be older than its last start: one that had a file may run.
            if (file == nil && isThere) || state?.isUp == true { jobs.append(Job(unit: unit, job: .stop)) }
            return
        }
        if isOther {
            let isNew = !isThere && state?.isUp != true
            jobs.append(Job(unit: unit, job: change != nil ? .change : isNew ? .start : .restart, change: change))
        } else if isMarked, !isChanging, startsIdle {
            jobs.append(Job(unit: unit, job: .restart))
        } else if startsIdle, present.units == nil || state?.isIdle ?? true {
            jobs.append(Job(unit: unit, job: .start))
        }
    }
}

extension RuntimePlan {
    mutating func ask(for job: UnitJobQueue.Job, of unit: String) {
        guard let index = jobs.firstIndex(where: { $0.unit == unit }) else {
            return jobs.append(Job(unit: unit, job: job))
        }
        // Every other one leads to what was asked for.
        if job == .restart { jobs[index] = Job(unit: unit, job: .restart) }
    }

    /// What its marks hold.
    func markContent(isChange: Bool) -> [UInt8] { Array(((isChange ? Self.changePrefix : "") + token).utf8) }

    /// Begins a mark for which the process need not be restarted, as long as it is known what has to be sent to it.
    static let changePrefix = "change "
}

extension UnitState {
    /// Runs, or is about to.
    var isUp: Bool { ["active", "activating", "reloading", "refreshing"].contains(active) }
    /// Does not run, and nobody is working on it; not failed, which is for the health daemon's ladder.
    var isIdle: Bool { active == "inactive" }
}
