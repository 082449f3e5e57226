internal import CameraModel
public import Settings

extension BoxSettings {
    /// What has to happen so that `other` takes the place of these settings; by object. A camera can be in `affects` of
    /// several changes.
    public func changes(to other: BoxSettings) -> [ConfigurationChange] {
        var names = objects
        names += other.objects.filter { !names.contains($0) }
        return names.sorted().compactMap { object in
            let (old, new) = (values(object), other.values(object))
            guard old != new else { return nil }
            let (action, affects) = consequence(of: object, in: other)
            return ConfigurationChange(
                object: object, kind: old == nil ? .added : new == nil ? .removed : .changed,
                details: ChangeDetails.lines(old, new, object: object), action: action, affects: affects)
        }
    }

    private func consequence(of object: String, in other: BoxSettings) -> (ConfigurationAction, [String]) {
        switch object {
        // Messages begin with the box's name.
        case "box" where name != other.name && other.hooks.values.contains(where: \.enabled):
            return (.restartService, ["hooks"])
        // Health reads its settings again by itself.
        case "box", "health": return (.none, [])
        case let name where name.hasPrefix("hook."): return (.restartService, ["hooks"])
        case "relay_server": return (.restartService, ["relay"])
        case "kas_server": return (.restartService, ["kas"])
        case let name where name.hasPrefix("camera."):
            let id = String(name.dropFirst(7))
            var action = action(for: id, in: other, changed: ownPart(id) != other.ownPart(id))
            if action == .restartCamera, canChange(id, to: other) { action = .changeCamera }
            return (action, action == .none ? [] : [id])
        default:
            return consequenceForCameras(of: object, in: other)
        }
    }

    /// Of a relay or the KAS.
    private func consequenceForCameras(of object: String, in other: BoxSettings) -> (ConfigurationAction, [String]) {
        let relay = object.hasPrefix("relay.") ? String(object.dropFirst(6)) : nil
        let changed =
            relay.map {
                relays[$0]?.document(stream: "") != other.relays[$0]?.document(stream: "")
                    || relays[$0]?.profile != other.relays[$0]?.profile
            } ?? (kas?.document(stateDirectory: "") != other.kas?.document(stateDirectory: ""))
        var affected: [ConfigurationAction: [String]] = [:]
        for id in Set(cameras.keys).union(other.cameras.keys).sorted() {
            let uses = relay == nil || cameras[id]?.relay == relay || other.cameras[id]?.relay == relay
            guard uses else { continue }
            affected[action(for: id, in: other, changed: changed), default: []].append(id)
        }
        for action in [ConfigurationAction.restartCamera, .startCamera, .stopCamera] {
            if let ids = affected[action] { return (action, ids) }
        }
        return (.none, [])
    }

    private func action(for id: String, in other: BoxSettings, changed: Bool) -> ConfigurationAction {
        switch (isRunning(id), other.isRunning(id)) {
        case (true, true): changed ? .restartCamera : .none
        case (false, true): .startCamera
        case (true, false): .stopCamera
        case (false, false): .none
        }
    }

    /// Whether its process's configuration differs only in what can change while it publishes.
    private func canChange(_ id: String, to other: BoxSettings) -> Bool {
        guard let old = document(id, stateDirectory: ""), let new = other.document(id, stateDirectory: "")
        else { return false }
        return old.videoChange(to: new) != nil
    }

    /// The camera's document without what comes from relay and KAS, and the relay's name.
    private func ownPart(_ id: String) -> OwnPart {
        var alone = BoxSettings()
        alone.cameras[id] = cameras[id]
        return OwnPart(document: alone.document(id, stateDirectory: ""), relay: cameras[id]?.relay)
    }

    private struct OwnPart: Equatable {
        var document: CameraConfiguration?
        var relay: String?
    }
}

/// Old and new value of each key that differs.
enum ChangeDetails {
    static func lines(
        _ old: [String: SettingValue]?, _ new: [String: SettingValue]?, object: String
    ) -> [String] {
        guard let new, let definition = KeyTable.object(object.split(separator: ".").first.map(String.init) ?? "")
        else { return [] }
        return definition.keys.compactMap { key in
            let before = old.map { $0[key.name] } ?? key.defaultValue
            let after = new[key.name]
            guard before != after else { return nil }
            let shown = shownText(after, key.kind)
            guard old != nil else { return "\(key.name): \(shown)" }
            let earlier = shownText(before, key.kind)
            return earlier == shown ? "\(key.name): changed" : "\(key.name): \(earlier) → \(shown)"
        }
    }

    private static func shownText(_ value: SettingValue?, _ kind: KeyDefinition.Kind) -> String {
        switch value {
        case nil: "(none)"
        case .string(let text)?:
            switch kind {
            case .source, .relayURL, .keyAccessURL, .hookURL: Location.redacted(text)
            default: text
            }
        case .integer(let number)?: String(number)
        case .real(let number)?: number.plain
        case .boolean(let flag)?: flag ? "true" : "false"
        case .strings(let list)?:
            list.isEmpty
                ? "(none)"
                : list.reduce(0) { $0 + $1.utf8.count } > 200
                    ? "\(list.count) entries" : list.joined(separator: ", ")
        }
    }
}
