// Three targets have a setting's value of their own, and two of them call it the same: here each gets one name. This
// file imports the store only.
internal import CameraStore

typealias StoreValue = SettingValue
