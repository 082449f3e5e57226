/// What a unit's files give its process besides the rights of a user that nobody else is.
struct UnitRights: Equatable {
    /// A user or groups that somebody has chosen: what those may read is not seen from here.
    private(set) var isOthers = false
    private var stateDirectories: [String] = []

    /// - Parameter files: of `UnitFiles`.
    init(files: [String]) {
        var (isDynamic, groups, group) = (false, false, false)
        for line in files.flatMap(UnitFiles.assignments) {
            switch line.key {
            case "DynamicUser": isDynamic = ["yes", "true", "on", "1"].contains(line.value)
            case "SupplementaryGroups": groups = !line.value.isEmpty
            case "Group": group = !line.value.isEmpty
            case "StateDirectory":
                let names = line.value.split(separator: " ").map { String($0.prefix { $0 != ":" }) }
                stateDirectories = names.isEmpty ? [] : stateDirectories + names
            default: break
            }
        }
        isOthers = !isDynamic || groups || group
    }

    /// Whether the process may be able to read it though not everybody is.
    func mayRead(_ path: String) -> Bool {
        isOthers
            || stateDirectories.contains { name in
                ["/var/lib/\(name)/", "/var/lib/private/\(name)/"].contains { path.hasPrefix($0) }
            }
    }
}
