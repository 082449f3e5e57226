internal import BoxConfiguration
internal import BoxMemory
internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog
internal import Logging
internal import Settings

/// A change that was checked and can be committed.
struct Proposal {
    /// For the history: `camera add front`.
    var cause: String
    var files: [Generation.KeptFile]
    var ignoredFiles: [Generation.KeptFile]?
    var content: StoreContent
    var settings: BoxSettings
    var warnings: [ConfigurationIssue]
    var confirmSeconds: Int?
    /// Of a camera that gets another ID: that one, when some of its secrets are there already.
    var prepared: String?
    /// UUID of a camera that is the same device at another source.
    var sameDevice: String?
}

extension ControlCore {
    /// What a change of the store would be; refuses what the configuration would refuse.
    func propose(
        _ cause: String, renaming: (from: String, to: String)? = nil, _ change: (inout StoreContent) -> Void
    ) throws -> Proposal {
        try requireNothingPending()
        var content = current.store
        change(&content)
        let (settings, warnings) = try resolve(current.files, content, renaming: renaming)
        return Proposal(
            cause: cause, files: current.files, ignoredFiles: current.ignoredFiles, content: content,
            settings: settings, warnings: warnings)
    }

    /// - Parameters:
    ///   - requested: the revision that a change is based on; 0: there is none yet; nil: whatever it is.
    ///   - changed: the one that the object has; nil: there is none.
    static func check(_ requested: Int?, of object: String, _ changed: Int?) throws(CodedError) {
        guard let requested, requested != changed ?? 0 else { return }
        throw CodedError(
            .conflict, "\(object) was not changed",
            why: changed == nil ? "it does not exist any more" : "it was changed in between",
            hint: "Read it again and repeat the change")
    }

    /// - Parameter acceptsOlder: for who goes on from an older generation because the newest cannot be read.
    func requireNothingPending(acceptsOlder: Bool = false) throws(CodedError) {
        if let generationStoreProblem, !acceptsOlder || current.number == 0 { throw generationStoreProblem }
        if let beingRenamed {
            throw CodedError(
                .busy, "camera \(beingRenamed) is being renamed", why: "until then nothing else changes",
                hint: "Try again in a moment")
        }
        guard let pending else { return }
        throw CodedError(
            .busy, "generation \(pending.generation) waits to be confirmed",
            why: "until then, or until it is taken back, nothing else changes",
            hint: "Confirm it: watchboxctl config confirm")
    }

    func difference(_ proposal: Proposal) -> ConfigurationDiff {
        ConfigurationDiff(
            fromGeneration: current.number,
            changes: current.settings.changes(to: proposal.settings).map { change in
                var change = change
                if change.action == .restartCamera, isLive(change.object, proposal.settings) {
                    change.action = .changeCamera
                }
                return change
            }, confirmWithinSeconds: proposal.confirmSeconds)
    }

    /// The camera can take it over while it publishes.
    private func isLive(_ object: String, _ settings: BoxSettings) -> Bool {
        guard object.hasPrefix("camera.") else { return false }
        let id = String(object.dropFirst("camera.".utf8.count))
        func configuration(_ settings: BoxSettings) -> CameraConfiguration? {
            try? settings.cameraConfiguration(
                id, stateDirectory: paths.cameraState(id), recordings: paths.recordings)
        }
        guard let old = configuration(current.settings), let new = configuration(settings),
            let change = old.videoChange(to: new)
        else { return false }
        return !change.isEmpty
    }

    /// Puts it to use. What is written first may fail and leaves nothing; the generation's rename is the point from
    /// which the change is there, also for a start after a kill.
    func commit(_ proposal: Proposal) throws -> ConfigurationDiff {
        var difference = difference(proposal)
        let generation = generation(of: proposal)
        let number = generation.number
        // What an earlier camera of a new ID has left and could not be removed then.
        for id in proposal.settings.cameras.keys.sorted()
        where current.settings.cameras[id] == nil && proposal.prepared != id {
            if try areForeign(secretsOf: id, proposal.content) { try removeRests(of: id) }
        }
        let moves = moves(of: proposal)
        let left = try prepareMoves(moves, proposal)
        let (target, plan, resumed) = plan(
            proposal.settings, proposal.content, startsIdle: false, resumesChanged: true)
        var staged: [FileTransaction.Staged] = []
        do {
            staged = try runtime.stage(plan)
            try save(generation, confirmSeconds: proposal.confirmSeconds)
        } catch {
            transaction.discard(staged)
            abandonMoves(moves)
            throw error
        }
        let predecessors = predecessors(in: generation.settings)
        let former = current.settings

        let added = Set(generation.settings.cameras.keys).subtracting(current.settings.cameras.keys)
        arrivals = arrivals.filter { generation.settings.cameras[$0.key] != nil }
        commits += 1
        for id in added.union(moves.taken.keys) { arrivals[id] = commits }
        forgetDevices(generation, sameDevice: proposal.sameDevice)
        current = generation
        // Origins are not part of the comparison, but are reported.
        warnings = proposal.warnings
        savingProblem = nil
        generationStoreProblem = nil
        isUnsaved = false
        for id in resumed { try? transaction.remove(paths.stopMark(id)) }
        forgetTokens(ofStreamsIn: former)
        takeAway(moves, isUnconfirmed: proposal.confirmSeconds != nil)
        put(target, plan, staged, after: predecessors)
        generationStore.prune()
        report(difference, number: number, cause: proposal.cause, moves)
        finishMoves(moves, left, isUnconfirmed: proposal.confirmSeconds != nil)
        forgetRemoved()
        difference.toGeneration = number
        return difference
    }

