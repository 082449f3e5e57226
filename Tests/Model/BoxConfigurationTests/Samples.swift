import Settings

@testable import BoxConfiguration

/// Documents that several tests read.
enum Samples {
    static let full = """
        version = 1
        box = { name = "porch-box" }
        relay.main = { url = "rtmps://live.example.net/live", ca_file = "/etc/watchbox/ca.pem", profile = "keeps-metadata" }
        relay.spare = { secret = "relay-spare" }
        kas = { url = "https://kas.example.net/kas", ca_file = "/etc/watchbox/ca.pem", secret = "kas-token" }

        [camera.front]
        name = "Front door"
        source = "test:"
        size = "640x360"
        rate = 25
        bitrate = 1500000
        gop = 2
        audio = false
        loop = false
        relay = "main"
        stream = "front-1"
        active = true
        grid = 3
        rotate_seconds = 30.5
        attributes = ["https://example.net/attr/a/value/b"]
        viewers = ["alice", "bob"]
        user = "admin"
        secret = "password"

        [camera.back]
        source = "file:/srv/film.mp4"
        relay = "spare"

        [health]
        reboot = false
        metrics_listen = "127.0.0.1:9464"

        [relay_server]
        enabled = true
        listen = "[::]:1935"
        publish_keys = "/etc/watchbox/publish-keys"
        tls_certificate = "/etc/watchbox/relay.pem"
        tls_key = "/etc/watchbox/relay.key"

        [kas_server]
        enabled = true
        listen = "127.0.0.1:9444"
        tls_certificate = "/etc/watchbox/kas.pem"
        tls_key = "/etc/watchbox/kas.key"

        """

    static let small = """
        kas.url = "https://kas.example.net/kas"
        relay.main.url = "rtmp://relay.example.net/live"
        camera.front.source = "test:"

        """

    static func read(_ text: String) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        ConfigurationReader.read(files: [SourceFile(name: "watchbox.toml", text: text)])
    }

    static func settings(_ text: String) -> BoxSettings {
        let (settings, issues) = read(text)
        precondition(issues.isEmpty, "\(issues)")
        return settings!
    }
}
