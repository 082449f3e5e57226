internal import BoxConfiguration
internal import BoxMemory
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import Logging
internal import Platform
internal import Settings

extension ControlCore {
    /// From what is on disk to what should run. Never throws: whatever is wrong, what is right runs, and the rest is
    /// reported.
    func boot() async {
        defer { booted.open() }
        skipEventIDs()
        makeDirectories()
        for directory in [paths.generations, paths.removals, paths.services] {
            transaction.removeStaged(in: directory)
        }
        let (newest, problem) = generationStore.newest()
        current = newest ?? .none
        generationStoreProblem = problem
        if let problem { report(problem, .config) }
        takeOverFormerStore()
        reportMemory()
        if problem == nil { finishRemovals() }
        await adoptSecrets()
        readDevice()
        unitStates = await listUnits()
        if generationStoreProblem == nil { saveAtBoot() }
        // Of a time when they were kept.
        if generationStoreProblem == nil, !current.settings.previews, current.settings.quarantined["box"] == nil {
            removeThumbnails()
        }
        if let filesProblem { report(filesProblem, .config) }
        reportQuarantined()
        // What is impossible is reported: at boot there is no one to refuse it to.
        for warning in warnings + serviceChecks.issues(current.settings) {
            logger.warning("\(warning)", metadata: ["code": "\(warning.code)"])
        }
        do {
            try reconcile(startsIdle: true)
        } catch {
            isIncomplete = true
            report(CodedError(of: error), .system)
        }
        provideForThoseThatRun()
    }

    private func saveAtBoot() {
        let proposal = proposalAtBoot()
        do {
            try commitAtBoot(proposal)
        } catch {
            // Not saved, but it runs.
            savingProblem = CodedError(of: error)
            isUnsaved = true
            report(CodedError(of: error), .system)
            current.settings = proposal.settings
            current.cause = proposal.cause
            current.files = proposal.files
            current.ignoredFiles = proposal.ignoredFiles
            current.store = proposal.content
            warnings = proposal.warnings
        }
    }

    /// With the first start after a boot of the machine, which may have ended with a power cut: then nothing is in
    /// memory.
    private func skipEventIDs() {
        guard let memory, !SmallFile.exists("\(paths.services)/health.json"),
            ((try? memory.latestEventID()) ?? 0) > 0
        else { return }
        try? memory.skipEventIDs()
    }

    /// Until generations were the configuration, the database was, and each generation had a copy. What the database
    /// was being replaced by when control was killed has a note. Both are there until a generation of today is saved.
    private func takeOverFormerStore() {
        guard current.schema != Generation.currentSchema || current.number == 0 else { return }
        if let interrupted = generationStore.unfinishedRestore() {
            current = interrupted
        } else {
            do {
                if let content = try formerStore() { current.store = content }
            } catch {
                report(
                    CodedError(
                        .unreadableFile,
                        "the cameras in \(paths.database) cannot be read, generation \(current.number) has them",
                        why: JSONDocument.reason(error)), .config)
            }
        }
        current.store = current.store.changed(from: StoreContent(), in: max(current.number, 1))
    }

    private func formerStore() throws -> StoreContent? {
        let content = try memory?.formerStore().map { try JSONDocument.decode(StoreContent.self, from: Array($0.utf8)) }
        guard content?.unread.isEmpty != false else {
            throw CodedError(.unreadableFile, "a row cannot be read", why: content?.unread.first?.fault)
        }
        return content
    }

    /// What cannot be read stays, for whoever can.
    private func removeFormerStore() {
        try? generationStore.removeRestore()
        do {
            _ = try formerStore()
            try memory?.removeFormerStore()
        } catch {
            logger.warning("the former configuration stays in \(paths.database): \(CodedError(of: error).what)")
        }
    }

    private func reportMemory() {
        if let memoryFailure { report(memoryFailure, .system) }
        guard let path = memory?.setAside else { return }
        report(
            CodedError(
                .databaseDamaged, "the database was damaged and moved to \(path)",
                why: "earlier events and what was learned of cameras are lost; the configuration is not"), .system
        )
    }

    /// systemd may start their units again before control does, and by the unit files of this version.
    private func provideForThoseThatRun() {
        for (id, camera) in target.cameras where camera.runs && unitStates?[UnitName.camera(id)]?.isUp == true {
            try? Self.provide(to: id, credentials, runtime, hub: hub, logger: logger)
        }
        if target.services[UnitName.hooks] != nil, unitStates?[UnitName.hooks]?.isUp == true {
            try? Self.provideToHooks(credentials, runtime, logger: logger)
        }
    }

    /// After an upgrade of systemd, what the device key sealed is sealed by systemd.
    private func adoptSecrets() async {
        do {
            let count = try await credentials.adopt()
            if count > 0 { hub.publish(.system, "\(count) secrets are now encrypted by systemd") }
        } catch {
            report(CodedError(error), .system)
        }
    }

    func report(_ error: CodedError, _ topic: EventTopic) {
        let text = error.why.map { "\(error.what): \($0)" } ?? error.what
        hub.publish(topic, object: error.object, code: error.code, text)
        logger.warning("\(text)", metadata: ["code": "\(error.code)"])
    }

    private func makeDirectories() {
        do throws(FileFailure) {
            try SystemFiles.makeDirectory(paths.generations, mode: 0o700)
            try SystemFiles.makeDirectory(paths.removals, mode: 0o700)
            try runtime.makeDirectories()
        } catch {
            report(error.coded, .system)
        }
    }

