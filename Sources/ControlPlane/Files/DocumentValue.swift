internal import ControlAPI

/// The API's.
typealias DocumentValue = SettingValue
