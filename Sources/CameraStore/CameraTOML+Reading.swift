internal import TOML

/// Reads tables of cameras from a text that anybody may have written.
extension CameraTOML {
    static func read(_ text: String, now: Int64) throws(CameraStoreError) -> [CameraRecord] {
        let document: TOMLTable
        do {
            document = try TOMLReader.read(text, keyLimit: keyLimit)
        } catch {
            throw .invalidText(
                line: error.position.line, column: error.position.column, why: error.reason.description)
        }
        try only(["camera"], in: document, path: "")
        guard let value = document["camera"] else { return [] }
        guard let tables = value.table else { throw .invalid(field: "camera", why: "it is not a table") }
        guard tables.keys.count <= CameraStore.cameraLimit else {
            throw .tooMany("cameras", limit: CameraStore.cameraLimit)
        }
        var records: [CameraRecord] = []
        for id in tables.keys {
            let path = "camera.\(FieldRules.printable(id))"
            guard FieldRules.isName(id, limit: 24) else {
                throw .invalid(
                    field: path, why: "an ID has 1 to 24 of a-z and 0-9, and single hyphens between them")
            }
            guard let table = tables[id]?.table else { throw .invalid(field: path, why: "it is not a table") }
            do throws(CameraStoreError) { records.append(try record(id, table, now: now)) } catch {
                throw error.within(path)
            }
        }
        let uuids = records.map(\.camera.uuid)
        guard Set(uuids).count == uuids.count else {
            throw .invalid(field: "camera", why: "two cameras have the same uuid")
        }
        return records.sorted { ($0.camera.gridPosition, $0.camera.id) < ($1.camera.gridPosition, $1.camera.id) }
    }

    private static func record(_ id: String, _ table: TOMLTable, now: Int64) throws(CameraStoreError) -> CameraRecord {
        var identity = CameraIdentity()
        if let value = table["identity"] {
            guard let values = value.table else { throw .invalid(field: "identity", why: "it is not a table") }
            try only(identityFields, in: values, path: "identity")
            identity = CameraIdentity(
                onvifEndpoint: try string("onvif_endpoint", values), serial: try string("serial", values),
                mac: try string("mac", values), usb: try string("usb", values))
        }
        var settings: [String: SettingValue] = [:]
        for key in table.keys where !fields.contains(key) {
            if let node = table[key] { settings[key] = try setting(key, node) }
        }
        if table["id"] != nil { throw .invalid(field: "id", why: "the name of the table is the ID") }
        let camera = Camera(
            id: id, uuid: try string("uuid", table) ?? Camera.makeUUID(), name: try string("name", table) ?? id,
            source: try required("source", table), user: try string("user", table),
            address: try string("address", table), port: try integer("port", table),
            manufacturer: try string("manufacturer", table), model: try string("model", table),
            firmware: try string("firmware", table), isActive: try boolean("active", table) ?? true,
            gridPosition: try integer("grid", table) ?? 0,
            added: try integer("added", table).map(Int64.init) ?? now, identity: identity, settings: settings)
        let record = CameraRecord(camera: camera.canonical, profiles: try profiles(of: id, table))
        try camera.validate()
        try StreamProfile.validate(record.profiles, of: id)
        return record
    }

    private static func profiles(of id: String, _ table: TOMLTable) throws(CameraStoreError) -> [StreamProfile] {
        guard let value = table["profiles"] else { return [] }
        guard let array = value.list else { throw value.wrong("profiles", "it is not a list of tables") }
        guard array.count <= CameraStore.profileLimit else {
            throw .tooMany("profiles of camera \(id)", limit: CameraStore.profileLimit)
        }
        var profiles: [StreamProfile] = []
        for index in 0..<array.count {
            do throws(CameraStoreError) {
                guard let entry = array[index].table else { throw .invalid(field: "profile", why: "it is not a table") }
                try only(profileFields, in: entry, path: "profile")
                profiles.append(
                    StreamProfile(
                        id: try required("id", entry), camera: id, name: try required("name", entry),
                        source: try required("source", entry), width: try integer("width", entry) ?? 0,
                        height: try integer("height", entry) ?? 0, rate: try number("rate", entry) ?? 0,
                        codec: try required("codec", entry), isDefault: try boolean("default", entry) ?? false,
                        bitrate: try integer("bitrate", entry), gop: try integer("gop", entry),
                        service: try string("service", entry), snapshot: try string("snapshot", entry)))
            } catch {
                throw error.within("profiles[\(index)]")
            }
        }
        return profiles
    }

    private static func only(
        _ known: Set<String>, in table: TOMLTable, path: String
    ) throws(CameraStoreError) {
        for key in table.keys where !known.contains(key) {
            let field = FieldRules.printable(key)
            let why = "unknown key; known are \(known.sorted().joined(separator: ", "))"
            throw table[key]?.wrong(path.isEmpty ? field : "\(path).\(field)", why) ?? .invalid(field: field, why: why)
        }
    }

    private static func required(_ key: String, _ table: TOMLTable) throws(CameraStoreError) -> String {
        guard let text = try string(key, table) else { throw .invalid(field: key, why: "it is missing") }
        return text
    }

    private static func string(_ key: String, _ table: TOMLTable) throws(CameraStoreError) -> String? {
        guard let node = table[key] else { return nil }
        guard case .string(let text) = node.value else { throw node.wrong(key, "it is not a text") }
        return text
    }

    private static func integer(_ key: String, _ table: TOMLTable) throws(CameraStoreError) -> Int? {
        guard let node = table[key] else { return nil }
        guard case .integer(let whole) = node.value else { throw node.wrong(key, "it is not a whole number") }
        return Int(whole)
    }

    private static func number(_ key: String, _ table: TOMLTable) throws(CameraStoreError) -> Double? {
        guard let node = table[key] else { return nil }
        switch node.value {
        case .integer(let whole): return Double(whole)
        case .float(let number): return number
        default: throw node.wrong(key, "it is not a number")
        }
    }

    private static func boolean(_ key: String, _ table: TOMLTable) throws(CameraStoreError) -> Bool? {
        guard let node = table[key] else { return nil }
        guard case .boolean(let boolean) = node.value else { throw node.wrong(key, "it is not true or false") }
        return boolean
    }

    private static func setting(_ key: String, _ node: TOMLNode) throws(CameraStoreError) -> SettingValue {
        let field = FieldRules.printable(key)
        switch node.value {
        case .string(let text): return .string(text)
        case .integer(let whole): return .integer(whole)
        case .float(let number): return .real(number)
        case .boolean(let boolean): return .boolean(boolean)
        case .table: throw node.wrong(field, "a table is not a setting")
        case .offsetDateTime, .localDateTime, .localDate, .localTime:
            throw node.wrong(field, "dates and times are not settings; write a text in quotes")
        case .array(let elements):
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element.value else {
                    throw element.wrong(field, "it is a list of something else than texts")
                }
                texts.append(text)
            }
            return .strings(texts)
        }
    }
}

extension TOMLNode {
    fileprivate var table: TOMLTable? { if case .table(let table) = value { table } else { nil } }

    fileprivate var list: [TOMLNode]? { if case .array(let nodes) = value { nodes } else { nil } }

    fileprivate func wrong(_ field: String, _ why: String) -> CameraStoreError {
        .invalid(field: field, why: "\(why) (line \(keyPosition.line))")
    }
}
