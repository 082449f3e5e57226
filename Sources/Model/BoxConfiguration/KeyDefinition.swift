internal import Settings

/// What a key of the configuration may hold. Reader, JSON Schema and reference table are made from the same list.
struct KeyDefinition: Sendable {
    enum Kind: Equatable, Sendable {
        /// For people; characters.
        case text(limit: Int)
        /// Of a camera or a relay.
        case identifier
        /// In the store of secrets.
        case secretName
        case streamName
        case source
        case relayURL
        case keyAccessURL
        case hookURL
        /// `host:port`
        case listenAddress
        /// Of a file, absolute.
        case path
        /// `1280x720`
        case size
        case choice([String])
        case integer(ClosedRange<Int64>)
        case real(ClosedRange<Double>)
        case boolean
        /// Each of at most `limit` bytes.
        case strings(count: Int, limit: Int)
        /// One of few integers.
        case numbers([Int])
        /// Any of these, none twice.
        case choices([String])
        /// `x,y,width,height` as parts of the image, each.
        case masks
        /// `name=value`, each.
        case controls
        /// `192.0.2.0/24`, each.
        case networks
        /// `relay2.example.net` or `relay2.example.net:1936`, each.
        case hosts
        /// `mon-fri 18:00-07:00`, each.
        case weekSpans
        /// A name or an IP address, without brackets and port.
        case host
        /// ALSA's name of a microphone.
        case audioDevice
        /// `sha256//` and Base64: of the public key of a certificate.
        case certificatePin
        /// PEM, or the Base64 between its lines; kept as the latter.
        case rsaPublicKey
        /// Six pairs of digits between colons, in lower case.
        case macAddress
    }

    var name: String
    var kind: Kind
    /// Nil: the setting is absent.
    var defaultValue: SettingValue?
    /// Text for a default that is computed.
    var defaultText: String?
    var isRequired: Bool
    /// A sentence with a full stop.
    var meaning: String
}

/// A table of the configuration.
struct ObjectDefinition: Sendable {
    /// First part of its name: `camera`.
    var name: String
    /// `camera.front`: there are several, each with an ID.
    var isNamed: Bool
    var meaning: String
    var keys: [KeyDefinition]

    init<Table: SettingsTable>(_ name: String, isNamed: Bool, of table: Table.Type, _ meaning: String) {
        self.name = name
        self.isNamed = isNamed
        self.meaning = meaning
        keys = table.keys.map(\.definition)
    }

    func key(_ name: String) -> KeyDefinition? { keys.first { $0.name == name } }

    /// Of one of them, in an advice.
    var exampleName: String {
        switch name {
        case "camera": "front-door"
        case "hook": "phone"
        default: "main"
        }
    }

    /// `camera.ID`, for the reference.
    var title: String { isNamed ? "\(name).\(name == "camera" ? "ID" : "NAME")" : name }
}
