public import ONVIF

/// What is known of a camera: what it reported of itself, to whoever had its password, and when it delivered last. Given to be
/// remembered, nil stays as it is known.
public struct LearnedCamera: Equatable, Sendable {
    public var manufacturer: String?
    public var model: String?
    /// Version of the camera's own software.
    public var firmware: String?
    public var identity: DeviceIdentity
    /// Where it was reached: host name or IP address, and port.
    public var address: String?
    public var port: Int?
    /// In the camera's order; nil: it was not asked.
    public var profiles: [StreamProfile]?
    /// Unix seconds; nil: never, as far as is known.
    public var lastConnected: Int64?

    public init(
        manufacturer: String? = nil, model: String? = nil, firmware: String? = nil,
        identity: DeviceIdentity = DeviceIdentity(), address: String? = nil, port: Int? = nil,
        profiles: [StreamProfile]? = nil, lastConnected: Int64? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.firmware = firmware
        self.identity = identity
        self.address = address
        self.port = port
        self.profiles = profiles
        self.lastConnected = lastConnected
    }
}

extension LearnedCamera {
    /// With what the camera reported now, as far as it may be stored. A device says what it likes: what no field takes is left
    /// out, and never an error.
    ///
    /// - Parameter source: of the camera: where a profile is whose own address cannot be stored.
    func learning(_ reported: LearnedCamera, source: String) -> LearnedCamera {
        var known = self
        known.manufacturer = FieldRules.cleanedOrNil(reported.manufacturer, limit: 128) ?? manufacturer
        known.model = FieldRules.cleanedOrNil(reported.model, limit: 128) ?? model
        known.firmware = FieldRules.cleanedOrNil(reported.firmware, limit: 128) ?? firmware
        known.identity = identity.following(reported.identity)
        if (try? FieldRules.address(reported.address, "address")) != nil { known.address = reported.address ?? address }
        if let port = reported.port, (1...65_535).contains(port) { known.port = port }
        if let profiles = reported.profiles { known.profiles = StreamProfile.cleaned(profiles, source: source) }
        if let time = reported.lastConnected, time >= 0 { known.lastConnected = time }
        return known
    }
}

extension DeviceIdentity {
    /// With what the camera says of itself now. When that is another device, nothing from the former one stays: halves of
    /// two identities would be found as both.
    fileprivate func following(_ reported: DeviceIdentity) -> DeviceIdentity {
        if matches(reported) != nil, trait(sharedWith: reported) == nil { return reported }
        return DeviceIdentity(
            endpoint: reported.endpoint ?? endpoint, serial: reported.serial ?? serial, mac: reported.mac ?? mac)
    }
}

extension StreamProfile {
    /// The profiles that may be stored: at most 16, each token once.
    fileprivate static func cleaned(_ reported: [StreamProfile], source: String) -> [StreamProfile] {
        var tokens: Set<String> = []
        var kept: [StreamProfile] = []
        for reported in reported where kept.count < BoxMemory.profileLimit {
            var profile = reported
            // A token is sent back as it came; one that cannot be stored cannot be chosen.
            guard (try? FieldRules.text(reported.id, "id", limit: 64)) != nil, tokens.insert(reported.id).inserted
            else {
                continue
            }
            profile.name = FieldRules.cleanedOrNil(reported.name, limit: 128) ?? reported.id
            // Some cameras put the password into the address that they report.
            if (try? FieldRules.source(reported.source, "source")) == nil { profile.source = source }
            profile.width = (0...16_384).contains(reported.width) ? reported.width : 0
            profile.height = (0...16_384).contains(reported.height) ? reported.height : 0
            profile.rate = reported.rate.isFinite && (0...1000).contains(reported.rate) ? reported.rate : 0
            profile.codec = FieldRules.cleanedOrNil(reported.codec, limit: 32) ?? "unknown"
            if let bitrate = reported.bitrate, !(0...2_000_000_000).contains(bitrate) { profile.bitrate = nil }
            if let gop = reported.gop, !(0...1_000_000).contains(gop) { profile.gop = nil }
            profile.service = FieldRules.cleanedOrNil(reported.service, limit: 32)
            if let snapshot = reported.snapshot, (try? FieldRules.webAddress(snapshot, "snapshot")) == nil {
                profile.snapshot = nil
            }
            kept.append(profile)
        }
        return kept
    }
}