    /// What was learned and seen of cameras that are other devices now: their processes are asked again.
    private func forgetDevices(_ new: Generation, sameDevice: String?) {
        for camera in new.store.cameras {
            guard let former = current.store.camera(uuid: camera.uuid)?.source, former != camera.source else {
                continue
            }
            if camera.uuid == sameDevice {
                try? memory?.moved(camera.uuid, from: former, to: camera.source)
            } else {
                try? memory?.forget(camera.uuid)
            }
        }
        for (id, camera) in new.settings.cameras {
            guard let former = current.settings.cameras[id],
                former.source != camera.source || current.store.camera(id)?.uuid != new.store.camera(id)?.uuid
            else { continue }
            network[id] = nil
            thumbnails[id] = nil
        }
        // Whether somebody wants none is in what is quarantined.
        if !new.settings.previews, current.settings.previews, new.settings.quarantined["box"] == nil {
            removeThumbnails()
        }
    }

    /// What an owner who wants none must know is that there are some.
    func removeThumbnails() {
        do {
            try memory?.removeThumbnails()
        } catch {
            let error = CodedError(of: error)
            report(
                CodedError(error.code, "thumbnails are still on the disk", why: error.what, hint: error.hint),
                .system)
        }
    }

    /// What is remembered of cameras that there are not any more, unless they may be there again in a moment.
    func forgetRemoved() {
        guard pending == nil, generationStoreProblem == nil else { return }
        var sources: [String: String] = [:]
        for camera in current.store.cameras { sources[camera.uuid] = camera.source }
        for camera in current.store.unread where camera.isCamera {
            // What is remembered may be of a camera of which nobody can tell which it is.
            guard let uuid = camera.fields["uuid"]?.text, let source = camera.fields["source"]?.text else { return }
            if sources[uuid] == nil { sources[uuid] = source }
        }
        try? memory?.forget(allBut: sources)
    }

    /// The next one, or the current one again when the settings are the same and only what they came from is not.
    func generation(of proposal: Proposal) -> Generation {
        let isRepeated =
            proposal.settings == current.settings && proposal.content.says(theSameAs: current.store)
            && current.number > 0 && !isUnsaved && generationStoreProblem == nil && proposal.confirmSeconds == nil
        let number = isRepeated ? current.number : nextNumber()
        return Generation(
            number: number, time: isRepeated ? current.time : clock.seconds,
            cause: isRepeated ? current.cause : proposal.cause, settings: proposal.settings, files: proposal.files,
            ignoredFiles: proposal.ignoredFiles, store: proposal.content.changed(from: current.store, in: number))
    }

    /// Target and plan for some settings.
    ///
    /// - Parameter resumesChanged: a camera whose own settings changed is no longer stopped by request. Only for what
    ///   somebody changes just now: a box that starts switches on nothing that its owner has switched off.
    func plan(
        _ settings: BoxSettings, _ content: StoreContent, startsIdle: Bool, resumesChanged: Bool = false
    ) -> (target: RuntimeTarget, plan: RuntimePlan, resumed: Set<String>) {
        let present = runtime.present(units: unitStates.map { Array($0.values) }, changing: unitJobs.changing)
        let stopped = runtime.stopped()
        let free = makeTarget(settings, content, stopped: [])
        let resumed = stopped.filter { id in
            guard let file = free.cameras[id]?.file else { return free.cameras[id] == nil }
            return resumesChanged && present.files[UnitName.camera(id)].map { !$0.says(theSameAs: file) } ?? false
        }
        let target = stopped == resumed ? free : makeTarget(settings, content, stopped: stopped.subtracting(resumed))
        let plan = RuntimePlan(
            from: present, to: target, paths: paths, token: nextMark(), startsIdle: startsIdle)
        return (target, plan, resumed)
    }

    /// Units that take over the stream or the device of another one that ends, with that one: relay and device serve
    /// one at a time.
    private func predecessors(in settings: BoxSettings) -> [String: String] {
        let ending = current.settings.cameras.filter { settings.cameras[$0.key] == nil }.sorted { $0.key < $1.key }
        var found: [String: String] = [:]
        for (id, camera) in settings.cameras where current.settings.cameras[id] == nil {
            let isShared = camera.source.hasPrefix("test:") || camera.source.hasPrefix("file:")
            let former = ending.first { other, ended in
                ended.streamName(other) == camera.streamName(id) || !isShared && ended.source == camera.source
            }
            if let former { found[UnitName.camera(id)] = UnitName.camera(former.key) }
        }
        return found
    }

