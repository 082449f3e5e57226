public import Settings

/// A part of the configuration that was made by a command or the API.
public struct StoredPart: Codable, Equatable, Sendable {
    /// `camera.front`, `relay.main`, `hook.phone`, `kas`, `box`, `health`, `relay_server`, `kas_server`.
    public var object: String
    /// As in the TOML; what is absent takes its default.
    public var settings: [String: SettingValue]
    /// Why this version cannot read it; nil: it can. What `settings` holds then is not all of it.
    public var fault: String?

    public init(object: String, settings: [String: SettingValue], fault: String? = nil) {
        self.object = object
        self.settings = settings
        self.fault = fault
    }

    /// An object's name as issues show it: nothing in it is for a terminal to obey.
    public static func shown(_ object: String) -> String {
        guard let dot = object.firstIndex(of: ".") else { return KeyText.shown(object) }
        return "\(KeyText.shown(String(object[..<dot]))).\(KeyText.shown(String(object[object.index(after: dot)...])))"
    }
}

extension BoxSettings {
    /// Everything that differs from an empty box, in the order in which it is written; reads back to an equal value.
    public func storedParts() -> [StoredPart] {
        objects.compactMap { object in
            guard let part = part(object) else { return nil }
            return isNamed(object) || object == "kas" || !part.settings.isEmpty ? part : nil
        }
    }

    /// One object with the settings that differ from their defaults; nil: there is no such object.
    public func part(_ object: String) -> StoredPart? {
        table(object).map { StoredPart(object: object, settings: $0.differingValues) }
    }

    /// All settings of one object, defaults included; nil: there is no such object.
    public func values(_ object: String) -> [String: SettingValue]? {
        table(object)?.values
    }

    /// Names of all objects; the ones that stand for themselves are always there, except `kas`.
    var objects: [String] {
        KeyTable.objects.flatMap { definition -> [String] in
            switch definition.name {
            case "relay": relays.keys.sorted().map { "relay.\($0)" }
            case "camera": cameras.keys.sorted().map { "camera.\($0)" }
            case "hook": hooks.keys.sorted().map { "hook.\($0)" }
            case "kas": kas == nil ? [] : ["kas"]
            default: [definition.name]
            }
        }
    }

    private func isNamed(_ object: String) -> Bool {
        KeyTable.objects.contains { $0.isNamed && object.hasPrefix("\($0.name).") }
    }

    private func table(_ object: String) -> (any SettingsTable)? {
        switch object {
        case "box": self
        case "kas": kas
        case "health": health
        case "relay_server": relayServer
        case "kas_server": kasServer
        case let name where name.hasPrefix("camera."): cameras[String(name.dropFirst(7))]
        case let name where name.hasPrefix("relay."): relays[String(name.dropFirst(6))]
        case let name where name.hasPrefix("hook."): hooks[String(name.dropFirst(5))]
        default: nil
        }
    }
}
