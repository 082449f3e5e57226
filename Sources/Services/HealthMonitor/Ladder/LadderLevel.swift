/// A step of the escalation ladder (docs/ref/health.md, "Ladder"). L0 belongs to the camera's process, L6 and L7 to a
/// bootloader.
enum LadderLevel: String, Codable, CaseIterable, Sendable, CodingKeyRepresentable {
    case restartCamera = "L1"
    case resetDevice = "L2"
    case renewNetwork = "L3"
    case restartTarget = "L4"
    case reboot = "L5"

    struct Budget: Equatable, Sendable {
        var allowed: Int
        var seconds: UInt64
    }

    /// All of them must have room.
    var budgets: [Budget] {
        switch self {
        case .restartCamera: [Budget(allowed: 8, seconds: 600)]
        case .resetDevice: [Budget(allowed: 1, seconds: 600), Budget(allowed: 6, seconds: 86_400)]
        case .renewNetwork: [Budget(allowed: 1, seconds: 900)]
        case .restartTarget: [Budget(allowed: 2, seconds: 3600)]
        case .reboot: [Budget(allowed: 3, seconds: 86_400)]
        }
    }

    /// Whether each camera has a budget of its own, or the box one.
    var isPerObject: Bool { self == .restartCamera || self == .resetDevice }

    var text: String {
        switch self {
        case .restartCamera: "restart the camera"
        case .resetDevice: "reset the USB device"
        case .renewNetwork: "renew the network"
        case .restartTarget: "restart all services"
        case .reboot: "reboot"
        }
    }
}