    /// Gives the staged files their names, and the crew its jobs, but for those units whose file is not there.
    ///
    /// - Parameter after: units whose jobs wait until those of another unit are done.
    func put(
        _ target: RuntimeTarget, _ plan: RuntimePlan, _ staged: [FileTransaction.Staged], after: [String: String] = [:]
    ) {
        self.target = target
        let (failed, failure) = runtime.publish(staged, plan)
        let doubt = target.cameras.sorted { $0.key < $1.key }.lazy.compactMap(\.value.doubt).first
        reportDoubt(doubt)
        isIncomplete = failure != nil
        doubts.found(doubt != nil, at: clock.sinceBoot())
        // Whoever waits for a job comes after it.
        for job in plan.jobs.filter({ after[$0.unit] == nil }) + plan.jobs.filter({ after[$0.unit] != nil }) {
            guard job.job == .stop || paths.file(ofUnit: job.unit).map({ !failed.contains($0) }) ?? true else {
                continue
            }
            if let change = job.change {
                unitJobs.request(change, mark: plan.markContent(isChange: true), job.unit)
            } else {
                unitJobs.request(job.job, job.unit, after: after[job.unit])
            }
        }
        guard let failure else { return }
        let why = CodedError(of: failure)
        logger.error("the runtime directory cannot be written: \(why)", metadata: ["code": "\(why.code)"])
    }

    /// Cameras whose secrets cannot be looked up go on as they are; that is reported once, and its end.
    private func reportDoubt(_ doubt: CodedError?) {
        defer { secretsProblem = doubt }
        if let doubt, secretsProblem == nil { report(doubt, .system) }
        if doubt == nil, secretsProblem != nil {
            hub.publish(.system, "the secrets can be read again")
            logger.notice("the secrets can be read again")
        }
    }

    /// Files and units as the current settings want them, when no change of the configuration leads there: a secret
    /// came or went, somebody asked for a stop, or an earlier attempt failed.
    ///
    /// - Parameter job: what somebody asked for, of which unit: one job with what that unit needs anyway.
    func reconcile(
        startsIdle: Bool = false, asking job: UnitJobQueue.Job? = nil, of unit: String = ""
    ) throws {
        guard !isConfigurationUnknown else { return }
        var (target, plan, gone) = plan(current.settings, current.store, startsIdle: startsIdle)
        if let job { plan.ask(for: job, of: unit) }
        let staged = try runtime.stage(plan)
        for id in gone { try? transaction.remove(paths.stopMark(id)) }
        put(target, plan, staged)
    }

    // MARK: On the disk

    /// Either all of it is on disk afterwards, or nothing is different. The rename is the point from which the change
    /// is there, also for a start after a kill.
    func save(_ generation: Generation, confirmSeconds: Int?) throws {
        guard generation != current else { return }
        let staged = try generationStore.stage(generation)
        do {
            if let confirmSeconds { try setPending(generation.number, confirmSeconds) }
            do {
                try transaction.publish(staged)
            } catch {
                // It may have its name, and only be not sure to keep it.
                if generation.number != current.number { try? generationStore.remove(generation) }
                throw error
            }
        } catch {
            transaction.discard([staged])
            if confirmSeconds != nil, (try? generationStore.removePending()) != nil { pending = nil }
            throw error
        }
    }

    private func setPending(_ number: Int, _ seconds: Int) throws {
        let now = clock.sinceBoot()
        let pending = PendingConfirmation(
            generation: number, before: current.number, bootIdentifier: clock.bootIdentifier,
            deadline: (now + .seconds(seconds)) / .seconds(1))
        try generationStore.setPending(pending)
        self.pending = pending
    }

    private func report(_ difference: ConfigurationDiff, number: Int, cause: String, _ moves: CameraMoves) {
        guard !difference.changes.isEmpty else { return }
        hub.publish(.config, object: "\(number)", "generation \(number): \(cause)")
        for move in moves.moves {
            let stream = move.keepsStream ? "" : ", and so is its stream"
            hub.publish(.camera, object: move.to, "renamed from \(move.from)\(stream)")
        }
        let moved = Set(moves.moves.flatMap { ["camera.\($0.from)", "camera.\($0.to)"] })
        for change in difference.changes where !moved.contains(change.object) {
            let text =
                "\(change.kind.rawValue)\(change.details.isEmpty ? "" : ": ")"
                + change.details.prefix(8).joined(separator: ", ")
            let table = change.object.prefix { $0 != "." }
            let name = change.object.contains(".") ? String(change.object.dropFirst(table.count + 1)) : nil
            switch table {
            case "camera": hub.publish(.camera, object: name, text)
            case "relay": hub.publish(.relay, object: name, text)
            case "kas": hub.publish(.kas, text)
            case "hook": hub.publish(.config, object: change.object, text)
            default: break
            }
        }
        logger.notice(
            "generation \(number) of the configuration: \(cause)",
            metadata: ["generation": "\(number)", "cause": "\(cause)"])
    }
}
