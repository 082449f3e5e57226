internal import CameraModel
internal import Settings

extension CameraSettings: SettingsTable {
    static let keys = image + ofDevices + ofNetwork + ofStream

    private static let image: [SettingKey<CameraSettings>] = [
        SettingKey("name", .text(limit: 64), \.name, defaultText: "the ID", "Name of the camera, for people."),
        SettingKey(
            "source", .source, \.source, required: true,
            "`test:` for a moving test pattern, `file:/path`, or `v4l2:/dev/…` for a camera of this machine: `/dev/v4l/by-id/…` stays the same camera, `/dev/videoN` need not. A camera at a ribbon cable is `csi:` where it is the only one, else `csi:/base/…`; it needs the package watchbox-libcamera. Of a network camera: `rtsp://host/path`, `rtsps://host/path`, or `onvif://host` for one that is asked for its stream; `http://host/path` or `https://host/path` for one that sends JPEG images, as a stream (MJPEG) or one at a time. Without user and password."
        ),
        SettingKey(
            "size", .size, \.size,
            "Width and height in pixels of what the test pattern or a v4l2 camera publishes, after `rotate`; a camera that has another size is scaled."
        ),
        SettingKey(
            "rate", .integer(1...120), \.video.frameRate, "Frames per second of the test pattern or a v4l2 camera."),
        SettingKey(
            "bitrate", .integer(16_000...200_000_000), \.video.bitrate,
            "Of the encoded video of the test pattern or a v4l2 camera, in bits per second; of a network camera only when it sends MJPEG, which is encoded on the box."
        ),
        SettingKey(
            "gop", .real(0.1...60), \.video.gopSeconds,
            "Seconds between two key frames of the test pattern or a v4l2 camera, or of a network camera's MJPEG."),
        SettingKey(
            "audio", \.video.audio,
            "Whether the test pattern has a tone, and whether a network camera's audio is taken."),
        SettingKey(
            "stall_after", .real(0.1...86_400), \.video.stallsAfter, defaultText: "never",
            "Seconds after which the test pattern hangs, as a broken driver does: to try out the watchdog."),
        SettingKey("loop", \.loop, "Whether a file begins again at its end, for ever."),
    ]

    /// What only a v4l2 camera has.
    private static let ofDevices: [SettingKey<CameraSettings>] = [
        SettingKey(
            "pixel_format", \.device.pixelFormat,
            "What a v4l2 camera delivers; `auto`: raw where its bus carries it, else MJPEG. `h264` is passed through as the camera encodes it, which excludes `encoder`, `rotate`, `flip`, `masks` and `overlay`."
        ),
        SettingKey(
            "encoder", \.device.encoder,
            "Of a v4l2 camera, by FFmpeg's name; `auto`: hardware where it really works, else software. `watchboxctl camera encoders` shows them."
        ),
        SettingKey(
            "rotate", .numbers(CameraConfiguration.Device.rotations), \.device.rotation,
            "Degrees clockwise that a v4l2 camera's image is turned."),
        SettingKey("flip", \.device.flip, "How a v4l2 camera's image is mirrored, after `rotate`."),
        SettingKey(
            "masks", .masks, \.device.masks,
            "Rectangles of a v4l2 camera's published image that are black before it is encoded: left, top, width and height as parts of the image, such as `0,0,0.25,0.1`. Refused for other sources."
        ),
        SettingKey(
            "overlay", .choices(OverlayPart.allCases.map(\.rawValue)), \.overlay,
            "What is burnt into a v4l2 camera's image: date and time, and the camera's name."),
        SettingKey(
            "controls", .controls, \.controls,
            "Settings of the v4l2 camera itself, such as `brightness=128`; `watchboxctl camera controls` shows them."),
        SettingKey(
            "microphone", .audioDevice, \.device.microphone, defaultText: "no audio",
            "ALSA's name of the device that a v4l2 camera's audio comes from, such as `hw:CARD=C920`; `watchboxctl discover` shows them."
        ),
        SettingKey(
            "mono", \.device.isMono,
            "Whether a v4l2 camera's audio has one channel instead of two: half the bit rate, and enough for most microphones."
        ),
    ]

