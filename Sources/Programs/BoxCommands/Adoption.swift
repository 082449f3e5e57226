import BoxConfiguration
import Console
import ControlAPI
import ControlClient
import Cryptography
import Platform
import Settings

/// What an adoption does to the box and to the volume, one by one, in this order.
enum AdoptionStep: Equatable, Sendable, CustomStringConvertible {
    case write(SystemFile)
    case takeObjects
    case store(ObjectSecret)
    /// From here on all of the file is taken.
    case prepareResult
    case overwriteFile
    case removeFile
    case publishResult

    var description: String {
        switch self {
        case .write(let file): "write \(file.path)"
        case .takeObjects: "take the objects"
        case .store(let secret): "store \(secret.key)"
        case .prepareResult: "prepare the result"
        case .overwriteFile: "overwrite the file"
        case .removeFile: "remove the file"
        case .publishResult: "publish the result"
        }
    }

    /// - Parameter hasChanges: whether control would change an object.
    static func all(of file: AdoptionFile, system: [SystemFile], hasChanges: Bool) -> [AdoptionStep] {
        system.map(AdoptionStep.write) + (hasChanges ? [.takeObjects] : []) + file.secrets.map(AdoptionStep.store)
            + ending
    }

    static let ending: [AdoptionStep] = [.prepareResult, .overwriteFile, .removeFile, .publishResult]
}

/// Takes a file from a volume into the box, wipes it, and leaves a result in its place.
///
/// Everything is checked before anything is changed. Whatever interrupts it, it is repeated from the start, and ends the same.
struct Adoption {
    let volume: AdoptionVolume
    /// Directory that stands for `/`.
    let root: String
    let client: ControlClient
    /// Nil: whoever runs it decides which file is taken.
    var record: AdoptionRecord?
    /// How long control may take to answer first.
    var patience = Duration.seconds(60)
    /// Before each step; throwing ends it there, as a power cut does.
    var willDo: (AdoptionStep) throws -> Void = { _ in }

    /// Before each further try: at its first start a box is busy, and what takes too long then does not a minute later.
    static let pauses: [Duration] = [.seconds(10), .seconds(30), .seconds(60)]

    /// - Parameters:
    ///   - pauses: after each, once more, what failed for a reason that may pass.
    ///   - wait: waits for so long, after a try that ended so.
    /// - Returns: what has become of it; the result is on the volume already, but for a dry run.
    /// - Throws: `CommandFailure` when not even a result can be left.
    func run(
        isDryRun: Bool, pauses: [Duration] = [], wait: (Duration, AdoptionReport) async throws -> Void = { _, _ in }
    ) async throws -> AdoptionReport {
        var report = try await attempt(isDryRun: isDryRun)
        for pause in pauses {
            guard report.mayPass else { break }
            try await wait(pause, report)
            report = try await attempt(isDryRun: isDryRun, after: report)
        }
        // No result between two tries: whoever reads one takes it for the end.
        if !isDryRun, report.outcome == .refused || report.outcome == .failed { try leave(report) }
        return report
    }

    /// - Parameter earlier: the try before, which may have changed something already.
    private func attempt(isDryRun: Bool, after earlier: AdoptionReport? = nil) async throws -> AdoptionReport {
        switch try volume.read() {
        case .none: return try withoutFile(isDryRun: isDryRun)
        case .zeros where volume.hasPrepared:
            var report = AdoptionReport(.taken)
            guard !isDryRun else { return report }
            report.isRest = true
            for step in AdoptionStep.ending.dropFirst() { try perform(step, report) }
            return report
        case .zeros:
            return AdoptionReport(refusal: "holds zeros instead of text", "It was damaged; write it again")
        case .refused(let why, let hint):
            guard record?.allows(nil) ?? true else { return AdoptionReport(.notTaken) }
            return AdoptionReport(refusal: why, hint)
        case .bytes(let bytes):
            guard record?.allows(bytes) ?? true else { return AdoptionReport(.notTaken) }
            let (file, issues) = AdoptionFile.read(bytes, name: AdoptionVolume.fileName)
            guard let file else { return AdoptionReport(refusals: issues) }
            return try await take(file, bytes, notes: issues, isDryRun: isDryRun, after: earlier)
        }
    }

    private func withoutFile(isDryRun: Bool) throws -> AdoptionReport {
        if volume.hasPrepared {
            var report = AdoptionReport(.taken)
            report.isRest = true
            if !isDryRun { try perform(.publishResult, report) }
            return report
        }
        // What an editor of Windows makes of it, where endings are hidden.
        let long = AdoptionVolume.fileName + ".txt"
        guard volume.has(long) else { return AdoptionReport(.nothing) }
        return AdoptionReport(refusal: "is called \(long)", "Rename it to \(AdoptionVolume.fileName)")
    }

