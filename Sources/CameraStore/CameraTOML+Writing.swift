internal import TOML

extension CameraTOML {
    /// In one order and one form, so that two exports of the same store are the same text.
    static func write(_ record: CameraRecord, to writer: inout TOMLWriter) {
        let camera = record.camera.canonical
        writer.table(["camera", camera.id])
        writer.line("name", .string(camera.name))
        writer.line("source", .string(camera.source))
        writer.line("user", camera.user)
        writer.line("address", camera.address)
        if let port = camera.port { writer.line("port", .integer(Int64(port))) }
        writer.line("manufacturer", camera.manufacturer)
        writer.line("model", camera.model)
        writer.line("firmware", camera.firmware)
        writer.line("active", .boolean(camera.isActive))
        writer.line("grid", .integer(Int64(camera.gridPosition)))
        writer.line("uuid", .string(camera.uuid))
        writer.line("added", .integer(camera.added))
        let identity = [
            ("onvif_endpoint", camera.identity.onvifEndpoint), ("serial", camera.identity.serial),
            ("mac", camera.identity.mac), ("usb", camera.identity.usb),
        ].compactMap { key, value in value.map { (key, TOMLText.string($0)) } }
        if !identity.isEmpty { writer.line("identity", .table(identity)) }
        for (key, value) in camera.settings.sorted(by: { $0.key < $1.key }) { writer.line(key, value.toml) }
        for profile in record.profiles {
            writer.arrayTable(["camera", camera.id, "profiles"])
            writer.line("id", .string(profile.id))
            writer.line("name", .string(profile.name))
            writer.line("source", .string(profile.source))
            writer.line("width", .integer(Int64(profile.width)))
            writer.line("height", .integer(Int64(profile.height)))
            writer.line("rate", .float(profile.rate))
            writer.line("codec", .string(profile.codec))
            if profile.isDefault { writer.line("default", .boolean(true)) }
            if let bitrate = profile.bitrate { writer.line("bitrate", .integer(Int64(bitrate))) }
            if let gop = profile.gop { writer.line("gop", .integer(Int64(gop))) }
            writer.line("service", profile.service)
            writer.line("snapshot", profile.snapshot)
        }
    }
}

extension TOMLWriter {
    fileprivate mutating func line(_ key: String, _ value: String?) {
        if let value { line(key, .string(value)) }
    }
}

extension SettingValue {
    fileprivate var toml: TOMLText {
        switch self {
        case .string(let text): .string(text)
        case .integer(let whole): .integer(whole)
        case .real(let number): .float(number)
        case .boolean(let boolean): .boolean(boolean)
        case .strings(let texts): .array(texts.map(TOMLText.string))
        }
    }
}
