import ArgumentParser
import CameraModel
import ControlAPI
internal import Settings

/// The settings of a camera as options; those that are left out stay as they are.
struct CameraSettingOptions: ParsableArguments {
    @Option(help: "Name for people: Front door.")
    var name: String?

    @Option(help: "User at the camera; a terminal is asked for the password unless --password-file gives it.")
    var user: String?

    @Option(
        help: ArgumentHelp("File that holds the password and nothing else; - for standard input.", valueName: "file"))
    var passwordFile: String?

    @Option(help: "Size of the published image, 1280x720; not of a file.")
    var size: String?

    @Option(help: "Frames per second; not of a file.")
    var rate: Int64?

    @Option(help: "Bits per second of the video; not of a file.")
    var bitrate: Int64?

    @Flag(
        inversion: .prefixedNo,
        help: "Let the bitrate follow what the uplink bears; of what is encoded on the box.")
    var adapt: Bool?

    @Option(help: "Bits per second below which it does not fall; none: a tenth of --bitrate.")
    var minBitrate: BitrateArgument?

    @Option(help: "Seconds between key frames; not of a file.")
    var gop: Double?

    @Flag(inversion: .prefixedNo, help: "A tone with the test pattern; the audio of a network camera.")
    var audio: Bool?

    @Option(help: "How a network camera's media come: \(names(of: Network.Transport.self)).")
    var transport: TransportArgument?

    @Option(
        help: "Which clock counts for a network camera's frames and audio: \(names(of: Network.Timestamps.self)).",
        completion: nameCompletion(of: Network.Timestamps.self))
    var timestamps: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Let a network camera have the password in a form that others on the network can read.")
    var allowBasic: Bool?

    @Option(
        help: ArgumentHelp(
            "Of the certificate that a network camera has to show; none: the first that is seen.",
            valueName: "sha256//…"))
    var pin: String?

    @Option(
        help: "Frames that an http:// camera is asked for in a second, when it sends one at a time; 2 unless given.")
    var snapshotRate: Double?

    @Option(
        help: "Which stream of an onvif:// camera: main, sub, or a token that camera profiles shows; none: main.")
    var profile: String?

    @Option(
        help: "Host of an onvif:// camera's stream, when it is another; the login goes there; none: the camera's own.")
    var rtspHost: String?

    @Option(
        help: ArgumentHelp(
            "Port of an onvif:// camera's stream, when it is another; none: as the camera reports.", valueName: "port"))
    var rtspPort: PortArgument?

    @Flag(inversion: .prefixedNo, help: "Take motion, tamper and digital input events of an onvif:// camera.")
    var events: Bool?

    @Option(
        help: "What a v4l2 camera delivers: \(names(of: Device.PixelFormat.self)).",
        completion: nameCompletion(of: Device.PixelFormat.self))
    var pixelFormat: String?

    @Option(
        help: "Of a v4l2 camera: \(names(of: Device.Encoder.self)).",
        completion: nameCompletion(of: Device.Encoder.self))
    var encoder: String?

    @Option(help: "Degrees by which a v4l2 camera's image is turned clockwise: 0, 90, 180 or 270.")
    var rotate: Int64?

    @Option(
        help: "How a v4l2 camera's image is mirrored: \(names(of: Device.Flip.self)).",
        completion: nameCompletion(of: Device.Flip.self))
    var flip: String?

    @Option(
        help: ArgumentHelp(
            "Rectangle of a v4l2 camera's image that is made black, in parts of 1; may be repeated; none: no mask.",
            valueName: "x,y,width,height"))
    var mask: [String] = []

    @Option(help: "Text in a v4l2 camera's image: time, name; may be repeated; none: no text.")
    var overlay: [String] = []

    @Option(
        help: ArgumentHelp(
            "Control of a v4l2 camera; may be repeated; none: as the camera has them. See: camera controls.",
            valueName: "name=value"))
    var control: [String] = []

    @Option(help: "ALSA's name of the audio device of a v4l2 camera, hw:CARD=C920; none: no audio.")
    var microphone: String?

    @Flag(inversion: .prefixedNo, help: "One audio channel of a v4l2 camera instead of two.")
    var mono: Bool?

    @Option(help: "Name of the relay in the configuration.")
    var relay: String?

    @Option(help: "Name of the stream at relay and KAS; the camera's ID unless given.")
    var stream: String?

    @Option(help: "Seconds under one key.")
    var rotateSeconds: Double?

    @Option(help: "Attribute URI that viewers must hold; may be repeated.")
    var attribute: [String] = []

