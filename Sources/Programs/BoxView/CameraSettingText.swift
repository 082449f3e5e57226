internal import ControlAPI
internal import Settings

/// The settings of a camera as text, as far as its source hears them. The names that files and options use are for
/// `config show` and `--json`.
enum CameraSettingText {
    enum Group: CaseIterable {
        case video
        case connection
        case identity
        case viewers
        case recording

        var title: String {
            switch self {
            case .video: "Video and audio"
            case .connection: "Connection to the camera"
            case .identity: "Found again by"
            case .viewers: "Key and viewers"
            case .recording: "Recording on the box"
            }
        }
    }

    /// What the settings mean depends on where the frames come from.
    private enum Source {
        case test, file, device, stream, onvif, images

        init?(_ source: String) {
            switch source.prefix(while: { $0 != ":" }) {
            case "test": self = .test
            case "file": self = .file
            case "v4l2": self = .device
            case "rtsp", "rtsps": self = .stream
            case "onvif": self = .onvif
            case "http", "https": self = .images
            default: return nil
            }
        }
    }

    private struct Row {
        var key: String
        var name: String
        var group: Group
        var sources: Set<Source>
        var value: @Sendable (SettingValue) -> String

        init(
            _ key: String, _ name: String, _ group: Group, _ sources: Set<Source>,
            _ value: @escaping @Sendable (SettingValue) -> String = CameraSettingText.plain
        ) {
            (self.key, self.name, self.group, self.sources, self.value) = (key, name, group, sources, value)
        }
    }

    private static let all: Set<Source> = [.test, .file, .device, .stream, .onvif, .images]
    private static let network: Set<Source> = [.stream, .onvif, .images]
    private static let encoded: Set<Source> = [.test, .device, .images]

    private static let rows: [Row] = [
        Row("size", "Size", .video, [.test, .device]) { "\(plain($0)) pixels" },
        Row("rate", "Rate", .video, [.test, .device]) { "\(plain($0)) frames a second" },
        Row("snapshot_rate", "Asked for", .video, [.images]) { "\(plain($0)) frames a second at the most" },
        Row("bitrate", "Bit rate", .video, encoded) { value in
            if case .integer(let bits) = value { Quantity.bitRate(Double(bits)) } else { plain(value) }
        },
        Row("adapt", "Follows the uplink", .video, encoded) { $0 == .boolean(true) ? "where the box encodes" : "no" },
        Row("min_bitrate", "Down to", .video, encoded) { value in
            if case .integer(let bits) = value { Quantity.bitRate(Double(bits)) } else { plain(value) }
        },
        Row("gop", "Key frames", .video, encoded) { "every \(plain($0)) s" },
        Row("pixel_format", "From the device", .video, [.device]),
        Row("encoder", "Encoder", .video, [.device]),
        Row("rotate", "Turned", .video, [.device]) { $0 == .integer(0) ? "no" : "\(plain($0))° clockwise" },
        Row("flip", "Mirrored", .video, [.device]) { $0 == .string("none") ? "no" : plain($0) },
        Row("masks", "Blackened", .video, [.device]),
        Row("overlay", "Burnt in", .video, [.device]),
        Row("controls", "Device controls", .video, [.device]),
        Row("audio", "Audio", .video, [.test, .stream, .onvif]),
        Row("microphone", "Microphone", .video, [.device]),
        Row("mono", "Mono", .video, [.device]),
        Row("loop", "At the file's end", .video, [.file]) { $0 == .boolean(true) ? "begins again" : "ends" },
        Row("stall_after", "Hangs after", .video, [.test]) { "\(plain($0)) s, to try the watchdog" },
        Row("transport", "Transport", .connection, [.stream, .onvif]) { plain($0).uppercased() },
        Row("timestamps", "Times by", .connection, [.stream, .onvif]) { value in
            switch value {
            case .string("camera"): "the camera's time stamps"
            case .string("arrival"): "their arrival"
            case .string("auto"): "the camera's time stamps, corrected when they run wrong"
            default: plain(value)
            }
        },
        Row("allow_basic", "Password in clear", .connection, network) {
            $0 == .boolean(true) ? "allowed" : "never"
        },
        Row("pin", "Only certificate", .connection, network),
        Row("profile", "Stream", .connection, [.onvif]) { value in
            switch value {
            case .string("main"): "the largest image"
            case .string("sub"): "the smallest image"
            default: plain(value)
            }
        },
        Row("rtsp_host", "Stream's host", .connection, [.onvif]),
        Row("rtsp_port", "Stream's port", .connection, [.onvif]),
        Row("events", "Motion and tamper", .connection, [.onvif]) {
            $0 == .boolean(true) ? "taken from the camera" : "not taken"
        },
        Row("identity_endpoint", "Address as a device", .identity, [.onvif]),
        Row("identity_serial", "Number of the maker", .identity, [.onvif]),
        Row("identity_mac", "Network card", .identity, [.onvif]),
        Row("rotate_seconds", "New key", .viewers, all) { value in
            seconds(value).map { "every \(Quantity.time(seconds: $0))" } ?? plain(value)
        },
        Row("viewers", "Who may view", .viewers, all) {
            $0 == .strings([]) ? "everybody with a token of the KAS" : plain($0)
        },
        Row("attributes", "They must have", .viewers, all) { $0 == .strings([]) ? "nothing more" : plain($0) },
        Row("record", "Recorded", .recording, all) { value in
            switch value {
            case .string("off"): "no"
            case .string("events"): "around events"
            case .string("continuous"): "all the time"
            default: plain(value)
            }
        },
        Row("record_before", "Before an event", .recording, all) { "\(plain($0)) s" },
        Row("record_after", "After an event", .recording, all) { "\(plain($0)) s" },
        Row("record_schedule", "Recorded whole", .recording, all) {
            $0 == .strings([]) ? "no schedule" : plain($0)
        },
        // `recording status` names it.
        Row("record_recovery_key", "Opens", .recording, all) { _ in "with a recovery key as well" },
        Row("record_gigabytes", "Room", .recording, all) { "\(plain($0)) GB, then the oldest go" },
        Row("record_days", "Age", .recording, all) { "\(plain($0)) days" },
        Row("record_free_gigabytes", "Left free", .recording, all) { "\(plain($0)) GB" },
        Row("secret", "Password kept as", .connection, network),
        // Shown where the stream goes, above all settings.
        Row("relay", "Relay", .viewers, []),
        Row("stream", "Stream", .viewers, []),
    ]

