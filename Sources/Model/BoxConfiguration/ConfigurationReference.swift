/// The page of the documentation that lists all keys.
public enum ConfigurationReference {
    /// The whole page: `docs/ref/configuration.md`.
    public static let page = """
        # Configuration
        <!-- Written by: watchboxctl config schema --markdown. A test compares it with Sources/Model/BoxConfiguration. -->

        `/etc/watchbox/watchbox.toml`, then `/etc/watchbox/conf.d/*.toml` by name: TOML, 256 KiB a file. Only the operator writes there; no
        program of WatchBox ever does. What is added by command lives in the store, and a file wins over it. Check with
        `watchboxctl config validate`, see what would restart with `watchboxctl config diff`, then `watchboxctl config apply`.

            version = 1
            box = { name = "porch-box" }
            relay.main = { url = "rtmps://live.example.net/live" }
            kas = { url = "https://kas.example.net/kas", secret = "kas-token" }
            camera.front = { name = "Front door", source = "test:", size = "1280x720" }
            hook.home = { url = "https://home.example.net/watchbox" }

        No file holds a secret: `secret` names one that was given with `watchboxctl camera password`, `relay add --secret-file`,
        `kas set --token-file`, or `hook add --url-file` and `--token-file`, and is encrypted for this box.


        """ + markdown

    /// Headings of the second level with one table each; generated from the keys that the reader knows.
    public static let markdown: String = {
        var text = """
            ## `version`

            \(KeyTable.versionText)


            """
        for object in KeyTable.objects {
            text += "## `\(object.title)`\n\n\(object.meaning)\n\n"
            text += "| key | value | default | meaning |\n|---|---|---|---|\n"
            for key in object.keys {
                text += "| `\(key.name)` | \(key.kind.summary) | \(key.shownDefault) | \(key.meaning) |\n"
            }
            text += "\n"
        }
        return String(text.dropLast())
    }()
}

extension KeyDefinition {
    fileprivate var shownDefault: String {
        if isRequired { return "required" }
        if let defaultText { return defaultText }
        return defaultValue.map { "`\($0.toml)`" } ?? "none"
    }
}

extension KeyDefinition.Kind {
    /// For a cell of the table.
    fileprivate var summary: String {
        switch self {
        case .text(let limit): "string, at most \(limit) characters"
        case .identifier: "name: 1 to 24 of `a-z`, `0-9`, single hyphens"
        case .secretName: "name of a secret: 1 to 32 of `a-z`, `0-9`, hyphens"
        case .streamName: "1 to 128 characters"
        case .source: "source"
        case .relayURL, .keyAccessURL, .hookURL: "URL"
        case .listenAddress: "`\"address:port\"`"
        case .path: "absolute path"
        case .size: "`\"WIDTHxHEIGHT\"`, even numbers, 64 to 7680"
        case .choice(let choices): choices.map { "`\"\($0)\"`" }.joined(separator: ", ")
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .real(let range): "\(range.lowerBound.plain) to \(range.upperBound.plain)"
        case .boolean: "`true`, `false`"
        case .strings(let count, let limit): "list of at most \(count) strings of at most \(limit) bytes"
        case .numbers(let numbers): numbers.map(String.init).joined(separator: ", ")
        case .choices(let choices): "list of " + choices.map { "`\"\($0)\"`" }.joined(separator: ", ")
        case .masks: "list of at most \(countLimit) `\"X,Y,WIDTH,HEIGHT\"`"
        case .controls: "list of at most \(countLimit) `\"NAME=VALUE\"`"
        case .hosts: "list of at most \(countLimit) `\"HOST\"` or `\"HOST:PORT\"`"
        case .weekSpans: "list of at most \(countLimit) `\"DAYS FROM-TO\"`"
        case .networks: "list of at most \(countLimit) `\"ADDRESS/BITS\"`"
        case .host: "name or IP address"
        case .audioDevice: "name of an audio device, at most 128 characters"
        case .certificatePin: "`\"sha256//BASE64\"`"
        case .rsaPublicKey: "public RSA key: PEM, or its Base64"
        case .macAddress: "`\"00:11:22:aa:bb:cc\"`"
        }
    }
}
