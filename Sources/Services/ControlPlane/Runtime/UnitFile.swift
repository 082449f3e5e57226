internal import CameraModel
internal import ControlAPI

/// What a unit reads when it starts: the settings of a camera or of a service.
enum UnitFile: Equatable, Sendable {
    case camera(CameraConfiguration)
    case relay(RelayServiceSettings)
    case kas(KeyAccessServiceSettings)
    case hooks(HookServiceSettings)

    /// - Throws: when the file of this unit cannot be read as what it should be.
    init?(unit: String, _ bytes: [UInt8]) throws {
        switch unit {
        case UnitName.relay: self = .relay(try JSONDocument.decode(RelayServiceSettings.self, from: bytes))
        case UnitName.keyAccess: self = .kas(try JSONDocument.decode(KeyAccessServiceSettings.self, from: bytes))
        case UnitName.hooks: self = .hooks(try JSONDocument.decode(HookServiceSettings.self, from: bytes))
        default:
            guard UnitName.cameraID(unit) != nil else { return nil }
            self = .camera(try JSONDocument.decode(CameraConfiguration.self, from: bytes))
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .camera(let settings): JSONDocument.bytes(settings)
        case .relay(let settings): JSONDocument.bytes(settings)
        case .kas(let settings): JSONDocument.bytes(settings)
        case .hooks(let settings): JSONDocument.bytes(settings)
        }
    }

    /// Only a camera's unit and control read a camera's.
    var mode: UInt32 { if case .camera = self { 0o600 } else { 0o644 } }

    /// The secrets that it refers to.
    var secretNames: Set<String> {
        switch self {
        case .camera(let settings): settings.secretNames
        case .hooks(let settings): settings.secretNames
        case .relay, .kas: []
        }
    }

    /// What a process that runs with these settings has to be sent to have those of `file`; nil when only a restart
    /// does it, and for what is not a camera's.
    func change(to file: UnitFile) -> VideoChange? {
        guard case .camera(let old) = of(the: file), case .camera(let new) = file, let change = old.videoChange(to: new)
        else { return nil }
        return change
    }

    /// Whether a process that has read this needs nothing of `file`.
    func says(theSameAs file: UnitFile) -> Bool { of(the: file) == file }

    /// What an older control has written does not say which camera of its ID it is: that alone restarts no camera, and
    /// is not a change that its owner made.
    private func of(the file: UnitFile) -> UnitFile {
        guard case .camera(var old) = self, case .camera(let new) = file else { return self }
        old.instance = old.instance ?? new.instance
        return .camera(old)
    }
}
