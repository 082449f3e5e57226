/// What `watchboxd kas --config` reads: `/run/watchbox/service/kas.json`, with the names of
/// `KeyAccessServerConfiguration`.
struct KeyAccessServiceSettings: Codable, Equatable, Sendable {
    struct TLSFiles: Codable, Equatable, Sendable {
        var certificateChainFile: String
        var privateKeyFile: String
    }

    /// Where systemd keeps the state of a dynamic user; `/var/lib/watchbox-kas` is a link, which the service does not follow.
    var stateDirectory = "/var/lib/private/watchbox-kas"
    var host: String
    var port: Int
    var tls: TLSFiles?
    var keyEpochSeconds: Int64
    var keyOverlapSeconds: Int64
}
