internal import CameraModel
internal import Settings

/// What a property of settings is as a value of the configuration.
protocol SettingRepresentable: Sendable {
    /// Nil: the value is not of this kind.
    init?(_ value: SettingValue)
    /// Nil: the setting is absent.
    var settingValue: SettingValue? { get }
}

/// What is a string in the configuration, and an element of lists.
protocol SettingText: SettingRepresentable {
    init?(text: String)
    var text: String { get }
}

extension SettingText {
    init?(_ value: SettingValue) {
        guard case .string(let text) = value else { return nil }
        self.init(text: text)
    }

    var settingValue: SettingValue? { .string(text) }
}

extension SettingText where Self: RawRepresentable, RawValue == String {
    init?(text: String) { self.init(rawValue: text) }

    var text: String { rawValue }
}

extension CameraConfiguration.Device.Encoder: SettingText {}
extension CameraConfiguration.Device.Flip: SettingText {}
extension CameraConfiguration.Device.Mask: SettingText {}
extension CameraConfiguration.Device.PixelFormat: SettingText {}
extension CameraConfiguration.Network.Timestamps: SettingText {}
extension CameraConfiguration.Network.Transport: SettingText {}
extension CameraConfiguration.RecordingMode: SettingText {}
extension CameraConfiguration.RelayProfile: SettingText {}
extension HookKind: SettingText {}
extension HookTopic: SettingText {}
extension KeyIdentifierUse: SettingText {}

extension WeekSpan: SettingText {
    init?(text: String) { try? self.init(text) }
}

extension String: SettingText {
    init?(text: String) { self = text }

    var text: String { self }
}

extension Array: SettingRepresentable where Element: SettingText {
    init?(_ value: SettingValue) {
        guard case .strings(let texts) = value else { return nil }
        self = texts.compactMap { Element(text: $0) }
    }

    var settingValue: SettingValue? { .strings(map(\.text)) }
}

extension Optional: SettingRepresentable where Wrapped: SettingRepresentable {
    init?(_ value: SettingValue) {
        guard let wrapped = Wrapped(value) else { return nil }
        self = wrapped
    }

    var settingValue: SettingValue? { flatMap(\.settingValue) }
}

extension Bool: SettingRepresentable {
    init?(_ value: SettingValue) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }

    var settingValue: SettingValue? { .boolean(self) }
}

extension Int: SettingRepresentable {
    init?(_ value: SettingValue) {
        switch value {
        case .integer(let whole): self.init(clamping: whole)
        case .real(let number): self.init(exactly: number)
        default: return nil
        }
    }

    var settingValue: SettingValue? { .integer(Int64(self)) }
}

extension Double: SettingRepresentable {
    init?(_ value: SettingValue) {
        switch value {
        case .integer(let whole): self.init(whole)
        case .real(let number): self = number
        default: return nil
        }
    }

    var settingValue: SettingValue? { .real(self) }
}
