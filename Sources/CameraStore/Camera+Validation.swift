extension Camera {
    /// - Throws: `.invalid` with the field and the reason.
    public func validate() throws(CameraStoreError) {
        try FieldRules.name(id, "id", limit: 24)
        try FieldRules.uuid(uuid, "uuid")
        try FieldRules.text(name, "name", limit: 128)
        try FieldRules.source(source, "source")
        try FieldRules.text(user, "user", limit: 128)
        try FieldRules.address(address, "address")
        try FieldRules.number(port, "port", 1...65_535)
        try FieldRules.text(manufacturer, "manufacturer", limit: 128)
        try FieldRules.text(model, "model", limit: 128)
        try FieldRules.text(firmware, "firmware", limit: 128)
        try FieldRules.number(gridPosition, "grid", 0...65_535)
        guard added >= 0, lastConnected ?? 0 >= 0 else {
            throw .invalid(field: "added", why: "times count from 1970")
        }
        try identity.validate()
        guard settings.count <= 64 else { throw .tooMany("settings of camera \(id)", limit: 64) }
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) { try FieldRules.setting(key, value) }
    }

    /// As it is stored: one spelling for each value.
    var canonical: Camera {
        var camera = self
        camera.identity.mac = CameraIdentity.canonical(mac: identity.mac)
        return camera
    }
}

extension CameraIdentity {
    func validate() throws(CameraStoreError) {
        try FieldRules.text(onvifEndpoint, "identity.onvif_endpoint", limit: 256)
        try FieldRules.text(serial, "identity.serial", limit: 128)
        try FieldRules.text(usb, "identity.usb", limit: 128)
        if mac != nil, Self.canonical(mac: mac) == nil {
            throw .invalid(field: "identity.mac", why: "it is a MAC address such as 00:11:22:aa:bb:cc")
        }
    }
}

extension StreamProfile {
    static func validate(_ profiles: [StreamProfile], of camera: String) throws(CameraStoreError) {
        guard profiles.count <= CameraStore.profileLimit else {
            throw .tooMany("profiles of camera \(camera)", limit: CameraStore.profileLimit)
        }
        for (index, profile) in profiles.enumerated() {
            do { try profile.validate(of: camera) } catch { throw error.within("profiles[\(index)]") }
        }
        guard Set(profiles.map(\.id)).count == profiles.count else {
            throw .invalid(field: "profiles", why: "two of them have the same ID")
        }
        guard profiles.count(where: \.isDefault) <= 1 else {
            throw .invalid(field: "profiles", why: "more than one of them is the default")
        }
    }

    private func validate(of owner: String) throws(CameraStoreError) {
        guard camera == owner else { throw .invalid(field: "camera", why: "the profile is of another camera") }
        try FieldRules.text(id, "id", limit: 64)
        try FieldRules.text(name, "name", limit: 128)
        try FieldRules.source(source, "source")
        try FieldRules.number(width, "width", 0...16_384)
        try FieldRules.number(height, "height", 0...16_384)
        guard rate.isFinite, (0...1000).contains(rate) else { throw .invalid(field: "rate", why: "it is 0 to 1000") }
        try FieldRules.text(codec, "codec", limit: 32)
        try FieldRules.number(bitrate, "bitrate", 0...2_000_000_000)
        try FieldRules.number(gop, "gop", 0...1_000_000)
        try FieldRules.text(service, "service", limit: 32)
        if let snapshot { try FieldRules.webAddress(snapshot, "snapshot") }
    }
}
