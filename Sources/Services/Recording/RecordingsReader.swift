internal import Archive
public import ControlAPI
public import ErrorCatalog
internal import Glibc
internal import Platform

/// Says what is recorded of a camera, by the names of its files and what is beside them: no key, no lock, and no word to the recorder.
public struct RecordingsReader: Sendable {
    private let camera: String
    private let directory: RecordingDirectory?

    /// - Parameter directory: nil: nothing of it was ever recorded.
    public init(camera: String, directory: String?) {
        self.camera = camera
        self.directory = directory.map { RecordingDirectory($0) }
    }

    /// A disk that hangs holds it up: whoever calls lets one in at a time.
    ///
    /// - Parameter now: milliseconds since 1970; nil: what the system's clock says.
    public func page(
        _ query: RecordingsQuery, now: Int64? = nil
    ) async throws(CodedError) -> RecordingsDocument.Camera {
        var after: RecordingName?
        if let text = query.after {
            guard let name = RecordingName(text) else { throw RecordingsQuery.notARecording }
            after = name
        }
        guard let directory else { return .init(camera: camera, recordings: []) }
        let begin = query.from ?? (query.to ?? now ?? Clocks.wallMilliseconds) - RecordingsQuery.defaultSpan
        let range = RecordingRange(from: begin, to: query.to ?? .max)
        let page = await OwnThread.result { [after, limit = query.limit] () throws(FileFailure) in
            RecordingPage(try directory.look(), between: range, after: after, limit: limit)
        }
        switch page {
        case .success(let page): return .init(camera, page)
        case .failure(let failure) where failure.number == ENOENT: return .init(camera: camera, recordings: [])
        case .failure(let failure):
            throw CodedError(
                .recordingFailed, "the recordings of \(camera) cannot be read", why: "\(failure)", object: camera)
        case nil:
            throw CodedError(
                .busy, "the recordings of \(camera) cannot be read now", why: "no thread can be made",
                hint: "Try again in a second", object: camera)
        }
    }
}
