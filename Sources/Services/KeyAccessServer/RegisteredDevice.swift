internal import Cryptography
public import KeyAccess
internal import Wire

/// A device key that a KAS knows, as an operator reads and writes it.
public struct RegisteredDevice: Codable, Equatable, Sendable {
    public var issuer: String
    public var subject: String
    /// `sha256//…` of the SubjectPublicKeyInfo.
    public var fingerprint: String
    /// Unix seconds.
    public var addedAt: Int64

    /// The compressed point of a P-256 public key in PEM.
    static func point(pem: String) throws(KeyAccessServerError) -> [UInt8] {
        guard case .ec(let key)? = try? PublicKeyPEM.load(pem) else {
            throw .invalid(
                setting: "key", what: "it is not a public key on P-256 in PEM, as watchboxctl device key prints it")
        }
        return key.compressed()
    }

    static func fingerprint(point: [UInt8]) -> String? {
        try? ECPublicKey(sec1: point, curve: .p256).fingerprint
    }
}

extension AccessRegister {
    public var registeredDevices: [RegisteredDevice] {
        devices.entries.map { entry in
            RegisteredDevice(
                issuer: entry.holder.issuer, subject: entry.holder.subject,
                fingerprint: (try? Base64.decode(entry.key)).flatMap(RegisteredDevice.fingerprint) ?? "damaged",
                addedAt: entry.addedAt)
        }
    }

    /// - Returns: its fingerprint.
    @discardableResult
    public func add(devicePEM pem: String, of holder: AccessGrants.Holder, now: Int64) throws -> String {
        let point = try RegisteredDevice.point(pem: pem)
        try add(device: point, of: holder, now: now)
        return RegisteredDevice.fingerprint(point: point) ?? ""
    }

    /// - Returns: how many keys the publisher has left; with none it need not sign any more.
    @discardableResult
    public func remove(deviceFingerprint fingerprint: String, of holder: AccessGrants.Holder) throws -> Int {
        let known = devices.keys(of: holder)
        guard let point = known.first(where: { RegisteredDevice.fingerprint(point: $0) == fingerprint }) else {
            throw DeviceKeys.Fault.unknown
        }
        try remove(device: point, of: holder)
        return devices.keys(of: holder).count
    }
}

extension DeviceKeys.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .full(let limit): "The KAS has \(limit) device keys already; remove some that are no longer in use."
        case .holderFull(let limit):
            "This publisher has \(limit) device keys already: one in use and one that takes over. Remove the old one first."
        case .invalid(let what): "The device key was not accepted: \(what)."
        case .unknown: "This publisher has no such device key here; kas device list shows those that it has."
        }
    }
}
