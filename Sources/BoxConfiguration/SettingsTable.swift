internal import CameraModel
internal import HookDelivery
internal import KeyAccessClient
internal import Settings

/// Settings of one object, as a struct and as the keys of the table that they come from.
protocol SettingsTable {
    static var definition: ObjectDefinition { get }
    /// - Parameter values: checked; what is absent takes its default.
    init(values: [String: SettingValue])
    /// Every key that has a value, defaults included.
    var values: [String: SettingValue] { get }
}

extension SettingsTable {
    /// What has to be written down.
    var differingValues: [String: SettingValue] {
        values.filter { key, value in Self.definition.key(key)?.standard != value }
    }
}

/// Defaults of the key table, by object.
enum SettingDefaults {
    static let box = defaults(KeyTable.box)
    static let relay = defaults(KeyTable.relay)
    static let keyAccess = defaults(KeyTable.keyAccess)
    static let camera = defaults(KeyTable.camera)
    static let hook = defaults(KeyTable.hook)
    static let health = defaults(KeyTable.health)
    static let relayServer = defaults(KeyTable.relayServer)
    static let keyAccessServer = defaults(KeyTable.keyAccessServer)

    private static func defaults(_ object: ObjectDefinition) -> [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for key in object.keys { values[key.name] = key.standard }
        return values
    }
}

extension [String: SettingValue] {
    /// Without what is nil.
    init(present values: [String: String?]) {
        self = values.compactMapValues { $0.map(SettingValue.string) }
    }
}

extension RelaySettings: SettingsTable {
    static let definition = KeyTable.relay

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.relay) { given, _ in given }
        self.init(
            url: values.text("url"), caFile: values.text("ca_file"),
            profile: values.text("profile").flatMap(CameraConfiguration.RelayProfile.init) ?? .keepsMetadata,
            publicKeyPin: values.text("public_key_pin"), redirectHosts: values.list("redirect_hosts"),
            secret: values.text("secret"))
    }

    var values: [String: SettingValue] {
        var values = [String: SettingValue](
            present: [
                "url": url, "ca_file": caFile, "profile": profile.rawValue, "public_key_pin": publicKeyPin,
                "secret": secret,
            ])
        values["redirect_hosts"] = .strings(redirectHosts)
        return values
    }
}

extension KeyAccessSettings: SettingsTable {
    static let definition = KeyTable.keyAccess

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.keyAccess) { given, _ in given }
        self.init(
            url: values.text("url") ?? "", caFile: values.text("ca_file"),
            publicKeyPin: values.text("public_key_pin"),
            keyIdentifiers: values.text("key_identifiers").flatMap(KeyIdentifierUse.init) ?? .automatic,
            secret: values.text("secret"))
    }

    var values: [String: SettingValue] {
        [String: SettingValue](
            present: [
                "url": url, "ca_file": caFile, "public_key_pin": publicKeyPin,
                "key_identifiers": keyIdentifiers.rawValue, "secret": secret,
            ])
    }
}

extension HookSettings: SettingsTable {
    static let definition = KeyTable.hook

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.hook) { given, _ in given }
        self.init(
            url: values.text("url"), kind: values.text("kind").flatMap(HookKind.init) ?? .webhook,
            events: values.list("events").compactMap(HookTopic.init), cameras: values.list("cameras"),
            caFile: values.text("ca_file"), publicKeyPin: values.text("public_key_pin"),
            enabled: values.flag("enabled", default: true), secret: values.text("secret"),
            tokenSecret: values.text("token_secret"))
    }

    var values: [String: SettingValue] {
        var values = [String: SettingValue](
            present: [
                "url": url, "kind": kind.rawValue, "ca_file": caFile, "public_key_pin": publicKeyPin,
                "secret": secret, "token_secret": tokenSecret,
            ])
        values["events"] = .strings(events.map(\.rawValue))
        values["cameras"] = .strings(cameras)
        values["enabled"] = .boolean(enabled)
        return values
    }
}

extension HealthSettings: SettingsTable {
    static let definition = KeyTable.health

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.health) { given, _ in given }
        self.init(reboot: values.flag("reboot", default: true), metricsListen: values.text("metrics_listen"))
    }

    var values: [String: SettingValue] {
        var values = [String: SettingValue](present: ["metrics_listen": metricsListen])
        values["reboot"] = .boolean(reboot)
        return values
    }
}

extension RelayServerSettings: SettingsTable {
    static let definition = KeyTable.relayServer

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.relayServer) { given, _ in given }
        self.init(
            enabled: values.flag("enabled", default: false), listen: values.text("listen") ?? "",
            publishKeys: values.text("publish_keys"), isOpen: values.flag("open", default: false),
            playKeys: values.text("play_keys"), playLinkSecret: values.text("play_link_secret"),
            allow: values.list("allow"), deny: values.list("deny"), forward: values.list("forward"),
            forwardFile: values.text("forward_file"), forwardCAFile: values.text("forward_ca_file"),
            apiListen: values.text("api_listen"),
            apiToken: values.text("api_token"), tlsCertificate: values.text("tls_certificate"),
            tlsKey: values.text("tls_key"))
    }

    var values: [String: SettingValue] {
        var values = [String: SettingValue](
            present: [
                "listen": listen, "publish_keys": publishKeys, "play_keys": playKeys,
                "play_link_secret": playLinkSecret, "api_listen": apiListen, "api_token": apiToken,
                "forward_file": forwardFile, "forward_ca_file": forwardCAFile,
                "tls_certificate": tlsCertificate, "tls_key": tlsKey,
            ])
        values["open"] = .boolean(isOpen)
        values["allow"] = .strings(allow)
        values["deny"] = .strings(deny)
        values["forward"] = .strings(forward)
        values["enabled"] = .boolean(enabled)
        return values
    }
}

extension KeyAccessServerSettings: SettingsTable {
    static let definition = KeyTable.keyAccessServer

    init(values given: [String: SettingValue]) {
        let values = given.merging(SettingDefaults.keyAccessServer) { given, _ in given }
        self.init(
            enabled: values.flag("enabled", default: false), listen: values.text("listen") ?? "",
            tlsCertificate: values.text("tls_certificate"), tlsKey: values.text("tls_key"),
            keyEpochHours: values.whole("key_epoch_hours", default: 24),
            keyRetentionDays: values.whole("key_retention_days", default: 7))
    }

    var values: [String: SettingValue] {
        var values = [String: SettingValue](
            present: ["listen": listen, "tls_certificate": tlsCertificate, "tls_key": tlsKey])
        values["enabled"] = .boolean(enabled)
        values["key_epoch_hours"] = .integer(Int64(keyEpochHours))
        values["key_retention_days"] = .integer(Int64(keyRetentionDays))
        return values
    }
}
