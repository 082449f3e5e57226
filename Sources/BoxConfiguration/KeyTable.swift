internal import CameraModel
internal import HookDelivery
internal import KeyAccessClient
internal import Settings

/// Every key that the configuration knows.
enum KeyTable {
    static let version: Int64 = 1
    static let versionSentence =
        "Version of this format; 1 is the only one. A file without it is read as version 1."
    static let cameraLimit = 256
    static let relayLimit = 32
    static let hookLimit = 8

    /// In the order in which they are written.
    static let objects = [box, relay, keyAccess, camera, hook, health, relayServer, keyAccessServer]

    static func object(_ name: String) -> ObjectDefinition? { objects.first { $0.name == name } }

    static let box = ObjectDefinition(
        name: "box", isNamed: false, sentence: "The box itself.",
        keys: [
            KeyDefinition("name", .text(limit: 64), default: .string("watchbox"), "Name of the box, for people."),
            KeyDefinition(
                "pulls", .integer(1...256), default: .integer(16),
                "How many network cameras may be active at once; each is a process, and costs the network its bit rate."
            ),
            KeyDefinition(
                "previews", .boolean, default: .boolean(false),
                "Whether the small pictures of network cameras are also kept on the disk of this box, unencrypted, for when a camera or the box was away. Otherwise they are in memory only."
            ),
        ])

    static let relay = ObjectDefinition(
        name: "relay", isNamed: true, sentence: "An RTMP relay that cameras publish to.",
        keys: [
            KeyDefinition(
                "url", .relayURL,
                "`rtmp://` or `rtmps://`, host and application, without user, password and query; each camera adds its stream's name. May be left out when `secret` is given."
            ),
            KeyDefinition("ca_file", .path, "Certificates (PEM) that are trusted instead of the system's."),
            KeyDefinition(
                "public_key_pin", .certificatePin, words: "any key that the certificates vouch for",
                "SHA-256 of the relay's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, nothing is sent. Needs `rtmps://`."
            ),
            KeyDefinition(
                "profile", .choice(CameraConfiguration.RelayProfile.allCases.map(\.rawValue)),
                default: .string(CameraConfiguration.RelayProfile.keepsMetadata.rawValue),
                "What the relay does to metadata and frames; `watchboxctl relay test` finds it out. With `parses-avcc` each sealed frame travels as one NAL unit, which viewers of other makers do not read."
            ),
            KeyDefinition(
                "redirect_hosts", .hosts, default: .strings([]),
                "Hosts beside its own that the relay may send cameras to; without a port, the port of `url` or the scheme's own. TLS is never lowered. They get the stream key, but not user and password, and must satisfy the same `public_key_pin`."
            ),
            KeyDefinition(
                "secret", .secretName,
                "Name of a stored secret of the box that holds the whole URL, with user, password or stream key; it is used instead of `url`."
            ),
        ])

    static let keyAccess = ObjectDefinition(
        name: "kas", isNamed: false, sentence: "The key access server (KAS) that gives viewers the key.",
        keys: [
            KeyDefinition(
                "url", .keyAccessURL, required: true,
                "`https://` URL of the KAS, or `http://` on this machine; without user, password and query."),
            KeyDefinition("ca_file", .path, "Certificates (PEM) that are trusted instead of the system's."),
            KeyDefinition(
                "public_key_pin", .certificatePin, words: "any key that the certificates vouch for",
                "SHA-256 of the KAS's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, it is told nothing and not believed. Needs `https://`."
            ),
            KeyDefinition(
                "key_identifiers", .choice(KeyIdentifierUse.allCases.map(\.rawValue)),
                default: .string(KeyIdentifierUse.automatic.rawValue),
                "Whether headers name the KAS key that they are made for, so that the KAS need not guess after a rollover. `auto`: where the KAS says that it reads the name, as WatchBox's does; `always` for OpenTDF's KAS, which reads it and does not say so; `never` for arkavo-rs, which refuses such headers."
            ),
            KeyDefinition("secret", .secretName, "Name of a stored secret of the box that holds the access token."),
        ])

    static let camera = ObjectDefinition(
        name: "camera", isNamed: true, sentence: "A camera, and the encrypted stream that is made of it.",
        keys: picture + device + network + stream)

