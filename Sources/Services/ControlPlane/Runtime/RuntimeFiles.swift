internal import CameraModel
internal import ControlAPI
internal import FoundationEssentials
internal import Platform
internal import Systemd

/// Reads the runtime directory, and writes it by a plan in two steps: first everything under other names, which may
/// fail and leaves nothing; then the renames.
struct RuntimeFiles: Sendable {
    private static let sizeLimit = 1 << 20

    let paths: ControlPaths
    let transaction: FileTransaction

    func makeDirectories() throws(FileFailure) {
        try SystemFiles.makeDirectory(paths.cameras, mode: 0o755)
        try SystemFiles.makeDirectory(paths.services, mode: 0o755)
    }

    /// - Parameter changing: units whose processes are about to be sent what they lack.
    func present(units: [UnitState]?, changing: Set<String>) -> RuntimePresent {
        var present = RuntimePresent()
        for unit in marked(".json").map({ UnitName.camera($0) }) + Self.services {
            present.files[unit] = file(ofUnit: unit)
            if present.files[unit] == nil, let path = paths.file(ofUnit: unit), SmallFile.exists(path) {
                present.unreadable.insert(unit)
            }
        }
        present.restartMarks = restartMarks()
        present.changing = present.restartMarks.filter { unit in
            changing.contains(unit) && restartToken(ofUnit: unit)?.starts(with: RuntimePlan.changePrefix.utf8) == true
        }
        present.health = read("\(paths.services)/health.json").flatMap {
            try? JSONDocument.decode(HealthServiceSettings.self, from: $0)
        }
        present.units = units.map { Dictionary($0.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
        return present
    }

    private static let services = UnitName.optional.map { UnitName.unit(ofService: $0) }

    /// Units that may run with older settings.
    func restartMarks() -> Set<String> {
        Set(marked(".restart").map { UnitName.camera($0) }).union(
            Self.services.filter { paths.restartMark(ofUnit: $0).map { SmallFile.exists($0) } ?? false })
    }

    /// Cameras that somebody asked to stop.
    func stopped() -> Set<String> {
        marked(".stopped")
    }

    private func marked(_ suffix: String) -> Set<String> {
        Set(
            SmallFile.names(in: paths.services).compactMap { name in
                name.hasPrefix("camera-") ? Self.identifier(String(name.dropFirst(7)), suffix: suffix) : nil
            })
    }

    /// Writes everything that the plan wants under other names. Nothing is left when it throws.
    func stage(_ plan: RuntimePlan) throws -> [FileTransaction.Staged] {
        var staged: [FileTransaction.Staged] = []
        do {
            // Marks come first: from the moment when a file is new, its mark is there.
            for mark in plan.marks {
                let content = plan.markContent(isChange: mark.isChange)
                staged.append(try transaction.stage(content, as: mark.path, mode: 0o600, isDurable: false))
            }
            for write in plan.writes {
                staged.append(try transaction.stage(write.bytes, as: write.path, mode: write.mode, isDurable: false))
            }
        } catch {
            transaction.discard(staged)
            throw error
        }
        return staged
    }

    /// As much of it as can be: what is wrong with one camera's file is not a reason to keep another from its own.
    ///
    /// - Returns: the files that are not as the plan wants them, and why the first of them is not.
    func publish(_ staged: [FileTransaction.Staged], _ plan: RuntimePlan) -> (failed: Set<String>, why: (any Error)?) {
        var failed: Set<String> = []
        var why: (any Error)?
        for file in staged {
            // Without its mark a kill would leave the unit with older settings for ever.
            guard !failed.contains(file.path) else {
                transaction.discard([file])
                continue
            }
            do {
                try transaction.publish(file)
            } catch {
                why = why ?? error
                failed.insert(file.path)
                if let marked = paths.markedFile(file.path) { failed.insert(marked) }
                transaction.discard([file])
            }
        }
        for path in plan.removals {
            do {
                try transaction.remove(path)
            } catch {
                why = why ?? error
                failed.insert(path)
            }
        }
        return (failed, why)
    }

    /// The ID in a file's name; nil for what is not a camera's, so that no such name becomes a unit.
    static func identifier(_ name: String, suffix: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let id = String(name.dropLast(suffix.utf8.count))
        return CameraIdentifier.isValid(id) ? id : nil
    }

    /// Before a camera's process starts: what lies where its socket will be is a leftover of its own, or another camera's,
    /// which must neither answer for it nor keep it from listening. The directory is control's: it may remove
    /// anybody's.
    func clearSocket(of id: String) {
        try? SystemFiles.clear(paths.cameraSocket(id))
    }

    /// The secrets that the settings refer to with which the unit is about to start.
    func secretNames(ofUnit unit: String) -> Set<String> { file(ofUnit: unit)?.secretNames ?? [] }

    func restartToken(ofUnit unit: String) -> [UInt8]? { paths.restartMark(ofUnit: unit).flatMap { read($0) } }

    private func file(ofUnit unit: String) -> UnitFile? {
        paths.file(ofUnit: unit).flatMap { read($0) }.flatMap { try? UnitFile(unit: unit, $0) }
    }

    private func read(_ path: String) -> [UInt8]? {
        // One that cannot be read is written again; so is one of another user.
        try? SystemFiles.read(path, limit: Self.sizeLimit, isOwn: true)
    }
}