    private static let byKey = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })

    /// Whether a setting of files and of the API has a text here.
    static func knows(_ key: String) -> Bool { byKey[key] != nil }

    /// In the order of the groups, empty groups left out; what a newer daemon has and this program does not know comes
    /// under its name, with spaces.
    static func groups(
        _ settings: [String: SettingValue], source: String
    ) -> [(title: String, facts: [(String, String)])] {
        let kind = Source(source)
        var groups = Group.allCases.map { group in
            let facts = rows.filter { $0.group == group }.compactMap { row -> (String, String)? in
                guard let value = settings[row.key] else { return nil }
                if let kind, !row.sources.contains(kind) { return nil }
                if kind == nil, row.sources.isEmpty { return nil }
                return (row.name, recordedInSchedule(row, settings) ?? row.value(value))
            }
            return (title: group.title, facts: facts)
        }
        let unknown = settings.keys.filter { !knows($0) }.sorted()
        groups.append(
            (
                "More settings",
                unknown.map { key in
                    let text = key.replacing("_", with: " ")
                    return (text.prefix(1).uppercased() + text.dropFirst(), settings[key].map(plain) ?? "")
                }
            ))
        return groups.filter { !$0.facts.isEmpty }
    }

    /// A schedule says more of a camera that is recorded all the time than `record` does.
    private static func recordedInSchedule(_ row: Row, _ settings: [String: SettingValue]) -> String? {
        guard row.key == "record", settings["record"] == .string("continuous"),
            case .strings(let spans)? = settings["record_schedule"], !spans.isEmpty
        else { return nil }
        return "in its schedule alone"
    }

    private static func seconds(_ value: SettingValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .boolean, .string, .strings: nil
        }
    }

    @Sendable private static func plain(_ value: SettingValue) -> String {
        switch value {
        case .boolean(let flag): return flag ? "yes" : "no"
        case .integer(let number): return "\(number)"
        case .real(let number):
            let text = "\(number)"
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        case .string("auto"): return "automatic"
        case .string(let text): return text
        case .strings(let texts): return texts.isEmpty ? "none" : texts.joined(separator: ", ")
        }
    }
}
