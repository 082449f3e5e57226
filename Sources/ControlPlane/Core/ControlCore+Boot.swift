internal import BoxConfiguration
internal import CameraStore
internal import CredentialStore
internal import ErrorCatalog
internal import Logging

extension ControlCore {
    /// From what is on disk to what should run. Never throws: whatever is wrong, what is right runs, and the rest is
    /// told.
    func boot() async {
        defer { booted.open() }
        skipEventIDs()
        makeDirectories()
        for directory in [paths.generations, paths.removals, paths.services] {
            effects.removeStaged(in: directory)
        }
        current = shelf.generations().first ?? .none
        if let storeFailure { report(storeFailure, .system) }
        finishRestore()
        restoreLostStore()
        finishRemovals()
        await adoptSecrets()
        readDevice()
        unitStates = await listUnits()
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
            current.store = proposal.content.kept
            if case .replace = proposal.edit { isStoreTorn = store != nil }
            warnings = proposal.warnings
        }
        // Of a time when they were kept.
        if !current.settings.previews { try? store?.removeThumbnails() }
        if let filesProblem { report(filesProblem, .config) }
        // What is impossible is told: at boot there is nobody to refuse it to.
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

    /// With the first start after a boot of the machine, which may have ended with a power cut: then nothing is in memory.
    private func skipEventIDs() {
        guard let store, !SystemFiles.exists("\(paths.services)/health.json"), ((try? store.latestEventID()) ?? 0) > 0
        else { return }
        try? store.skipEventIDs()
    }

    /// systemd may start their units anew before control does, and by the unit files of this version.
    private func provideForThoseThatRun() {
        for (id, camera) in target.cameras where camera.runs && unitStates?[UnitName.camera(id)]?.isUp == true {
            try? Self.provide(to: id, credentials, runtime, hub: hub, logger: logger)
        }
        if target.services["hooks"] != nil, unitStates?[UnitName.hooks]?.isUp == true {
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
        do throws(SystemFiles.Failure) {
            try SystemFiles.makeDirectory(paths.generations, mode: 0o700)
            try SystemFiles.makeDirectory(paths.removals, mode: 0o700)
            try runtime.makeDirectories()
        } catch {
            report(error.coded, .system)
        }
    }

    private func proposalAtBoot() -> Proposal {
        // A store that could not be mended is not asked: the cameras that it misses would be stopped.
        let content = (try? content()) ?? current.store
        let disk: Result<[Generation.KeptFile], CodedError>
        do throws(CodedError) { disk = .success(try filesOnDisk()) } catch { disk = .failure(error) }

        if let pending = shelf.pending() {
            switch pending.verdict(
                now: clock.sinceBoot(), bootIdentifier: clock.bootIdentifier, currentGeneration: current.number)
            {
            case .wait:
                self.pending = pending
                return lastGood("boot", content)
            case .takeBack:
                return taking(back: pending, content, try? disk.get())
            }
        }
        switch disk {
        case .success(let files) where current.ignoredFiles == files:
            return lastGood("boot", content)
        case .success(let files):
            do {
                let (settings, warnings) = try Self.resolve(files, content)
                return Proposal(
                    cause: "boot", files: files, content: content, settings: settings, warnings: warnings)
            } catch {
                filesProblem = Self.lastGoodInUse(error, generation: current.number)
            }
        case .failure(let error):
            filesProblem = Self.lastGoodInUse(error, generation: current.number)
        }
        return lastGood("boot", content)
    }

    static func lastGoodInUse(_ error: CodedError, generation: Int) -> CodedError {
        let runs = generation > 0 ? "generation \(generation) runs" : "an empty configuration runs"
        return CodedError(
            .lastGoodInUse, "the files are not valid, \(runs)", why: "\(error.code) \(error.what)", next: nil,
            object: error.object)
    }

    /// The files of the last generation with the store as it is now; when that does not fit any more, what that
    /// generation made of it.
    private func lastGood(_ cause: String, _ content: StoreContent) -> Proposal {
        var proposal = Proposal(
            cause: cause, files: current.files, ignoredFiles: current.ignoredFiles, content: content,
            settings: current.settings, warnings: [])
        if let (settings, warnings) = try? Self.resolve(current.files, content) {
            proposal.settings = settings
            proposal.warnings = warnings
        }
        return proposal
    }

    private func taking(
        back pending: PendingConfirmation, _ content: StoreContent, _ disk: [Generation.KeptFile]?
    ) -> Proposal {
        defer {
            hub.publish(
                .config, object: "\(pending.generation)", code: .unconfirmedApply,
                "generation \(pending.generation) was not confirmed; back to \(pending.before)")
        }
        guard let before = shelf.generation(pending.before) else { return lastGood("taken back", content) }
        return going(back: before, "taken back", from: content, ignored: disk)
    }

    /// A generation of that time, with its store. Files that are on disk now are left alone until somebody applies them.
    func going(
        back generation: Generation, _ cause: String, from content: StoreContent, ignored: [Generation.KeptFile]?
    )
        -> Proposal
    {
        var proposal = Proposal(
            cause: cause, edit: content.kept == generation.store ? .none : .replace(generation.store),
            files: generation.files, ignoredFiles: ignored == generation.files ? nil : ignored,
            content: generation.store, settings: generation.settings, warnings: [])
        if let (settings, warnings) = try? Self.resolve(generation.files, generation.store) {
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
            try save(generation, proposal)
        } catch {
            abandonMoves(moves)
            throw error
        }
        current = generation
        finishMoves(moves, left)
        warnings = proposal.warnings
        shelf.prune()
        guard pending == nil else { return }
        endSettling()
        if shelf.pending() != nil { try shelf.removePending() }
    }

    /// What could not be saved, as soon as there is room.
    func saveAgain() {
        do {
            if isStoreTorn { try mendStore() }
        } catch {
            savingProblem = CodedError(of: error)
            return
        }
        guard isUnsaved else { return }
        let proposal = Proposal(
            cause: current.cause, files: current.files, ignoredFiles: current.ignoredFiles, content: current.store,
            settings: current.settings, warnings: warnings)
        let generation = generation(of: proposal)
        do {
            try save(generation, proposal)
            current = generation
            isUnsaved = false
            savingProblem = nil
        } catch {
            savingProblem = CodedError(of: error)
        }
    }

    private func finishRemovals() {
        guard let content = try? content(), store != nil else { return }
        let isPending = shelf.pending() != nil
        for id in SystemFiles.names(in: paths.removals) where CameraIdentifier.isValid(id) {
            do {
                let isForeign = try areForeign(secretsOf: id, content)
                if isForeign, isPending, let owner = try notedOwner(of: id), !owner.isEmpty {
                    try setAside(id, of: owner)
                    continue
                }
                if isForeign {
                    try effects.willDo("credentials: remove camera-\(id)")
                    try credentials.removeScope("camera-\(id)")
                }
                try effects.remove(removalNote(id), isDurable: true)
            } catch {
                report(CodedError(of: error), .camera)
            }
        }
    }
}
