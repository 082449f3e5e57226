/// What a network camera told of itself, to whoever had its password. Nil stays as it is known.
public struct LearnedCamera: Equatable, Sendable {
    public var manufacturer: String?
    public var model: String?
    public var firmware: String?
    public var identity: CameraIdentity
    /// Where it was reached: IP address and port.
    public var address: String?
    public var port: Int?
    /// In the camera's order; nil: it was not asked. `camera` and `isDefault` are filled in by the store.
    public var profiles: [StreamProfile]?

    public init(
        manufacturer: String? = nil, model: String? = nil, firmware: String? = nil,
        identity: CameraIdentity = CameraIdentity(), address: String? = nil, port: Int? = nil,
        profiles: [StreamProfile]? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.firmware = firmware
        self.identity = identity
        self.address = address
        self.port = port
        self.profiles = profiles
    }
}

extension LearnedCamera {
    /// As it may be stored. A device says what it likes: what no field takes is left out, and never an error.
    var cleaned: LearnedCamera {
        var cleaned = LearnedCamera(
            manufacturer: FieldRules.told(manufacturer, limit: 128), model: FieldRules.told(model, limit: 128),
            firmware: FieldRules.told(firmware, limit: 128))
        cleaned.identity = CameraIdentity(
            onvifEndpoint: FieldRules.told(identity.onvifEndpoint, limit: 256),
            serial: FieldRules.told(identity.serial, limit: 128), mac: CameraIdentity.canonical(mac: identity.mac),
            usb: FieldRules.told(identity.usb, limit: 128))
        if (try? FieldRules.address(address, "address")) != nil { cleaned.address = address }
        if let port, (1...65_535).contains(port) { cleaned.port = port }
        return cleaned
    }

    /// The profiles that a camera of this source may have: at most 16, each token once.
    ///
    /// - Parameter known: what is stored; the one to publish stays the one to publish.
    func profiles(of camera: Camera, known: [StreamProfile]) -> [StreamProfile]? {
        guard let profiles else { return nil }
        let chosen = known.first(where: \.isDefault)?.id
        var tokens: Set<String> = []
        var kept: [StreamProfile] = []
        for told in profiles where kept.count < CameraStore.profileLimit {
            var profile = told
            profile.camera = camera.id
            // A token is sent back as it came; one that cannot be stored cannot be chosen.
            guard (try? FieldRules.text(told.id, "id", limit: 64)) != nil, tokens.insert(told.id).inserted else {
                continue
            }
            profile.name = FieldRules.told(told.name, limit: 128) ?? told.id
            // Some cameras put the password into the address that they tell.
            if (try? FieldRules.source(told.source, "source")) == nil { profile.source = camera.source }
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
            profile.isDefault = told.id == chosen
            kept.append(profile)
        }
        return kept
    }
}
