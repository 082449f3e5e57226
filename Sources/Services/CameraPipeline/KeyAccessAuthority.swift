internal import KeyAccessClient
internal import Logging
internal import NanoTDF
internal import Settings

/// The configured KAS as a camera's authority.
struct KeyAccessAuthority: CollectionAuthority {
    private let keys: KASPublicKeyCache
    private let registrar: KASCollectionRegistrar
    let registersHeaders: Bool

    init(_ configuration: KASConfiguration, logger: Logger) {
        let client = configuration.makeHTTPClient()
        keys = KASPublicKeyCache(configuration: configuration, client: client, logger: logger)
        registrar = KASCollectionRegistrar(configuration: configuration, client: client)
        // Without a token there is nobody whom the KAS could believe.
        registersHeaders = configuration.token != .none
    }

    func recipient() async throws -> KASRecipient {
        try await abandonable { [keys] in try await keys.recipient() }
    }

    func register(
        _ claim: CollectionClaim, stream: String, lifetime: Duration
    ) async throws(RegistrationFailure) -> Int64? {
        do {
            return try await abandonable { [registrar] in
                try await registrar.register(claim, stream: stream, lifetime: lifetime.components.seconds)
            }
        } catch {
            throw RegistrationFailure(Self.kind(of: error), reason: "\(error)")
        }
    }

    private static func kind(of error: any Error) -> RegistrationFailure.Kind {
        guard let error = error as? KeyAccessError else { return .away }
        return switch error {
        case .status(404, _), .status(405, _), .status(501, _): .unsupported
        case .status(401, _), .tokenUnreadable, .signingKey, .configuration: .notAdmitted
        case .status where error.retry == .late: .refused
        default: .away
        }
    }

    /// A request to a KAS that hangs may take its whole time-out; a camera that is stopped does not wait for it.
    /// The request is cancelled and ends by itself.
    private func abandonable<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (results, continuation) = AsyncThrowingStream<Value, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let work = Task {
            do {
                continuation.yield(try await operation())
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return try await withTaskCancellationHandler {
            for try await result in results { return result }
            throw CancellationError()
        } onCancel: {
            work.cancel()
        }
    }
}
