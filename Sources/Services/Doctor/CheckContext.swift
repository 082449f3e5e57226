internal import BoxConfiguration
internal import ControlAPI
internal import ControlClient
internal import FoundationEssentials
internal import Platform

/// What several checks need, asked for once.
public final class CheckContext: Sendable {
    /// Why a daemon's answer is missing.
    enum Absence: Error {
        case offline
        case failed(ControlClientError)

        var finding: Finding {
            switch self {
            case .offline: .unknown("not asked (--offline)")
            case .failed(.denied): .unknown("this user may not ask the daemon", hint: "Run it with sudo")
            case .failed: .unknown("the daemon does not answer", hint: "Run: systemctl status watchbox-control")
            }
        }
    }

    public let environment: Environment
    private let statusTask: Task<Result<BoxStatus, Absence>, Never>
    private let settingsTask: Task<BoxSettings?, Never>

    public init(_ environment: Environment) {
        self.environment = environment
        let client = environment.client
        let isOffline = environment.isOffline
        statusTask = Task {
            guard !isOffline else { return .failure(.offline) }
            do throws(ControlClientError) {
                return .success(try await client.get(BoxStatus.self, APIPath.status()))
            } catch {
                return .failure(.failed(error))
            }
        }
        settingsTask = Task {
            if !isOffline,
                let document = try? await client.get(ConfigurationDocument.self, APIPath.configuration()),
                let settings = Self.settings([SourceFile(name: "daemon", text: document.toml)])
            {
                return settings
            }
            return await OwnThread.value { Self.settingsFromDisk(environment) } ?? nil
        }
    }

    func status() async -> Result<BoxStatus, Absence> { await statusTask.value }

    /// What runs, as the daemon says, else the newest generation on disk, else the operator's files.
    func settings() async -> BoxSettings? { await settingsTask.value }

    private static func settings(_ files: [SourceFile]) -> BoxSettings? {
        ConfigurationReader.read(files: files).settings
    }

    private static func settingsFromDisk(_ environment: Environment) -> BoxSettings? {
        if let generation = GenerationFile.newest(in: "\(environment.state)/generations") {
            return generation.settings
        }
        let directory = environment.path(environment.configurationDirectory)
        guard let files = try? ConfigurationFiles.read(directory: directory), !files.isEmpty else { return nil }
        return settings(files)
    }
}

/// As much of a generation's file as the doctor needs.
struct GenerationFile: Decodable {
    var number: Int
    var time: Int64
    var cause: String
    var settings: BoxSettings

    /// Nil when there is none, or none that this user may read.
    static func newest(in directory: String) -> GenerationFile? {
        for name in SmallFile.names(in: directory).reversed() where name.hasSuffix(".json") {
            guard let bytes = try? SmallFile.read("\(directory)/\(name)", atMost: 4 << 20),
                let generation = try? JSONDecoder().decode(GenerationFile.self, from: Data(bytes))
            else { continue }
            return generation
        }
        return nil
    }
}