    private static let picture: [KeyDefinition] = {
        let pattern = CameraConfiguration.TestPattern()
        return [
            KeyDefinition("name", .text(limit: 64), words: "the ID", "Name of the camera, for people."),
            KeyDefinition(
                "source", .source, required: true,
                "`test:` for a moving test pattern, `file:/path`, or `v4l2:/dev/…` for a camera of this machine: `/dev/v4l/by-id/…` stays the same camera, `/dev/videoN` need not. Of a network camera: `rtsp://host/path`, `rtsps://host/path`, or `onvif://host` for one that is asked for its stream; `http://host/path` or `https://host/path` for one that sends JPEG pictures, as a stream (MJPEG) or one at a time. Without user and password."
            ),
            KeyDefinition(
                "size", .size, default: .string("\(pattern.width)x\(pattern.height)"),
                "Width and height in pixels of what the test pattern or a v4l2 camera publishes, after `rotate`; a camera that has another size is scaled."
            ),
            KeyDefinition(
                "rate", .integer(1...120), default: .integer(Int64(pattern.frameRate)),
                "Pictures per second of the test pattern or a v4l2 camera."),
            KeyDefinition(
                "bitrate", .integer(16_000...200_000_000), default: .integer(Int64(pattern.bitrate)),
                "Of the encoded video of the test pattern or a v4l2 camera, in bits per second; of a network camera only when it sends MJPEG, which is encoded on the box."
            ),
            KeyDefinition(
                "gop", .real(0.1...60), default: .real(pattern.gopSeconds),
                "Seconds between two key frames of the test pattern or a v4l2 camera, or of a network camera's MJPEG."),
            KeyDefinition(
                "audio", .boolean, default: .boolean(pattern.audio),
                "Whether the test pattern has a tone, and whether a network camera's sound is taken."),
            KeyDefinition(
                "stall_after", .real(0.1...86_400), words: "never",
                "Seconds after which the test pattern hangs, as a broken driver does: to try out the watchdog."),
            KeyDefinition(
                "loop", .boolean, default: .boolean(true), "Whether a file begins again at its end, for ever."),
        ]
    }()

    /// What only a v4l2 camera has.
    private static let device: [KeyDefinition] = {
        let standard = CameraConfiguration.Device(path: "")
        return [
            KeyDefinition(
                "pixel_format", .choice(CameraConfiguration.Device.PixelFormat.allCases.map(\.rawValue)),
                default: .string(standard.pixelFormat.rawValue),
                "What a v4l2 camera delivers; `auto`: raw where its bus carries it, else MJPEG. `h264` is passed through as the camera codes it, which excludes `encoder`, `rotate`, `flip`, `masks` and `overlay`."
            ),
            KeyDefinition(
                "encoder", .choice(CameraConfiguration.Device.Encoder.allCases.map(\.rawValue)),
                default: .string(standard.encoder.rawValue),
                "Of a v4l2 camera, by FFmpeg's name; `auto`: hardware where it really works, else software. `watchboxctl camera encoders` shows them."
            ),
            KeyDefinition(
                "rotate", .numbers(CameraConfiguration.Device.rotations),
                default: .integer(Int64(standard.rotation)), "Degrees clockwise that a v4l2 camera's picture is turned."
            ),
            KeyDefinition(
                "flip", .choice(CameraConfiguration.Device.Flip.allCases.map(\.rawValue)),
                default: .string(standard.flip.rawValue), "How a v4l2 camera's picture is mirrored, after `rotate`."),
            KeyDefinition(
                "masks", .masks, default: .strings([]),
                "Rectangles of a v4l2 camera's published picture that are black before it is encoded: left, top, width and height as parts of the picture, such as `0,0,0.25,0.1`. Refused for other sources."
            ),
            KeyDefinition(
                "overlay", .choices(OverlayPart.allCases.map(\.rawValue)), default: .strings([]),
                "What is burnt into a v4l2 camera's picture: date and time, and the camera's name."),
            KeyDefinition(
                "controls", .controls, default: .strings([]),
                "Settings of the v4l2 camera itself, such as `brightness=128`; `watchboxctl camera controls` shows them."
            ),
            KeyDefinition(
                "microphone", .soundDevice, words: "no sound",
                "ALSA's name of the device that a v4l2 camera's sound comes from, such as `hw:CARD=C920`; `watchboxctl discover` shows them."
            ),
        ]
    }()