    private func take(
        _ file: AdoptionFile, _ bytes: [UInt8], notes: [ConfigurationIssue], isDryRun: Bool,
        after earlier: AdoptionReport?
    ) async throws -> AdoptionReport {
        var report = AdoptionReport(.checked)
        report.notes = notes
        report.describe(file)
        let steps: [AdoptionStep]
        do {
            let system = try AdoptionSystem.files(of: file, root: root)
            report.describe(system)
            let changes = file.hasObjects ? try await difference(file) : []
            report.changes = changes.isEmpty ? earlier?.changes ?? [] : changes
            steps = AdoptionStep.all(of: file, system: system, hasChanges: !changes.isEmpty)
            if !isDryRun { try record?.write(bytes) }
        } catch {
            report.fail(error, isUnchanged: earlier?.problem?.isUnchanged ?? true)
            return report
        }
        guard !isDryRun else { return report }
        let ending = steps.firstIndex(of: .prepareResult) ?? 0
        do {
            for step in steps[..<ending] { try await perform(step, of: file) }
        } catch var error as CommandFailure {
            if record?.isRemovable == true {
                error.hint += "; with the file as it is, since the box takes no other one from a stick any more"
            }
            report.fail(error, isUnchanged: false)
            return report
        }
        report.outcome = .taken
        try end(report)
        return report
    }

    /// All was taken. Where no result can be left, on a full drive, the secrets are wiped all the same.
    private func end(_ report: AdoptionReport) throws {
        var unprepared: (any Error)?
        do { try perform(.prepareResult, report) } catch let error as CommandFailure { unprepared = error }
        try perform(.overwriteFile, report)
        try perform(.removeFile, report)
        guard unprepared == nil else {
            throw CommandFailure(
                what:
                    "all of \(AdoptionVolume.fileName) was taken and wiped, and \(AdoptionVolume.resultName) cannot say so",
                why: "the drive takes no file",
                hint: "nothing; or make room on it, and look at the box: watchboxctl status",
                status: .degraded)
        }
        try perform(.publishResult, report)
    }

    // MARK: Steps

    private func perform(_ step: AdoptionStep, of file: AdoptionFile) async throws {
        try willDo(step)
        switch step {
        case .write(let system):
            do throws(FileFailure) { try system.write(below: root) } catch {
                throw CommandFailure(
                    what: "a file of the system was not written", why: "\(error)",
                    hint: "start the box again with this drive", status: .failed)
            }
        case .takeObjects:
            _ = try await ConfigurationText.take(
                ImportRequest(toml: file.objects.toml(), replace: true), isDryRun: false, client,
                what: "the objects were not taken")
        case .store(let secret):
            try await client.send(
                .put, secret.place.apiPath, body: SecretRequest(secret: secret.value),
                or: "\(secret.key) was not stored")
        case .prepareResult, .overwriteFile, .removeFile, .publishResult: break
        }
    }

    private func perform(_ step: AdoptionStep, _ report: AdoptionReport) throws {
        try willDo(step)
        do throws(FileFailure) {
            switch step {
            case .prepareResult: try volume.prepare(report.text)
            case .overwriteFile: try volume.overwrite()
            case .removeFile: try volume.remove()
            case .publishResult: try volume.publish()
            case .write, .takeObjects, .store: break
            }
        } catch {
            throw CommandFailure(
                what: "all of \(AdoptionVolume.fileName) was taken, but its secrets may be on the drive still",
                why: "\(error)", hint: "format the drive, or start the box with it again", status: .degraded)
        }
    }

    /// The file stays, for its correction.
    private func leave(_ report: AdoptionReport) throws {
        do throws(FileFailure) {
            try volume.leave(report.text)
        } catch {
            throw CommandFailure(
                what: "\(AdoptionVolume.fileName) was not taken, and \(AdoptionVolume.resultName) cannot say why",
                why: "\(error)", hint: "mount the drive writable; --dry-run shows what is wrong with the file",
                status: .failed)
        }
    }

    /// What control would change; it may be on its way up still.
    private func difference(_ file: AdoptionFile) async throws -> [ConfigurationChange] {
        let what = "nothing was changed"
        do {
            try await Waiting.until("the box's control daemon", timeout: patience) {
                _ = try await client.get(VersionDocument.self, APIPath.version())
                return nil
            }
        } catch let error as CommandFailure where error.status == .remoteUnreachable {
            throw CommandFailure(
                what: what, why: error.why, hint: "start the box again with this drive", status: .daemonUnreachable)
        }
        do {
            return try await ConfigurationText.take(
                ImportRequest(toml: file.objects.toml(), replace: true), isDryRun: true, client, what: what
            ).changes
        } catch var error as CommandFailure where error.status == .conflict {
            // It is called as the one that is being adopted.
            error.why += "; files that this names are the box's own, in /etc/watchbox"
            throw error
        }
    }
}
