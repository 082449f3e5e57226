internal import ErrorCatalog
internal import Settings

/// What comes of a reading: all or nothing, or object by object.
extension Reading {
    /// A chain of refusals (the box's limit, then a relay, then a camera) is no longer than the kinds of objects that there are.
    private static let rounds = 16

    mutating func finish() -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        let settings = BoxSettings(candidates.values)
        check(settings)
        return listed(settings)
    }

    /// Leaves out what is refused, and looks again whether the rest is valid without it, until nothing more is refused.
    mutating func admit() -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        var faults = found.filter { !$0.issue.isWarning }
        let warnings = found.filter(\.issue.isWarning)
        let readable = Set(candidates.keys)
        for _ in 0..<Self.rounds {
            guard faults.allSatisfy({ !$0.objects.isEmpty }) else { break }
            let quarantined = quarantined(by: faults, readable: readable)
            candidates = candidates.filter { quarantined[$0.key] == nil }
            var settings = BoxSettings(candidates.values)
            settings.quarantined = quarantined
            // Its owner may have forbidden it, and nobody knows any more.
            if quarantined["health"] != nil { settings.health.reboot = false }
            found = warnings
            check(settings)
            let more = found.filter { !$0.issue.isWarning }
            if more.isEmpty { return listed(settings) }
            faults += more
        }
        found = faults + warnings
        return listed(BoxSettings())
    }

    private func quarantined(by faults: [Fault], readable: Set<String>) -> [String: QuarantinedObject] {
        var quarantined: [String: QuarantinedObject] = [:]
        // No command that changes one setting takes away one that it does not know.
        let isUnknown = Set(faults.filter { $0.issue.code == .unknownKey }.flatMap(\.objects))
        // Settings are found in no order.
        for fault in Self.ordered(faults) {
            for object in fault.objects {
                let place = places[object]
                let (origin, file) = (place?.origin ?? fault.issue.place, place?.file ?? fault.issue.file)
                var entry =
                    quarantined[object]
                    ?? QuarantinedObject(
                        object: object, origin: origin, issues: [],
                        hint: Self.hint(
                            object, file: file, isReadable: readable.contains(object),
                            isEdited: readable.contains(object) && !isUnknown.contains(object)))
                guard entry.issues.count < QuarantinedObject.issueLimit else { continue }
                entry.issues.append(fault.issue)
                quarantined[object] = entry
            }
        }
        return quarantined
    }

    /// The command that corrects it comes last: it is what a screen shows as the next step.
    ///
    /// - Parameters:
    ///   - isReadable: what is stored of it can be read, so that it stays the same one when it is written anew.
    ///   - isEdited: a command can change what is wrong with it.
    private static func hint(_ object: String, file: String?, isReadable: Bool, isEdited: Bool) -> String {
        if let file { return "Correct it in \(file), then run: watchboxctl config apply" }
        let remove = "Remove it with `watchboxctl config discard \(object)`, or "
        let parts = object.split(separator: ".", maxSplits: 1).map(String.init)
        switch parts.first {
        case "camera"?, "relay"?, "hook"?:
            guard isEdited, parts.count == 2 else { break }
            return "\(remove)correct it: watchboxctl \(parts[0]) edit \(parts[1])"
        case "kas"?:
            guard isEdited else { break }
            return "\(remove)correct it: watchboxctl kas set --url URL"
        default: break
        }
        guard KeyTable.object(parts.first ?? "") != nil else {
            return "Run the version that wrote it, or remove it: watchboxctl config discard \(object)"
        }
        let again = parts.first == "camera" && !isReadable ? ", and give its password again afterwards" : ""
        return "\(remove)write it anew\(again): watchboxctl config import FILE --replace"
    }

    /// Files first, by line.
    private static func ordered(_ faults: [Fault]) -> [Fault] {
        faults.sorted { one, other in
            (one.number, one.issue.line ?? 0, one.issue.column ?? 0, one.issue.key, one.issue.reason)
                < (other.number, other.issue.line ?? 0, other.issue.column ?? 0, other.issue.key, other.issue.reason)
        }
    }

    /// All issues in order; the settings only when none of them is an error.
    func listed(_ settings: BoxSettings) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        let found = Self.ordered(found)
        let isUsable = found.allSatisfy(\.issue.isWarning)
        var issues = found.map(\.issue)
        if issues.count > ConfigurationReader.issueLimit {
            // Errors before warnings, so that what stops the configuration is not cut off.
            let limit = ConfigurationReader.issueLimit - 1
            let rest = issues.count - limit
            issues = Array((issues.filter { !$0.isWarning } + issues.filter(\.isWarning)).prefix(limit))
            issues.append(
                ConfigurationIssue(
                    code: isUsable ? .incompleteCamera : .invalidValue, key: "",
                    reason: "There are \(rest) more", hint: "Correct these first", isWarning: isUsable))
        }
        return (isUsable ? settings : nil, issues)
    }
}

extension BoxSettings {
    init(_ candidates: some Sequence<Candidate>) {
        self.init()
        for candidate in candidates {
            origins[candidate.object] = candidate.place.origin
            let values = candidate.values
            switch candidate.definition.name {
            case "box": take(values)
            case "relay": relays[candidate.id] = RelaySettings(values: values)
            case "kas": kas = KeyAccessSettings(values: values)
            case "camera": cameras[candidate.id] = CameraSettings(values: values)
            case "hook": hooks[candidate.id] = HookSettings(values: values)
            case "health": health = HealthSettings(values: values)
            case "relay_server": relayServer = RelayServerSettings(values: values)
            default: kasServer = KeyAccessServerSettings(values: values)
            }
        }
    }
}
