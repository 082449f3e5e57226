public import Settings

/// `POST /api/v1/config/validate`
public struct ValidationDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.config-validation/1"
    public var isValid: Bool
    public var files: [String]
    public var issues: [ConfigurationIssue]

    public init(isValid: Bool, files: [String], issues: [ConfigurationIssue]) {
        self.isValid = isValid
        self.files = files
        self.issues = issues
    }
}

/// `GET /api/v1/config/diff`, answer of `apply`, `rollback` and of every change with `?dryRun=1`.
public struct ConfigurationDiff: Codable, Equatable, Sendable {
    public var schema = "watchbox.config-diff/1"
    public var fromGeneration: Int
    /// Nil while nothing was applied.
    public var toGeneration: Int?
    public var changes: [ConfigurationChange]
    /// Seconds until it is taken back unless it is confirmed; nil: it stays.
    public var confirmWithinSeconds: Int?
    /// Of `DELETE /api/v1/config/quarantine/…`: names of the object's secrets that stay, since another object names them
    /// or may; nil: none.
    public var keptSecrets: [String]?

    public init(
        fromGeneration: Int, toGeneration: Int? = nil, changes: [ConfigurationChange], confirmWithinSeconds: Int? = nil,
        keptSecrets: [String]? = nil
    ) {
        self.fromGeneration = fromGeneration
        self.toGeneration = toGeneration
        self.changes = changes
        self.confirmWithinSeconds = confirmWithinSeconds
        self.keptSecrets = keptSecrets
    }
}

/// Body of `POST /api/v1/config/apply` (files are read again) and `…/rollback`.
public struct ApplyRequest: Codable, Equatable, Sendable {
    /// Taken back after so many seconds unless confirmed; 10 to 3600.
    public var confirmSeconds: Int?
    /// Of `rollback`.
    public var generation: Int?

    public init(confirmSeconds: Int? = nil, generation: Int? = nil) {
        self.confirmSeconds = confirmSeconds
        self.generation = generation
    }
}

/// `GET /api/v1/config/history`, newest first.
public struct GenerationListDocument: Codable, Equatable, Sendable {
    public struct Generation: Codable, Equatable, Sendable {
        public var number: Int
        /// Seconds since 1970.
        public var time: Int64
        public var isCurrent: Bool
        /// `boot`, `config apply`, `camera add front`, `rollback to 26`, `taken back` ….
        public var cause: String
        public var cameras: Int

        public init(number: Int, time: Int64, isCurrent: Bool, cause: String, cameras: Int) {
            self.number = number
            self.time = time
            self.isCurrent = isCurrent
            self.cause = cause
            self.cameras = cameras
        }
    }

    public var schema = "watchbox.config-history/1"
    public var generations: [Generation]

    public init(generations: [Generation]) {
        self.generations = generations
    }
}

/// `GET /api/v1/config`: the merged result, and where each object comes from. Secrets are names only.
public struct ConfigurationDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.config/1"
    public var generation: Int
    /// The merged configuration as TOML, as `config export` prints it.
    public var toml: String
    /// `camera.front` → `conf.d/10-cams.toml:4`, or `store`.
    public var origins: [String: String]
    /// Files that were read, in order.
    public var files: [String]
    /// What this version refuses and `toml` lacks, all of it, by name. Nil: nothing.
    public var quarantined: [QuarantinedObject]?

    public init(
        generation: Int, toml: String, origins: [String: String], files: [String],
        quarantined: [QuarantinedObject]? = nil
    ) {
        self.quarantined = quarantined
        self.generation = generation
        self.toml = toml
        self.origins = origins
        self.files = files
    }
}

/// Body of `POST /api/v1/config/import`.
public struct ImportRequest: Codable, Equatable, Sendable {
    public var toml: String
    /// Objects of the same name are replaced instead of refused.
    public var replace: Bool
    /// Refused with WB-8004 when another generation runs by now; nil: whatever runs.
    public var ifGeneration: Int?

    public init(toml: String, replace: Bool = false, ifGeneration: Int? = nil) {
        self.toml = toml
        self.replace = replace
        self.ifGeneration = ifGeneration
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        toml = try container.decode(String.self, forKey: .toml)
        replace = try container.decodeIfPresent(Bool.self, forKey: .replace) ?? false
        ifGeneration = try container.decodeIfPresent(Int.self, forKey: .ifGeneration)
    }
}
