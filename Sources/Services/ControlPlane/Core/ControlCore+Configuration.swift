internal import BoxConfiguration
internal import ControlAPI
internal import ErrorCatalog
internal import Settings
internal import Systemd

extension ControlCore {
    // MARK: The operator's files

    func validation() -> ValidationDocument {
        do throws(CodedError) {
            let files = try filesOnDisk()
            return validation(files, current.store)
        } catch {
            let issue = ConfigurationIssue(
                code: error.code, file: error.object, line: nil, key: "", reason: "\(error.what): \(error.why ?? "")",
                hint: error.hint ?? error.code.entry?.hint ?? "")
            return ValidationDocument(isValid: false, files: [], issues: [issue])
        }
    }

    /// Of a string that somebody wants to import or to write into a file.
    func validation(of text: String) -> ValidationDocument {
        validation([Generation.KeptFile(name: "import", text: text)], StoreContent())
    }

    private func validation(_ files: [Generation.KeptFile], _ content: StoreContent) -> ValidationDocument {
        let (settings, issues) = ConfigurationReader.read(files: files.sources, stored: content.parts)
        let refused = settings.map { serviceChecks.issues($0, running: current.settings) } ?? []
        return ValidationDocument(
            isValid: settings != nil && refused.allSatisfy(\.isWarning), files: files.map(\.name),
            issues: issues + refused)
    }

    /// What a change would have relay and KAS do must be possible on this machine. What runs already is not a reason to
    /// refuse something else.
    private func requirePossible(_ settings: BoxSettings) throws(CodedError) {
        let issues = serviceChecks.issues(settings, running: current.settings).filter { !$0.isWarning }
        guard issues.isEmpty else { throw CodedError(issues) }
    }

    private func proposalOfFiles() throws -> Proposal {
        let files = try filesOnDisk()
        let (settings, warnings) = try resolve(files, current.store)
        try requirePossible(settings)
        return Proposal(
            cause: "config apply", files: files, content: current.store, settings: settings, warnings: warnings)
    }

    func differenceOfFiles() throws -> ConfigurationDiff { difference(try proposalOfFiles()) }

    func apply(confirmSeconds: Int?, dryRun: Bool) throws -> ConfigurationDiff {
        try requireNothingPending()
        var proposal = try proposalOfFiles()
        return try finish(&proposal, confirmSeconds: confirmSeconds, dryRun: dryRun)
    }

    /// After `systemctl reload`: the files are read again; when they are not valid, what runs goes on.
    func reload() {
        guard beingRenamed == nil else {
            isReloadOwed = true
            return
        }
        isReloadOwed = false
        do {
            _ = try apply(confirmSeconds: nil, dryRun: false)
        } catch {
            let error = CodedError(of: error)
            if [.busy, .diskFull, .readOnly, .writeFailed].contains(error.code) {
                report(error, .config)
            } else {
                let problem = Self.lastGoodInUse(error, generation: current.number)
                filesProblem = problem
                report(problem, .config)
                // The health daemon is informed by its file.
                try? reconcile()
            }
        }
    }

    // MARK: Going back

    func rollback(to number: Int?, confirmSeconds: Int?, dryRun: Bool) throws -> ConfigurationDiff {
        try requireNothingPending(acceptsOlder: true)
        let requested = number ?? generationStore.generations().first { $0.number < current.number }?.number ?? 0
        guard let generation = generationStore.generation(requested) else {
            throw CodedError(
                .noSuchGeneration,
                number == nil
                    ? "there is no generation before \(current.number)" : "there is no generation \(requested)")
        }
        var proposal = going(back: generation, "rollback to \(requested)", ignored: try? filesOnDisk())
        return try finish(&proposal, confirmSeconds: confirmSeconds, dryRun: dryRun)
    }

    private func finish(
        _ proposal: inout Proposal, confirmSeconds: Int?, dryRun: Bool
    ) throws -> ConfigurationDiff {
        if let confirmSeconds, !(10...3600).contains(confirmSeconds) {
            throw CodedError(.badRequest, "confirmSeconds is \(confirmSeconds)", hint: "Use 10 to 3600 seconds")
        }
        // Nothing to take back when nothing changes. Another camera of the same settings is one.
        let moves = moves(of: proposal)
        let isSame = proposal.settings == current.settings && moves.moves.isEmpty && moves.taken.isEmpty
        proposal.confirmSeconds = isSame ? nil : confirmSeconds
        if dryRun { return difference(proposal) }
        // Both are somebody's decision about the files; what is on disk is known.
        let problem = filesProblem
        filesProblem = nil
        do {
            return try commit(proposal)
        } catch {
            filesProblem = problem
            throw error
        }
    }

    func confirm() throws {
        guard let pending else {
            throw CodedError(.notFound, "nothing waits to be confirmed", hint: "See: watchboxctl config history")
        }
        try generationStore.removePending()
        self.pending = nil
        hub.publish(.config, object: "\(pending.generation)", "generation \(pending.generation) is confirmed")
        endSettling()
    }