    @Option(help: "Subject that may view; may be repeated; none: every one with a token for the stream.")
    var viewer: [String] = []

    typealias Device = CameraConfiguration.Device
    typealias Network = CameraConfiguration.Network

    /// In place of what could be repeated: an empty list.
    private static let none = "none"

    /// `CameraDocument.origin` of what no file defines.
    static let storeOrigin = "store"

    /// Nothing is named.
    var isEmpty: Bool { name == nil && user == nil && passwordFile == nil && settings.isEmpty }

    var settings: [String: SettingValue] {
        var settings: [String: SettingValue] = [:]
        settings["size"] = size.map { .string($0) }
        settings["rate"] = rate.map { .integer($0) }
        settings["bitrate"] = bitrate.map { .integer($0) }
        settings["adapt"] = adapt.map { .boolean($0) }
        settings["min_bitrate"] = minBitrate.map { $0.value.map { .integer($0) } ?? .string("") }
        settings["gop"] = gop.map { .real($0) }
        settings["audio"] = audio.map { .boolean($0) }
        settings["transport"] = transport.map { .string($0.value.rawValue) }
        settings["timestamps"] = timestamps.map { .string($0) }
        settings["allow_basic"] = allowBasic.map { .boolean($0) }
        settings["pin"] = pin.map { .string($0 == Self.none ? "" : $0) }
        settings["snapshot_rate"] = snapshotRate.map { .real($0) }
        settings["profile"] = profile.map { .string($0 == Self.none ? "" : $0) }
        settings["rtsp_host"] = rtspHost.map { .string($0 == Self.none ? "" : $0) }
        settings["rtsp_port"] = rtspPort.map { $0.value.map { .integer(Int64($0)) } ?? .string("") }
        settings["events"] = events.map { .boolean($0) }
        settings["pixel_format"] = pixelFormat.map { .string($0) }
        settings["encoder"] = encoder.map { .string($0) }
        settings["rotate"] = rotate.map { .integer($0) }
        settings["flip"] = flip.map { .string($0) }
        settings["masks"] = Self.list(mask)
        settings["overlay"] = Self.list(overlay)
        settings["controls"] = Self.list(control)
        // An empty text takes a setting away.
        settings["microphone"] = microphone.map { .string($0 == Self.none ? "" : $0) }
        settings["mono"] = mono.map { .boolean($0) }
        settings["relay"] = relay.map { .string($0) }
        settings["stream"] = stream.map { .string($0) }
        settings["rotate_seconds"] = rotateSeconds.map { .real($0) }
        if !attribute.isEmpty { settings["attributes"] = .strings(attribute) }
        if !viewer.isEmpty { settings["viewers"] = .strings(viewer) }
        return settings
    }

    /// Of a network camera with these settings.
    func test(of source: String, password: String?) -> CameraTestRequest {
        CameraTestRequest(
            source: source, user: user, password: password, transport: transport?.value, allowsBasic: allowBasic,
            pin: pin == Self.none ? nil : pin, profile: profile == Self.none ? nil : profile,
            rtspHost: rtspHost == Self.none ? nil : rtspHost, rtspPort: rtspPort?.value)
    }

    private static func list(_ texts: [String]) -> SettingValue? {
        guard !texts.isEmpty else { return nil }
        return .strings(texts == [none] ? [] : texts)
    }
}

/// All names of a setting, for a help text.
private func names<Names: CaseIterable & RawRepresentable>(of names: Names.Type) -> String
where Names.RawValue == String {
    names.allCases.map(\.rawValue).joined(separator: ", ")
}

private func nameCompletion<Names: CaseIterable & RawRepresentable>(of names: Names.Type) -> CompletionKind
where Names.RawValue == String {
    .list(names.allCases.map(\.rawValue))
}

/// A port, or `none`.
struct PortArgument: ExpressibleByArgument {
    var value: Int?

    init?(argument: String) {
        guard argument != "none" else { return }
        guard let port = Int(argument), (1...65_535).contains(port) else { return nil }
        value = port
    }
}

/// Bits per second, or `none`.
struct BitrateArgument: ExpressibleByArgument {
    var value: Int64?

    init?(argument: String) {
        guard argument != "none" else { return }
        guard let bitrate = Int64(argument), bitrate > 0 else { return nil }
        value = bitrate
    }
}

/// How a network camera's media come.
struct TransportArgument: ExpressibleByArgument {
    var value: CameraConfiguration.Network.Transport

    init?(argument: String) {
        guard let value = CameraConfiguration.Network.Transport(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { CameraConfiguration.Network.Transport.allCases.map(\.rawValue) }
}