    private func proposalAtBoot() -> Proposal {
        let content = current.store
        let disk: Result<[Generation.KeptFile], CodedError>
        do throws(CodedError) { disk = .success(try filesOnDisk()) } catch { disk = .failure(error) }

        if let pending = generationStore.pending() {
            switch pending.verdict(
                now: clock.sinceBoot(), bootIdentifier: clock.bootIdentifier, currentGeneration: current.number)
            {
            case .wait:
                self.pending = pending
                return lastGood("boot")
            case .takeBack:
                return taking(back: pending, try? disk.get())
            case .settled: break
            }
        }
        switch disk {
        case .success(let files) where current.ignoredFiles == files:
            return lastGood("boot")
        case .success(let files):
            do throws(CodedError) {
                let (settings, warnings) = try Self.admit(files, content)
                // Somebody edits, and what was good before is better than a part of that. Files that are as they were
                // another version took: of those each object that is valid counts.
                let refused = files == current.files || current.number == 0 ? [] : refused(settings, content)
                guard refused.isEmpty else {
                    throw CodedError(refused.sorted { $0.object < $1.object }.flatMap(\.issues))
                }
                return Proposal(
                    cause: "boot", files: files, content: content, settings: settings, warnings: warnings)
            } catch {
                filesProblem = Self.lastGoodInUse(error, generation: current.number)
            }
        case .failure(let error):
            filesProblem = Self.lastGoodInUse(error, generation: current.number)
        }
        return lastGood("boot")
    }

    /// What is wrong with edited files: what they refuse, and what they make invalid of the store.
    private func refused(_ settings: BoxSettings, _ content: StoreContent) -> [QuarantinedObject] {
        let former = (try? Self.admit(current.files, content))?.settings ?? current.settings
        return settings.quarantined.values.filter { !$0.isStored || former.quarantined[$0.object] == nil }
    }

    static func lastGoodInUse(_ error: CodedError, generation: Int) -> CodedError {
        let runs = generation > 0 ? "generation \(generation) runs" : "an empty configuration runs"
        return CodedError(
            .lastGoodInUse, "the files are not valid, \(runs)", why: "\(error.code) \(error.what)", hint: nil,
            object: error.object)
    }

    /// The last generation, read again; when this version does not take it any more, its result then.
    private func lastGood(_ cause: String) -> Proposal {
        var proposal = Proposal(
            cause: cause, files: current.files, ignoredFiles: current.ignoredFiles, content: current.store,
            settings: current.settings, warnings: [])
        if let (settings, warnings) = try? Self.admit(current.files, current.store) {
            proposal.settings = settings
            proposal.warnings = warnings
        }
        return proposal
    }

    private func taking(
        back pending: PendingConfirmation, _ disk: [Generation.KeptFile]?
    ) -> Proposal {
        guard let before = generationStore.generation(pending.before) else {
            report(
                CodedError(
                    .noSuchGeneration, "generation \(pending.before) cannot be read", why: "so nothing is taken back"),
                .config)
            return lastGood("taken back")
        }
        hub.publish(
            .config, object: "\(pending.generation)", code: .unconfirmedApply,
            "generation \(pending.generation) was not confirmed; back to \(pending.before)")
        return going(back: before, "taken back", ignored: disk)
    }

    /// A generation of that time. Files that are on disk now are left alone until somebody applies them.
    func going(back generation: Generation, _ cause: String, ignored: [Generation.KeptFile]?) -> Proposal {
        var proposal = Proposal(
            cause: cause, files: generation.files, ignoredFiles: ignored == generation.files ? nil : ignored,
            content: generation.store, settings: generation.settings, warnings: [])
        if let (settings, warnings) = try? Self.admit(generation.files, generation.store) {
            proposal.settings = settings
            proposal.warnings = warnings
        }
        return proposal
    }

    private func commitAtBoot(_ proposal: Proposal) throws {
        let generation = generation(of: proposal)
        let moves = moves(of: proposal)
        let left = try prepareMoves(moves, proposal)
        do {
            try save(generation, confirmSeconds: nil)
        } catch {
            abandonMoves(moves)
            throw error
        }
        current = generation
        removeFormerStore()
        takeAway(moves)
        finishMoves(moves, left)
        warnings = proposal.warnings
        generationStore.prune()
        guard pending == nil else { return }
        endSettling()
        if generationStore.pending() != nil { try generationStore.removePending() }
    }

    /// What could not be saved, as soon as there is room.
    func saveAgain() {
        let proposal = Proposal(
            cause: current.cause, files: current.files, ignoredFiles: current.ignoredFiles, content: current.store,
            settings: current.settings, warnings: warnings)
        let generation = generation(of: proposal)
        do {
            try save(generation, confirmSeconds: nil)
            current = generation
            isUnsaved = false
            savingProblem = nil
            removeFormerStore()
        } catch {
            savingProblem = CodedError(of: error)
        }
    }

    private func finishRemovals() {
        let isPending = generationStore.pending() != nil
        // The note of a camera that cannot be read is for whoever can.
        for id in SmallFile.names(in: paths.removals)
        where CameraIdentifier.isValid(id) && !isDoubtful(id, current.store) {
            do {
                let isForeign = try areForeign(secretsOf: id, current.store)
                if isForeign, isPending, let owner = try notedOwner(of: id), !owner.isEmpty {
                    try setAside(id, of: owner)
                    continue
                }
                if isForeign {
                    try transaction.willDo("credentials: remove camera-\(id)")
                    try credentials.removeScope("camera-\(id)")
                }
                try transaction.remove(removalNote(id), isDurable: true)
            } catch {
                report(CodedError(of: error), .camera)
            }
        }
    }
}
