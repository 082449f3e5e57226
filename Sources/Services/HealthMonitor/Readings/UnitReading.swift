internal import Systemd

/// Where a unit is, as far as recovery asks.
enum UnitPhase: Equatable, Sendable {
    case running
    /// systemd is at work with it: starts it, stops it, or waits before it restarts it.
    case changing
    /// systemd has given up; with its result.
    case failed(String)
    case stopped
}

extension UnitState {
    var phase: UnitPhase {
        switch active {
        case "active", "reloading": .running
        case "activating", "deactivating": .changing
        case "failed": .failed(result)
        default: .stopped
        }
    }
}

/// All of WatchBox's units, or why systemd does not report them.
enum UnitReading: Sendable {
    case units([UnitState])
    case unavailable(String)

    static func read(_ control: any UnitControl) async -> UnitReading {
        do throws(SystemdError) {
            return .units(try await control.units(matching: "watchbox-*.service"))
        } catch {
            return .unavailable("\(error)")
        }
    }
}

/// Names of units that the monitor acts on.
enum UnitNames {
    static let control = "watchbox-control.service"
    static let target = "watchbox.target"
    static let reboot = "reboot.target"
    static func camera(_ id: String) -> String { "watchbox-camera@\(id).service" }
    /// - Parameter device: bus and device, `001/004`.
    static func deviceReset(_ device: String) -> String { "watchbox-usb-reset@\(escaped(device)).service" }
    static func linkRenewal(_ interface: String) -> String { "watchbox-link-renew@\(escaped(interface)).service" }

    /// systemd.unit(5), "string escaping": a `-` in an instance's name stands for a slash.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            case UInt8(ascii: "/"): result += "-"
            default:
                let digits = String(byte, radix: 16)
                result += "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }

    /// `watchbox-camera@front.service` as `front`; nil for other units.
    static func cameraID(_ unit: String) -> String? {
        guard unit.hasPrefix("watchbox-camera@"), unit.hasSuffix(".service") else { return nil }
        return String(unit.dropFirst("watchbox-camera@".count).dropLast(".service".count))
    }
}
