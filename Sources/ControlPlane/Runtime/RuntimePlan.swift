internal import CameraModel
internal import ControlAPI
internal import Systemd

/// What there is in the runtime directory and in systemd.
struct RuntimePresent: Equatable {
    /// Of cameras, by ID.
    var cameraFiles: [String: [UInt8]] = [:]
    /// Of `relay`, `kas` and `hooks`.
    var serviceFiles: [String: [UInt8]] = [:]
    var health: [UInt8]?
    /// Cameras and services whose unit may run with older settings.
    var cameraRestartMarks: Set<String> = []
    var serviceRestartMarks: Set<String> = []
    /// Of the marked cameras, those whose process lacks nothing but a change that the crew is about to tell it.
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
        var job: UnitLine.Job
        /// Of a change: what the process is told.
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
            plan(
                unit: UnitName.camera(id), file: camera.file, present: present.cameraFiles[id], runs: camera.runs,
                path: paths.cameraFile(id), mode: 0o600, mark: paths.restartMark(id),
                isMarked: present.cameraRestartMarks.contains(id), isChanging: present.changing.contains(id),
                units: present.units, startsIdle: startsIdle)
        }
        for service in UnitName.optional {
            let file = target.services[service]
            plan(
                unit: UnitName.unit(ofService: service), file: file, present: present.serviceFiles[service],
                runs: file != nil, path: paths.serviceFile(service), mode: 0o644,
                mark: paths.serviceRestartMark(service), isMarked: present.serviceRestartMarks.contains(service),
                units: present.units, startsIdle: startsIdle)
        }
        let known = Set(target.cameras.keys.map { UnitName.camera($0) })
        let gone = Set(present.cameraFiles.keys).subtracting(target.cameras.keys)
        for id in gone.sorted() {
            removals.append(paths.cameraFile(id))
            jobs.append(Job(unit: UnitName.camera(id), job: .stop))
        }
        for unit in (present.units ?? [:]).values.sorted(by: { $0.name < $1.name }) {
            guard let id = UnitName.cameraID(unit.name), !known.contains(unit.name), !gone.contains(id), unit.isUp
            else { continue }
            jobs.append(Job(unit: unit.name, job: .stop))
        }
        if present.health != target.health {
            writes.append(Write(path: "\(paths.services)/health.json", bytes: target.health, mode: 0o644))
        }
    }

    private mutating func plan(
        unit: String, file: [UInt8]?, present: [UInt8]?, runs: Bool, path: String, mode: UInt32, mark: String,
        isMarked: Bool, isChanging: Bool = false, units: [String: UnitState]?, startsIdle: Bool
    ) {
        let state = units?[unit]
        // A process that waits for a restart has older settings than its file. Whether it runs at all is for the crew to
        // see: what is known here of a unit may be old.
        let change = !isMarked || isChanging ? Self.change(from: present, to: file) : nil
        let isOther = !Self.says(present, theSameAs: file)
        if let file, file != present {
            if present != nil || state?.isUp == true, runs, isOther {
                marks.append(Mark(path: mark, isChange: change != nil))
            }
            writes.append(Write(path: path, bytes: file, mode: mode))
        }
        if file == nil, present != nil { removals.append(path) }
        guard runs else {
            // What was known of the unit may be older than its last start: one that had a file may run.
            if (file == nil && present != nil) || state?.isUp == true { jobs.append(Job(unit: unit, job: .stop)) }
            return
        }
        if isOther {
            let isNew = present == nil && state?.isUp != true
            jobs.append(Job(unit: unit, job: change != nil ? .change : isNew ? .start : .restart, change: change))
        } else if isMarked, !isChanging, startsIdle {
            jobs.append(Job(unit: unit, job: .restart))
        } else if startsIdle, units == nil || state?.isIdle ?? true {
            jobs.append(Job(unit: unit, job: .start))
        }
    }
}

extension RuntimePlan {
    /// What a process that runs with the settings `present` has to be told to have those of `file`; nil when only a
    /// restart does it, and for what is no camera's.
    private static func change(from present: [UInt8]?, to file: [UInt8]?) -> VideoChange? {
        guard let present, let file, present != file,
            var old = try? JSONDocument.decode(CameraConfiguration.self, from: present),
            let new = try? JSONDocument.decode(CameraConfiguration.self, from: file)
        else { return nil }
        old.instance = old.instance ?? new.instance
        guard let change = old.videoChange(to: new), !change.isEmpty else { return nil }
        return change
    }

    /// Whether a process that has read `present` needs nothing of `file`. What an older control has written does not say
    /// which camera of its ID it is: that alone restarts no camera, and is no change that its owner made.
    static func says(_ present: [UInt8]?, theSameAs file: [UInt8]?) -> Bool {
        if present == file { return true }
        guard let present, let file,
            var old = try? JSONDocument.decode(CameraConfiguration.self, from: present), old.instance == nil,
            let new = try? JSONDocument.decode(CameraConfiguration.self, from: file)
        else { return false }
        old.instance = new.instance
        return old == new
    }

    /// What its marks hold.
    func markContent(isChange: Bool) -> [UInt8] { Array(((isChange ? Self.changePrefix : "") + token).utf8) }

    /// Begins a mark for which the process need not be restarted, as long as somebody knows what it has to be told.
    static let changePrefix = "change "
}

extension UnitState {
    /// Runs, or is about to.
    var isUp: Bool { ["active", "activating", "reloading", "refreshing"].contains(active) }
    /// Does not run, and nobody is working on it; not failed, which is for the health daemon's ladder.
    var isIdle: Bool { active == "inactive" }
}