    /// What only a network camera has.
    private static let network: [KeyDefinition] = {
        let standard = CameraConfiguration.Network(url: "")
        return [
            KeyDefinition(
                "transport", .choice(CameraConfiguration.Network.Transport.allCases.map(\.rawValue)),
                default: .string(standard.transport.rawValue),
                "How a network camera's media come; `tcp` passes everywhere and loses nothing."),
            KeyDefinition(
                "timestamps", .choice(CameraConfiguration.Network.Timestamps.allCases.map(\.rawValue)),
                default: .string(standard.timestamps.rawValue),
                "Which clock tells how long a network camera's pictures and sound last: `camera` its time stamps, `arrival` when they arrive, `auto` its time stamps as long as they agree with arrivals, and corrected by the rate that is measured when they run slow or fast."
            ),
            KeyDefinition(
                "allow_basic", .boolean, default: .boolean(standard.allowsBasic),
                "Whether a network camera may be shown the password in a form that everybody on its network can read, when it offers nothing better and no TLS."
            ),
            KeyDefinition(
                "pin", .certificatePin, words: "the first that is seen",
                "Of the certificate that a network camera has to show over TLS; `watchboxctl camera test` shows it."),
            KeyDefinition(
                "snapshot_rate", .real(CameraConfiguration.Network.snapshotRates),
                default: .real(standard.snapshotRate),
                "Of an `http://` or `https://` camera that sends one picture at a time: how many it is asked for in a second, at the most."
            ),
            KeyDefinition(
                "profile", .text(limit: 64), words: "`\"main\"`",
                "Which stream of an `onvif://` camera: `main` for the largest picture, `sub` for the smallest, or a profile's token as `watchboxctl camera probe` shows it."
            ),
            KeyDefinition(
                "rtsp_host", .host, words: "as the camera is reached",
                "Host of the stream of an `onvif://` camera, when that is another one: of a recorder with a media host of its own. The login is sent there."
            ),
            KeyDefinition(
                "rtsp_port", .integer(1...65_535), words: "as the camera tells",
                "Port of the stream of an `onvif://` camera, when that is another one: behind a port forward."),
            KeyDefinition(
                "events", .boolean, default: .boolean(standard.events),
                "Whether motion and tamper events of an `onvif://` camera are taken."),
            KeyDefinition(
                "identity_endpoint", .text(limit: 256),
                "Endpoint reference of an `onvif://` camera, such as `urn:uuid:…`: what a camera that moved is found by. Learned when the camera is added."
            ),
            KeyDefinition(
                "identity_serial", .text(limit: 128), "Serial number of an `onvif://` camera, to the same end."),
            KeyDefinition("identity_mac", .macAddress, "MAC address of an `onvif://` camera, to the same end."),
        ]
    }()

    private static let stream = [
        KeyDefinition("relay", .identifier, default: .string("main"), "Name of the relay to publish to."),
        KeyDefinition(
            "stream", .streamName, words: "the ID",
            "Name of the stream at the relay and at the KAS; letters, digits, and `.` `_` `-`."),
        KeyDefinition("active", .boolean, default: .boolean(true), "Whether the camera runs."),
        KeyDefinition(
            "grid", .integer(0...9999), default: .integer(0), "Position in lists and on the dashboard."),
        KeyDefinition(
            "rotate_seconds", .real(1...86_400), default: .real(CameraConfiguration.Rotation().seconds),
            "Seconds until a new key is used."),
        KeyDefinition(
            "attributes", .strings(count: 16, limit: 1024), default: .strings([]),
            "Attribute URIs; a viewer must be granted every one."),
        KeyDefinition(
            "viewers", .strings(count: 200, limit: 1024), default: .strings([]),
            "Subjects that may view; empty: every authenticated one."),
        KeyDefinition("user", .text(limit: 64), "User name at a network camera."),
        KeyDefinition(
            "secret", .secretName, words: "`\"password\"` of a network camera",
            "Name of a stored secret of this camera that holds its password; `watchboxctl camera password` stores it."
        ),
    ]

    static let hook = ObjectDefinition(
        name: "hook", isNamed: true, sentence: "Somebody outside who is told what happens on this box.",
        keys: [
            KeyDefinition(
                "url", .hookURL,
                "`https://` URL that messages are sent to, or `http://`, where everybody between can read them; without user, password and query. May be left out when `secret` is given."
            ),
            KeyDefinition(
                "kind", .choice(HookKind.allCases.map(\.rawValue)), default: .string(HookKind.webhook.rawValue),
                "What the receiver understands: `webhook` for a JSON document, `ntfy` for the service and the app of that name."
            ),
            KeyDefinition(
                "events", .choices(HookTopic.allCases.map(\.rawValue)),
                default: .strings(HookTopic.standard.map(\.rawValue)),
                "What it is told of. `motion` is what cameras report themselves, which can be a great deal."),
            KeyDefinition(
                "cameras", .strings(count: cameraLimit, limit: 24), default: .strings([]),
                "IDs of the cameras that it is told of; without any, all. Of what is about no camera it is told all the same."
            ),
            KeyDefinition("ca_file", .path, "Certificates (PEM) that are trusted instead of the system's."),
            KeyDefinition(
                "public_key_pin", .certificatePin, words: "any key that the certificates vouch for",
                "SHA-256 of the receiver's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, nothing is sent. Needs `https://`."
            ),
            KeyDefinition("enabled", .boolean, default: .boolean(true), "Whether it is told anything."),
            KeyDefinition(
                "secret", .secretName,
                "Name of a stored secret of the box, `hook-…`, that holds the whole URL, when its path or its query is a secret, as an ntfy topic is; it is used instead of `url`."
            ),
            KeyDefinition(
                "token_secret", .secretName,
                "Name of a stored secret of the box, `bearer-…`, that the receiver is shown: `Authorization: Bearer`."),
        ])

