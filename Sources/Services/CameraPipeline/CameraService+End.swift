public import CameraModel
public import ErrorCatalog
internal import Media
internal import RTMPTransport

extension CameraService {
    /// Why a camera cannot run, with its code and what to do.
    ///
    /// - Parameters:
    ///   - error: what making it, or running it, threw.
    ///   - statistics: of the moment after; what the source itself calls its fault. Nil before there was a source.
    /// - Returns: nil of an end that is nobody's fault.
    public static func reason(of error: any Error, statistics: CameraStatistics? = nil) -> CodedError? {
        switch error {
        case let error as CodedError: return error
        case is CancellationError: return nil
        case let error as ConfigurationError:
            guard let first = error.problems.first else { return CodedError(.invalidValue, "its settings are refused") }
            let more = error.problems.count - 1
            return CodedError(
                .invalidValue, first.field, why: first.reason + (more > 0 ? " (and \(more) more)" : ""),
                hint: first.hint)
        case let error as MediaSourceError:
            return CodedError(statistics?.code ?? .sourceUnreadable, error.what, why: error.why, hint: error.hint)
        case let error as RTMPTransportError:
            return CodedError(error.code, error.what, why: error.why, hint: error.hint)
        default: return CodedError(.cameraStopped, "\(error)", hint: "Correct that, then start it again")
        }
    }
}
