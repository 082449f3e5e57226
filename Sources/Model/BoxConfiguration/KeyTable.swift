internal import Settings

/// Every key that the configuration knows.
enum KeyTable {
    static let version: Int64 = 1
    static let versionText =
        "Version of this format; 1 is the only one. A file without it is read as version 1."

    /// In the order in which they are written.
    static let objects = [box, relay, keyAccess, camera, hook, health, relayServer, keyAccessServer]

    static func object(_ name: String) -> ObjectDefinition? { objects.first { $0.name == name } }

    static let box = ObjectDefinition("box", isNamed: false, of: BoxSettings.self, "The box itself.")
    static let relay = ObjectDefinition(
        "relay", isNamed: true, of: RelaySettings.self, "An RTMP relay that cameras publish to.")
    static let keyAccess = ObjectDefinition(
        "kas", isNamed: false, of: KeyAccessSettings.self, "The key access server (KAS) that gives viewers the key.")
    static let camera = ObjectDefinition(
        "camera", isNamed: true, of: CameraSettings.self, "A camera, and the encrypted stream that is made of it.")
    static let hook = ObjectDefinition(
        "hook", isNamed: true, of: HookSettings.self, "Somebody outside who is notified of what happens on this box.")
    static let health = ObjectDefinition("health", isNamed: false, of: HealthSettings.self, "The health monitor.")
    static let relayServer = ObjectDefinition(
        "relay_server", isNamed: false, of: RelayServerSettings.self, "The relay on this box.")
    static let keyAccessServer = ObjectDefinition(
        "kas_server", isNamed: false, of: KeyAccessServerSettings.self, "The key access server on this box.")
}
