internal import BoxConfiguration
internal import CameraStore
internal import ControlAPI

extension ConfigurationValue {
    init(_ value: StoreValue) {
        self =
            switch value {
            case .string(let value): .string(value)
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .boolean(let value): .boolean(value)
            case .strings(let value): .strings(value)
            }
    }

    var stored: StoreValue {
        switch self {
        case .string(let value): .string(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .boolean(let value): .boolean(value)
        case .strings(let value): .strings(value)
        }
    }

    var document: DocumentValue {
        switch self {
        case .string(let value): .string(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .boolean(let value): .boolean(value)
        case .strings(let value): .strings(value)
        }
    }
}

extension DocumentValue {
    var stored: StoreValue {
        switch self {
        case .string(let value): .string(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .boolean(let value): .boolean(value)
        case .strings(let value): .strings(value)
        }
    }
}
