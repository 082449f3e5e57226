internal import BoxConfiguration
internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog
internal import Platform
internal import Settings

extension DoctorCheck {
    static let configurationChecks: [DoctorCheck] = [
        DoctorCheck("config", examine: configuration),
        DoctorCheck("generation", examine: generation),
        DoctorCheck("versions", examine: versions),
    ]

    /// As the daemon sees files and store together; without it the operator's files by themselves.
    private static func configuration(_ context: CheckContext) async -> Finding {
        let environment = context.environment
        if !environment.isOffline,
            let document = try? await environment.client.send(
                .post, APIPath.configuration("validate"), as: ValidationDocument.self)
        {
            return finding(of: document)
        }
        return await OwnThread.value { files(environment) } ?? .unknown("no thread can be made")
    }

    static func finding(of document: ValidationDocument) -> Finding {
        let isMinor: (ConfigurationIssue) -> Bool = {
            [.incompleteCamera, .missingSecret, .unsupportedSource, .definedInFile].contains($0.code)
        }
        guard let first = document.issues.first(where: { !isMinor($0) }) ?? document.issues.first else {
            return document.isValid
                ? .ok(valid(document.files.count)) : .fail("it is not valid", hint: "Run: watchboxctl config validate")
        }
        let place = [first.file, first.line.map(String.init)].compactMap(\.self).joined(separator: ":")
        let evidence =
            "\(first.key)\(place.isEmpty ? "" : " (\(place))") \(first.reason)\(more(document.issues.count - 1))"
        return document.isValid
            ? .warn(evidence, first.code, hint: first.hint)
            : .fail(evidence, first.code, hint: "Run: watchboxctl config validate")
    }

    private static func files(_ environment: Environment) -> Finding {
        let files: [SourceFile]
        do throws(CodedError) {
            files = try ConfigurationFiles.read(directory: environment.path(environment.configurationDirectory))
        } catch {
            return .fail(
                [error.what, error.why].compactMap(\.self).joined(separator: ": "), error.code, hint: error.hint)
        }
        let (_, issues) = ConfigurationReader.read(files: files)
        let errors = issues.filter { !$0.isWarning }
        if let first = errors.first {
            return .fail("\(first)\(more(errors.count - 1))", first.code, hint: "Run: watchboxctl config validate")
        }
        // What a camera lacks here may be in the store, which only the daemon reads.
        if let first = issues.first(where: { $0.code != .incompleteCamera }) {
            return .warn("\(first)", first.code, hint: first.hint)
        }
        return .ok(valid(files.count))
    }

    private static func more(_ count: Int) -> String {
        count > 0 ? ", and \(counted(count, "more problem", "more problems"))" : ""
    }

    private static func valid(_ files: Int) -> String {
        files == 0 ? "no file; all comes from the store" : "\(counted(files, "file")) valid"
    }

    private static func generation(_ context: CheckContext) async -> Finding {
        switch await context.status() {
        case .success(let status):
            if let problem = status.configurationProblem {
                return .fail(
                    "the last good generation \(status.generation) runs, because: \(problem)", .lastGoodInUse,
                    hint: "Run: watchboxctl config validate")
            }
            return .ok("generation \(status.generation) runs")
        case .failure(let absence):
            let directory = "\(context.environment.state)/generations"
            guard let newest = await OwnThread.value({ GenerationFile.newest(in: directory) }) ?? nil else {
                return absence.finding
            }
            return .ok("generation \(newest.number) is the newest on disk (\(newest.cause))")
        }
    }

    private static func versions(_ context: CheckContext) async -> Finding {
        let own = context.environment.version
        switch await context.status() {
        case .success(let status) where status.version == own: return .ok("watchboxd and watchboxctl \(own)")
        case .success(let status):
            return .warn(
                "watchboxd is \(status.version), watchboxctl \(own)",
                hint: "Restart the daemons: systemctl restart watchbox.target")
        case .failure(let absence): return absence.finding
        }
    }
}
