public import Database
internal import Wire

/// Why it was not remembered, as text for a person.
public enum BoxMemoryError: Error, Equatable, Sendable {
    case invalid(field: String, why: String)
    case database(DatabaseFailure)

    init(_ error: any Error, path: String) {
        self = error as? BoxMemoryError ?? .database(DatabaseFailure(error, path: path))
    }
}

extension BoxMemoryError: CustomStringConvertible {
    /// What happened.
    public var what: String {
        switch self {
        case .invalid(let field, _): "\(ShownText.cleaned(field, limit: 128, replacing: "\u{fffd}")) is not valid"
        case .database(let failure): failure.what
        }
    }

    /// Why it happened.
    public var why: String {
        switch self {
        case .invalid(_, let why): why
        case .database(let failure): failure.why
        }
    }

    /// What a person does next.
    public var hint: String {
        switch self {
        case .invalid: "correct it and try again; nothing was changed"
        case .database(let failure): failure.hint
        }
    }

    public var description: String { "\(what): \(why).\nNext: \(hint)" }
}