    static let health = ObjectDefinition(
        name: "health", isNamed: false, sentence: "The health monitor.",
        keys: [
            KeyDefinition(
                "reboot", .boolean, default: .boolean(true),
                "Whether the box may reboot itself when nothing smaller helps."),
            KeyDefinition(
                "metrics_listen", .listenAddress, words: "not on TCP",
                "Address on which metrics can be read without authentication."),
        ])

    static let relayServer = ObjectDefinition(
        name: "relay_server", isNamed: false, sentence: "The relay on this box.",
        keys: [
            KeyDefinition("enabled", .boolean, default: .boolean(false), "Whether it runs."),
            KeyDefinition("listen", .listenAddress, default: .string("0.0.0.0:1935"), "Address that it listens on."),
            KeyDefinition(
                "publish_keys", .path, words: "one key that the relay makes, none when it listens on this machine only",
                "File with the keys that publishers must know, `app/stream = key` each; `watchboxctl relay key` shows the one that was made."
            ),
            KeyDefinition(
                "open", .boolean, default: .boolean(false),
                "Whether anybody may publish when there is no `publish_keys`, from other machines as well."),
            KeyDefinition(
                "play_keys", .path, words: "everybody may play", "File with the keys that players must know."),
            KeyDefinition(
                "play_link_secret", .path, words: "no links",
                "File with the secret that play links are signed with: `watchboxctl relay link`."),
            KeyDefinition(
                "allow", .networks, default: .strings([]), "Networks that it talks to; without any, all of them."),
            KeyDefinition("deny", .networks, default: .strings([]), "Networks that it does not talk to."),
            KeyDefinition(
                "forward", .strings(count: 8, limit: 1024), default: .strings([]),
                "Relays that every published stream is handed on to, such as `rtmps://other.example.net/live`; without secrets, at most 8 with those of `forward_file`."
            ),
            KeyDefinition(
                "forward_file", .path, words: "none",
                "File with more such relays, a line `[pattern] URL` each, keys allowed; a pattern is `app/*`, `app/name` or `*`."
            ),
            KeyDefinition(
                "forward_ca_file", .path, words: "the system's",
                "Certificates (PEM) that are trusted for those relays instead of the system's."),
            KeyDefinition(
                "api_listen", .listenAddress, words: "no API",
                "Address of the operator's API over plain HTTP, such as `127.0.0.1:1985`: statistics, `/metrics`, `watchboxctl relay status`."
            ),
            KeyDefinition(
                "api_token", .path, words: "figures alone",
                "File with the token of the API, 16 characters or more; without it the API listens on this machine alone and tells `/metrics` and streams alone."
            ),
            KeyDefinition("tls_certificate", .path, words: "no TLS", "Certificate chain (PEM) for `rtmps`."),
            KeyDefinition("tls_key", .path, words: "no TLS", "Private key (PEM) of the certificate."),
        ])

    static let keyAccessServer = ObjectDefinition(
        name: "kas_server", isNamed: false, sentence: "The key access server on this box.",
        keys: [
            KeyDefinition("enabled", .boolean, default: .boolean(false), "Whether it runs."),
            KeyDefinition(
                "listen", .listenAddress, default: .string("127.0.0.1:9443"),
                "Address that it listens on; beyond this machine it needs TLS."),
            KeyDefinition("tls_certificate", .path, words: "no TLS", "Certificate chain (PEM)."),
            KeyDefinition("tls_key", .path, words: "no TLS", "Private key (PEM) of the certificate."),
            KeyDefinition(
                "key_epoch_hours", .integer(0...8760), default: .integer(24),
                "How long streams are sealed for one key, before the next one takes over; 0: until `watchboxctl kas key rollover`."
            ),
            KeyDefinition(
                "key_retention_days", .integer(1...3650), default: .integer(7),
                "How long a replaced key opens what was sealed for it; then it is destroyed, and nobody can."),
        ])
}