    /// Goes back when the time to confirm is over.
    func takeBackUnconfirmed() {
        guard let pending,
            pending.verdict(
                now: clock.sinceBoot(), bootIdentifier: clock.bootIdentifier, currentGeneration: current.number)
                == .takeBack
        else { return }
        guard let before = generationStore.generation(pending.before) else {
            report(
                CodedError(
                    .noSuchGeneration, "generation \(pending.before) cannot be read", why: "so nothing is taken back"),
                .config)
            self.pending = nil
            try? generationStore.removePending()
            endSettling()
            return
        }
        do {
            _ = try commit(going(back: before, "taken back", ignored: try? filesOnDisk()))
            if try settleSecrets() { try reconcile() }
            self.pending = nil
            forgetRemoved()
            try generationStore.removePending()
            hub.publish(
                .config, object: "\(pending.generation)", code: .unconfirmedApply,
                "generation \(pending.generation) was not confirmed; back to \(pending.before)")
        } catch {
            // With the next tick again.
            savingProblem = CodedError(of: error)
        }
    }

    /// What cannot be done now is done by the next start.
    func endSettling() {
        forgetRemoved()
        do {
            try settleSecrets()
        } catch {
            report(CodedError(of: error), .camera)
        }
    }

    // MARK: Shown

    func history() -> GenerationListDocument {
        GenerationListDocument(
            generations: generationStore.generations().map {
                GenerationListDocument.Generation(
                    number: $0.number, time: $0.time, isCurrent: $0.number == current.number, cause: $0.cause,
                    cameras: $0.settings.cameras.count)
            })
    }

    func configuration() -> ConfigurationDocument {
        let quarantined = allQuarantined()
        // Whoever keeps this text is to know what it lacks.
        let lacking = quarantined.map { "# Quarantined, and not in here: \($0.object) (\($0.origin)) \($0.reason)\n" }
        return ConfigurationDocument(
            generation: current.number, toml: current.settings.toml() + lacking.joined(),
            origins: current.settings.origins, files: current.files.map(\.name),
            quarantined: quarantined.isEmpty ? nil : quarantined)
    }

    // MARK: Import

    func importing(_ request: ImportRequest, dryRun: Bool) throws -> ConfigurationDiff {
        let (imported, issues) = ConfigurationReader.read(
            files: [SourceFile(name: "import", text: request.toml)], isPart: true)
        guard let imported else { throw CodedError(issues.filter { !$0.isWarning }) }
        try requireNothingPending()
        if let requested = request.ifGeneration, requested != current.number {
            throw CodedError(
                .conflict, "generation \(current.number) is in use by now, not \(requested)",
                why: "somebody else changed the configuration meanwhile", hint: "Look at it, and repeat the command")
        }
        var content = current.store
        var added: [String] = []
        for part in imported.storedParts() {
            let table = String(part.object.prefix { $0 != "." })
            let name = part.object.contains(".") ? String(part.object.dropFirst(table.utf8.count + 1)) : table
            try requireNotInFile(part.object)
            if table == "camera" {
                _ = try CameraIdentifier.check(name)
                let known = content.camera(name)
                guard known == nil && !content.isUnread(part.object) || request.replace else {
                    try requireNotQuarantined(part.object)
                    throw Self.exists(name)
                }
                if known == nil, current.settings.cameras[name] == nil { added.append(name) }
                let position = (content.cameras.map(\.gridPosition).max() ?? -1) + 1
                content.put(
                    StoredCamera(
                        name, settings: part.settings, known: known, now: clock.seconds, position: position))
            } else {
                let kind = StoreContent.kind(ofTable: table)
                let storedName = try NamedObject(rawValue: table)?.check(name) ?? kind
                let isThere = content.object(kind, storedName) != nil || content.isUnread(part.object)
                guard !isThere || request.replace else {
                    try requireNotQuarantined(part.object)
                    throw CodedError(
                        .exists, "\(part.object) exists already", hint: "Repeat it with --replace, or take it out",
                        object: part.object)
                }
                content.put(StoredObject(kind: kind, name: storedName, settings: part.settings))
            }
        }
        let (settings, warnings) = try resolve(current.files, content)
        try requirePossible(settings)
        let proposal = Proposal(
            cause: "config import", files: current.files,
            ignoredFiles: current.ignoredFiles, content: content, settings: settings, warnings: warnings)
        if dryRun { return difference(proposal) }
        for id in added { try removeRests(of: id) }
        return try commit(proposal)
    }

    /// - Parameter object: `camera.front`, `relay.main`, `hook.phone`, `kas`.
    func requireNotInFile(_ object: String) throws(CodedError) {
        let settings = current.settings
        guard let origin = settings.origins[object] ?? settings.quarantined[object]?.origin, origin != "store" else {
            return
        }
        throw CodedError(
            .definedInFile, "\(object) is defined in \(origin)",
            why: "what is set in a file wins, and no program changes it",
            hint: "Edit \(origin), then run: watchboxctl config apply", object: object)
    }
}
