public import ErrorCatalog

extension CommandFailure {
    /// What a coded error says to a person, with the exit status that its code has.
    public init(_ error: CodedError, what: String? = nil) {
        self.init(
            what: what.map { "\($0): \(error.what)" } ?? error.what, why: error.why ?? error.code.entry?.cause ?? "",
            hint: "\(error.hint ?? error.code.entry?.hint ?? "") (\(error.code))", status: ExitStatus(error.code))
    }
}

extension ExitStatus {
    /// The exit status of a fault.
    public init(_ code: ErrorCode) {
        self =
            switch code {
            case .notFound, .noSuchGeneration: .notFound
            case .unreachable: .daemonUnreachable
            case .notPermitted: .notPermitted
            case .relayUnreachable, .keyAccessUnreachable: .remoteUnreachable
            case .unreadableFile, .invalidSyntax, .unknownKey, .invalidValue, .missingSecret, .unsupportedSource,
                .badRequest:
                .invalidConfiguration
            case .conflict, .exists, .busy, .definedInFile, .objectQuarantined: .conflict
            default: .failed
            }
    }
}
