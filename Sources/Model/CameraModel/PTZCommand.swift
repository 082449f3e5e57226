internal import Wire

/// Moves a camera that has PTZ. Speeds and positions are ONVIF's: −1 to 1 for pan and tilt, and for zoom −1 to 1 as a
/// speed, 0 to 1 as a position.
public enum PTZCommand: Codable, Equatable, Sendable {
    /// For so many seconds (0.1 to 10), then it stops.
    case continuous(pan: Double, tilt: Double, zoom: Double, seconds: Double)
    /// What is nil stays.
    case absolute(pan: Double?, tilt: Double?, zoom: Double?)
    case stop
    /// By token or by name.
    case goTo(preset: String)
    case store(preset: String)
    case home
}

extension PTZCommand {
    /// Throws what is out of range, named as in the document.
    public func validate() throws(ConfigurationError) {
        var problems: [ConfigurationProblem] = []
        func expect(_ value: Double?, _ field: String, _ range: ClosedRange<Double>) {
            guard let value, !range.contains(value) else { return }
            problems.append(
                ConfigurationProblem(
                    field: field, reason: "is out of range", hint: "Use \(range.lowerBound) to \(range.upperBound)"))
        }
        func expect(preset: String, _ field: String) {
            let isName =
                !preset.isEmpty && preset.utf8.count <= 2048 && preset.count <= 64
                && ShownText.isPrintable(preset)
            guard !isName else { return }
            problems.append(
                ConfigurationProblem(
                    field: field, reason: "is empty, has more than 64 characters, or has control characters",
                    hint: "Use 1 to 64 characters"))
        }
        switch self {
        case .continuous(let pan, let tilt, let zoom, let seconds):
            for (name, value) in [("pan", pan), ("tilt", tilt), ("zoom", zoom)] {
                expect(value, "continuous.\(name)", -1...1)
            }
            expect(seconds, "continuous.seconds", 0.1...10)
        case .absolute(let pan, let tilt, let zoom):
            expect(pan, "absolute.pan", -1...1)
            expect(tilt, "absolute.tilt", -1...1)
            expect(zoom, "absolute.zoom", 0...1)
            if pan == nil, tilt == nil, zoom == nil {
                problems.append(
                    ConfigurationProblem(
                        field: "absolute", reason: "names no position", hint: "Name pan, tilt or zoom"))
            }
        case .stop, .home: break
        case .goTo(let preset): expect(preset: preset, "goTo.preset")
        case .store(let preset): expect(preset: preset, "store.preset")
        }
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    }
}

public struct PTZPreset: Codable, Equatable, Sendable {
    public var token: String
    public var name: String

    public init(token: String, name: String) {
        self.token = token
        self.name = name
    }
}
