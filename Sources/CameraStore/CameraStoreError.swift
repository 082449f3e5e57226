public import Database

/// Why the store did not do it, in words for a person.
public enum CameraStoreError: Error, Equatable, Sendable {
    /// There is a camera of this `id`.
    case exists(String)
    case noSuchCamera(String)
    /// Somebody else changed it in between. Names the object, such as `camera front`, and its revision now; 0: there
    /// is none.
    case conflict(String, current: Int)
    case tooMany(String, limit: Int)
    /// `field` is a path such as `camera.front.port`.
    case invalid(field: String, why: String)
    case database(DatabaseFailure)

    init(_ error: any Error, path: String) {
        self = error as? CameraStoreError ?? .database(DatabaseFailure(error, path: path))
    }

    /// The same below a table of a document.
    func within(_ path: String) -> CameraStoreError {
        guard case .invalid(let field, let why) = self else { return self }
        return .invalid(field: "\(path).\(field)", why: why)
    }
}

extension CameraStoreError: CustomStringConvertible {
    /// What happened.
    public var what: String {
        switch self {
        case .exists(let id): "camera \(id) was not added"
        case .noSuchCamera(let id): "there is no camera \(FieldRules.printable(id))"
        case .conflict(let object, _): "\(object) was not changed"
        case .tooMany(let kind, _): "there are too many \(kind)"
        case .invalid(let field, _): "\(FieldRules.printable(field)) is not valid"
        case .database(let failure): failure.what
        }
    }

    /// Why it happened.
    public var why: String {
        switch self {
        case .exists: "a camera has this ID already"
        case .noSuchCamera: "it was never added, or it was removed"
        case .conflict(_, let current) where current == 0: "it does not exist any more"
        case .conflict(_, let current): "it was changed in between and is at revision \(current) now"
        case .tooMany(_, let limit): "\(limit) are possible"
        case .invalid(_, let why): why
        case .database(let failure): failure.why
        }
    }

    /// What a person does next.
    public var next: String {
        switch self {
        case .exists: "choose another ID, or remove that camera first"
        case .noSuchCamera: "see `watchboxctl camera list`"
        case .conflict: "read it again and repeat the change"
        case .tooMany: "remove what is not needed any more"
        case .invalid: "correct it and try again; nothing was changed"
        case .database(let failure): failure.next
        }
    }

    public var description: String { "\(what): \(why).\nNext: \(next)" }
}
