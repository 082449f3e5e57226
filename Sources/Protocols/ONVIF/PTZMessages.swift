/// Requests to the PTZ service, and their answers. Speeds and positions are those of the generic spaces: −1 to 1, and for
/// the position of zoom 0 to 1.
public enum PTZMessages {
    /// Where a device's motors are; what it does not report is nil.
    public struct Position: Equatable, Sendable {
        public var pan: Double?
        public var tilt: Double?
        public var zoom: Double?
    }

    /// A place that a device's motors remember.
    public struct Preset: Equatable, Sendable {
        public var token: String
        public var name: String

        public init(token: String, name: String) {
            self.token = token
            self.name = name
        }
    }

    private static func request(_ operation: String, _ profile: String, _ content: String = "") -> ONVIFRequest {
        ONVIFRequest(
            ONVIFNames.ptz, operation,
            "<tptz:ProfileToken>\(XMLText.escaped(profile))</tptz:ProfileToken>" + content)
    }

    /// Pan and tilt belong together; what is nil is left out.
    private static func vector(_ panTilt: (Double, Double)?, _ zoom: Double?) -> String {
        (panTilt.map { "<tt:PanTilt x=\"\(number($0.0))\" y=\"\(number($0.1))\"/>" } ?? "")
            + (zoom.map { "<tt:Zoom x=\"\(number($0))\"/>" } ?? "")
    }

    /// At most four digits after the point, never an exponent.
    static func number(_ value: Double) -> String {
        let bounded = value.isFinite ? min(max(value, -1), 1) : 0
        let scaled = Int((bounded * 10_000).rounded())
        let fraction = String(abs(scaled) % 10_000)
        let padded = String(repeating: "0", count: 4 - fraction.utf8.count) + fraction
        return "\(scaled < 0 ? "-" : "")\(abs(scaled) / 10_000).\(padded)"
    }

    /// - Parameter milliseconds: after which the device stops by itself; not all do.
    public static func continuousMove(
        profile: String, panTilt: (Double, Double)?, zoom: Double?, milliseconds: Int
    ) -> ONVIFRequest {
        let bounded = min(max(milliseconds, 0), 3_600_000)
        let tenths = "PT\(bounded / 1000).\(bounded % 1000 / 100)S"
        return request(
            "ContinuousMove", profile,
            "<tptz:Velocity>\(vector(panTilt, zoom))</tptz:Velocity><tptz:Timeout>\(tenths)</tptz:Timeout>")
    }

    public static func absoluteMove(profile: String, panTilt: (Double, Double)?, zoom: Double?) -> ONVIFRequest {
        request("AbsoluteMove", profile, "<tptz:Position>\(vector(panTilt, zoom))</tptz:Position>")
    }

    public static func stop(profile: String) -> ONVIFRequest {
        request("Stop", profile, "<tptz:PanTilt>true</tptz:PanTilt><tptz:Zoom>true</tptz:Zoom>")
    }

    public static func status(profile: String) -> ONVIFRequest { request("GetStatus", profile) }
    public static func presets(profile: String) -> ONVIFRequest { request("GetPresets", profile) }
    public static func goHome(profile: String) -> ONVIFRequest { request("GotoHomePosition", profile) }

    public static func goTo(preset: String, profile: String) -> ONVIFRequest {
        request("GotoPreset", profile, "<tptz:PresetToken>\(XMLText.escaped(preset))</tptz:PresetToken>")
    }

    /// - Parameter token: of the preset that is replaced; nil for a new one.
    public static func setPreset(name: String, token: String?, profile: String) -> ONVIFRequest {
        request(
            "SetPreset", profile,
            "<tptz:PresetName>\(XMLText.escaped(name))</tptz:PresetName>"
                + (token.map { "<tptz:PresetToken>\(XMLText.escaped($0))</tptz:PresetToken>" } ?? ""))
    }

    /// Of an answer to GetStatus.
    public static func position(_ response: XMLElement) -> Position {
        let position = response.descendant("PTZStatus", "Position")
        func coordinate(_ group: String, _ axis: String) -> Double? {
            position?.child(group)?.attribute(axis).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
        }
        return Position(
            pan: coordinate("PanTilt", "x"), tilt: coordinate("PanTilt", "y"), zoom: coordinate("Zoom", "x"))
    }

    /// Of an answer to GetPresets: at most 512, those without a token left out.
    public static func presets(_ response: XMLElement) -> [Preset] {
        response.children(named: "Preset").prefix(512).compactMap { element in
            guard let token = element.attribute("token"), token.utf8.count <= 256 else { return nil }
            return Preset(token: token, name: SOAPAnswer.printable(element.text("Name") ?? token, 128))
        }
    }

    /// Of an answer to SetPreset.
    public static func presetToken(_ response: XMLElement) -> String? { response.text("PresetToken") }
}
