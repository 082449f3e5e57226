public import CameraModel
public import ONVIF

/// A device as it describes itself.
public struct DeviceDescription: Equatable, Sendable {
    /// An address that the device gave and that could not be used as it was; both as `DeviceURL.shown` shows them.
    public struct RepairedAddress: Equatable, Sendable {
        public var given: String
        public var used: String
    }

    /// Its addresses as `AddressRepair` made them, not bounded: they may hold a password that the device wrote into them.
    /// Identity as `DeviceIdentity` validates it, profiles in the device's order.
    public var device = NetworkStatistics.Device()
    public var clock: CameraClock?
    public var login: LoginScheme = .none
    public var repairedAddresses: [RepairedAddress] = []
    /// What was left out and why, each a message: a call that the device refused, or an answer that made no sense.
    public var remarks: [String] = []
    /// Requests that it took.
    public var requests = 0

    public init() {}
}

extension NetworkStatistics.Device {
    public var identity: DeviceIdentity { DeviceIdentity(endpoint: endpoint, serial: serial, mac: mac) }
}
