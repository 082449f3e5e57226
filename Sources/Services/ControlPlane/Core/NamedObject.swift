internal import BoxConfiguration
internal import ErrorCatalog

/// What a configuration can have several of besides cameras, each with a name.
enum NamedObject: String, CaseIterable {
    case relay
    case hook

    /// How many a box has at most.
    var limit: Int { self == .relay ? BoxSettings.relayLimit : BoxSettings.hookLimit }

    /// The name is a key of a table and part of a secret's name.
    func check(_ name: String) throws(CodedError) -> String {
        guard CameraIdentifier.isValid(name) else {
            throw CodedError(
                .invalidValue, "\"\(Printable.text(name, limit: 64))\" is not a \(rawValue)'s name",
                hint: "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as "
                    + (self == .relay ? "main" : "phone"))
        }
        return name
    }
}
