internal import Systemd

/// What there is in the runtime directory and in systemd.
struct RuntimePresent: Equatable {
    /// Of cameras, by ID.
    var cameraFiles: [String: [UInt8]] = [:]
    /// Of `relay` and `kas`.
    var serviceFiles: [String: [UInt8]] = [:]
    var health: [UInt8]?
    /// Cameras and services whose unit may run with older settings.
    var cameraRestartMarks: Set<String> = []
    var serviceRestartMarks: Set<String> = []
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
    }

    var writes: [Write] = []
    /// Files that say "restart this unit"; there before the file is, and gone after the restart.
    var marks: [String] = []
    var removals: [String] = []
    var jobs: [Job] = []

    /// - Parameter startsIdle: start what should run and does not, though nothing changed for it. At boot yes; after a
    ///   change the supervision does it, so that a change for one camera never touches another.
    init(from present: RuntimePresent, to target: RuntimeTarget, paths: ControlPaths, startsIdle: Bool) {
        for (id, camera) in target.cameras.sorted(by: { $0.key < $1.key }) {
            plan(
                unit: UnitName.camera(id), file: camera.file, present: present.cameraFiles[id], runs: camera.runs,
                path: paths.cameraFile(id), mode: 0o600, mark: paths.restartMark(id),
                isMarked: present.cameraRestartMarks.contains(id), units: present.units, startsIdle: startsIdle)
        }
        for service in ["kas", "relay"] {
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
        isMarked: Bool, units: [String: UnitState]?, startsIdle: Bool
    ) {
        let state = units?[unit]
        if let file, file != present {
            if present != nil || state?.isUp == true, runs { marks.append(mark) }
            writes.append(Write(path: path, bytes: file, mode: mode))
        }
        if file == nil, present != nil { removals.append(path) }
        guard runs else {
            // What was known of the unit may be older than its last start: one that had a file may run.
            if (file == nil && present != nil) || state?.isUp == true { jobs.append(Job(unit: unit, job: .stop)) }
            return
        }
        if file != present {
            let isNew = present == nil && state?.isUp != true
            jobs.append(Job(unit: unit, job: isNew ? .start : .restart))
        } else if isMarked, startsIdle {
            jobs.append(Job(unit: unit, job: .restart))
        } else if startsIdle, units == nil || state?.isIdle ?? true {
            jobs.append(Job(unit: unit, job: .start))
        }
    }
}

extension UnitState {
    /// Runs, or is about to.
    var isUp: Bool { ["active", "activating", "reloading", "refreshing"].contains(active) }
    /// Does not run, and nobody is working on it; not failed, which is for the health daemon's ladder.
    var isIdle: Bool { active == "inactive" }
}