    /// What only a network camera has.
    private static let ofNetwork: [SettingKey<CameraSettings>] = [
        SettingKey(
            "transport", \.network.transport,
            "How a network camera's media come; `tcp` passes everywhere and loses nothing."),
        SettingKey(
            "timestamps", \.network.timestamps,
            "Which clock decides how long a network camera's frames and audio last: `camera` its time stamps, `arrival` when they arrive, `auto` its time stamps as long as they agree with arrivals, and corrected by the rate that is measured when they run slow or fast."
        ),
        SettingKey(
            "allow_basic", \.network.allowsBasic,
            "Whether a network camera may be shown the password in a form that everybody on its network can read, when it offers nothing better and no TLS."
        ),
        SettingKey(
            "pin", .certificatePin, \.network.pin, defaultText: "the first that is seen",
            "Of the certificate that a network camera must show over TLS; `watchboxctl camera test` shows it."),
        SettingKey(
            "snapshot_rate", .real(CameraConfiguration.Network.snapshotRates), \.network.snapshotRate,
            "Of an `http://` or `https://` camera that sends one frame at a time: how many it is asked for in a second, at the most."
        ),
        SettingKey(
            "profile", .text(limit: 64), \.network.profile, defaultText: "`\"main\"`",
            "Which stream of an `onvif://` camera: `main` for the largest image, `sub` for the smallest, or a profile's token as `watchboxctl camera probe` shows it."
        ),
        SettingKey(
            "rtsp_host", .host, \.network.rtspHost, defaultText: "as the camera is reached",
            "Host of the stream of an `onvif://` camera, when that is another one: of a recorder with a media host of its own. The login is sent there."
        ),
        SettingKey(
            "rtsp_port", .integer(1...65_535), \.network.rtspPort, defaultText: "as the camera reports",
            "Port of the stream of an `onvif://` camera, when that is another one: behind a port forward."),
        SettingKey("events", \.network.events, "Whether motion and tamper events of an `onvif://` camera are taken."),
        SettingKey(
            "identity_endpoint", .text(limit: 256), \.identity.endpoint,
            "Endpoint reference of an `onvif://` camera, such as `urn:uuid:…`: what a camera that moved is found by. Learned when the camera is added."
        ),
        SettingKey(
            "identity_serial", .text(limit: 128), \.identity.serial,
            "Serial number of an `onvif://` camera, to the same end."),
        SettingKey(
            "identity_mac", .macAddress, \.identity.mac, "MAC address of an `onvif://` camera, to the same end."),
    ]

    private static let ofStream: [SettingKey<CameraSettings>] = [
        SettingKey("relay", .identifier, \.relay, "Name of the relay to publish to."),
        SettingKey(
            "stream", .streamName, \.stream, defaultText: "the ID",
            "Name of the stream at the relay and at the KAS; letters, digits, and `.` `_` `-`."),
        SettingKey("active", \.active, "Whether the camera runs."),
        SettingKey("grid", .integer(0...9999), \.grid, "Position in lists and on the dashboard."),
        SettingKey(
            "adapt", \.adapt,
            "Whether the bitrate follows what the way to the relay bears: below `bitrate` while that bears less, and back to it when it bears more. Of what the box encodes: the test pattern, USB and CSI cameras, and network cameras that send JPEG over HTTP. `false` leaves TCP's congestion control as it is as well."
        ),
        SettingKey(
            "min_bitrate", .integer(16_000...200_000_000), \.minBitrate,
            defaultText: "a tenth of `bitrate`, and at least 100000",
            "How low the bitrate may fall with `adapt`, in bits per second; where it is not below `bitrate`, that never falls."
        ),
        SettingKey("rotate_seconds", .real(1...86_400), \.rotateSeconds, "Seconds until a new key is used."),
        SettingKey(
            "record", \.record,
            "Whether the camera is recorded on the box: `continuous`, `off`, or around `events`: what an `onvif://` camera reports as motion, tampering or an input, and `watchboxctl recording mark`. What is recorded is sealed for the key access server from its first byte on; the box cannot read it."
        ),
        SettingKey(
            "record_before", .real(CameraConfiguration.Recording.before), \.recordBefore,
            "Seconds before an event that are recorded with it, from memory: at most what 16 MiB hold, in whole groups of pictures."
        ),
        SettingKey(
            "record_after", .real(CameraConfiguration.Recording.after), \.recordAfter,
            "Seconds after an event that are recorded with it."),
        SettingKey(
            "record_schedule", .weekSpans, \.recordSchedule,
            "When the camera is recorded whole, by the box's time zone: days, hours or both, such as `mon-fri 18:00-07:00`, `sat-sun`, `22:00-06:00`. With `events` that is beside them; with `continuous` nothing is recorded outside, unless the list is empty."
        ),
        SettingKey(
            "record_recovery_key", .rsaPublicKey, \.recordRecoveryKey, defaultText: "the key access server alone",
            "Public RSA key of 2048 to 4096 bits, PEM or the Base64 of it, whose private half opens the camera's recordings as well, when no key access server is left. That half does not belong on the box."
        ),
        SettingKey(
            "record_gigabytes", .real(0.1...1_000_000), \.recordGigabytes,
            "Gigabytes that the camera's recordings may take together; the oldest go for the newest."),
        SettingKey(
            "record_days", .real(0.01...36_500), \.recordDays,
            "Days until a recording goes; not while the clock is not set."),
        SettingKey(
            "record_free_gigabytes", .real(0.1...1_000_000), \.recordFreeGigabytes,
            "Gigabytes of the disk that recordings leave free: where others fill it, the oldest recordings go."),
        SettingKey(
            "attributes", .strings(count: 16, limit: 1024), \.attributes,
            "Attribute URIs; a viewer must be granted every one."),
        SettingKey(
            "viewers", .strings(count: 200, limit: 1024), \.viewers,
            "Subjects that may view; empty: every authenticated one."),
        SettingKey("user", .text(limit: 64), \.user, "User name at a network camera."),
        SettingKey(
            "secret", .secretName, \.secret, defaultText: "`\"password\"` of a network camera",
            "Name of a stored secret of this camera that holds its password; `watchboxctl camera password` stores it."),
    ]
}
