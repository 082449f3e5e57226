internal import CameraModel
internal import RTMP
internal import Wire

extension KeyDefinition {
    /// Throws what is wrong with a list; entries are named by their number alone.
    func check(_ elements: [WrittenValue]) throws(Finding) {
        guard elements.count <= kind.countLimit else {
            throw Finding("has more than \(kind.countLimit) entries", "Take some out")
        }
        var seen: Set<String> = []
        for (index, element) in elements.enumerated() {
            let place = "entry \(index + 1)"
            guard case .string(let text) = element else {
                throw Finding("has an entry that is \(element.kind), \(place)", "Write strings in quotes")
            }
            if let name = try entry(text, place), !seen.insert(name).inserted {
                throw Finding("says one thing twice, \(place)", "Take one of the two out")
            }
        }
    }

    /// - Returns: what no other entry may name, too.
    private func entry(_ text: String, _ place: String) throws(Finding) -> String? {
        switch kind {
        case .masks:
            guard CameraConfiguration.Device.Mask(text: text) != nil else {
                throw Finding("has an entry that is not a rectangle inside the image, \(place)", kind.hint)
            }
            return nil
        case .controls:
            guard let setting = ControlSetting(text: text) else {
                throw Finding("has an entry that is not name=value, \(place)", kind.hint)
            }
            return setting.name
        case .networks:
            guard text.utf8.count <= Self.Kind.networkLength, let network = NetworkRange(text) else {
                throw Finding("has an entry that is not a network, \(place)", kind.hint)
            }
            return "\(network)"
        case .hosts:
            guard let host = RedirectHost(text) else {
                throw Finding("has an entry that is not a host, \(place)", kind.hint)
            }
            return "\(host.host) \(host.port ?? 0)"
        case .weekSpans:
            do throws(WeekSpan.Fault) {
                return try WeekSpan(text).text
            } catch {
                throw Finding("has an entry that is not a span of the week, \(place): \(error)", kind.hint)
            }
        case .choices(let choices):
            guard !choices.contains(text) else { return text }
            let meant = NearestName.nearest(text, in: choices).map { ", did you mean \"\($0)\"?" } ?? ""
            throw Finding("has an entry that is not one of its values, \(place)\(meant)", kind.hint)
        case .strings(_, let limit):
            guard !text.isEmpty, text.utf8.count <= limit, ShownText.isPrintable(text) else {
                throw Finding(
                    "has an entry that is empty, longer than \(limit) bytes or has control characters, \(place)",
                    "Correct it, or take it out")
            }
            return nil
        default: throw Finding("is not a list", kind.hint)
        }
    }
}

extension KeyDefinition.Kind {
    /// Bytes of one entry.
    static let maskLength = 100
    static let controlLength = 100
    static let networkLength = 64

    var isList: Bool {
        switch self {
        case .strings, .masks, .controls, .networks, .hosts, .choices, .weekSpans: true
        default: false
        }
    }

    /// Entries of a list.
    var countLimit: Int {
        switch self {
        case .strings(let count, _): count
        case .masks: CameraConfiguration.Device.maskLimit
        case .controls: CameraConfiguration.Device.controlLimit
        case .networks: 64
        case .hosts: RedirectHost.countLimit
        case .weekSpans: WeekSpan.countLimit
        case .choices(let choices): choices.count
        default: 0
        }
    }
}
