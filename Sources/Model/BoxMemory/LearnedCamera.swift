public import ONVIF

/// What is known of a camera: what it told of itself, to whoever had its password, and when it delivered last. Given to be
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
    /// Unix seconds; nil: never, as far as anybody knows.
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
    /// With what the camera told now, as far as it may be stored. A device says what it likes: what no field takes is left
    /// out, and never an error.
    ///
    /// - Parameter source: of the camera: where a profile is whose own address cannot be stored.
    func learning(_ told: LearnedCamera, source: String) -> LearnedCamera {
        var known = self
        known.manufacturer = FieldRules.told(told.manufacturer, limit: 128) ?? manufacturer
        known.model = FieldRules.told(told.model, limit: 128) ?? model
        known.firmware = FieldRules.told(told.firmware, limit: 128) ?? firmware
        known.identity = identity.following(told.identity)
        if (try? FieldRules.address(told.address, "address")) != nil { known.address = told.address ?? address }
        if let port = told.port, (1...65_535).contains(port) { known.port = port }
        if let profiles = told.profiles { known.profiles = StreamProfile.cleaned(profiles, source: source) }
        if let time = told.lastConnected, time >= 0 { known.lastConnected = time }
        return known
    }
}

extension DeviceIdentity {
    /// With what the camera says of itself now. When that is another device, nothing of the former one stays: halves of
    /// two identities would be found as both.
    fileprivate func following(_ told: DeviceIdentity) -> DeviceIdentity {
        if matches(told) != nil, trait(sharedWith: told) == nil { return told }
        return DeviceIdentity(
            endpoint: told.endpoint ?? endpoint, serial: told.serial ?? serial, mac: told.mac ?? mac)
    }
}

extension StreamProfile {
    /// The profiles that may be stored: at most 16, each token once.
    fileprivate static func cleaned(_ told: [StreamProfile], source: String) -> [StreamProfile] {
        var tokens: Set<String> = []
        var kept: [StreamProfile] = []
        for told in told where kept.count < BoxMemory.profileLimit {
            var profile = told
            // A token is sent back as it came; one that cannot be stored cannot be chosen.
            guard (try? FieldRules.text(told.id, "id", limit: 64)) != nil, tokens.insert(told.id).inserted else {
                continue
            }
            profile.name = FieldRules.told(told.name, limit: 128) ?? told.id
            // Some cameras put the password into the address that they tell.
            if (try? FieldRules.source(told.source, "source")) == nil { profile.source = source }
            profile.width = (0...16_384).contains(told.width) ? told.width : 0
            profile.height = (0...16_384).contains(told.height) ? told.height : 0
            profile.rate = told.rate.isFinite && (0...1000).contains(told.rate) ? told.rate : 0
            profile.codec = FieldRules.told(told.codec, limit: 32) ?? "unknown"
            if let bitrate = told.bitrate, !(0...2_000_000_000).contains(bitrate) { profile.bitrate = nil }
            if let gop = told.gop, !(0...1_000_000).contains(gop) { profile.gop = nil }
            profile.service = FieldRules.told(told.service, limit: 32)
            if let snapshot = told.snapshot, (try? FieldRules.webAddress(snapshot, "snapshot")) == nil {
                profile.snapshot = nil
            }
            kept.append(profile)
        }
        return kept
    }
}
