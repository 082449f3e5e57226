internal import ControlAPI
internal import Wire

/// An object of the store that this version cannot read: what it holds stays as it is.
struct UnreadObject: Equatable, Sendable {
    /// `camera.front`, `relay.main`, `kas` …
    var object: String
    /// Why it cannot be read.
    var fault: String
    var content: StoredJSON

    var isCamera: Bool { object.hasPrefix("camera.") }

    /// What can be told of it, field by field; nothing says that they mean what they do here.
    var fields: [String: StoredJSON] {
        let fields = content.fields ?? [:]
        // Until `watchbox.generation/2` a camera was inside a record.
        return isCamera ? fields["camera"]?.fields ?? fields : fields
    }

    /// Of a camera: its ID and its UUID, where both are some.
    var identity: (id: String, uuid: String)? {
        guard isCamera, let id = fields["id"]?.text, CameraIdentifier.isValid(id), let uuid = fields["uuid"]?.text,
            Names.isHyphenated(uuid, limit: 64)
        else { return nil }
        return (id, uuid)
    }

    /// Of its settings.
    func setting(_ key: String) -> StoredJSON? { fields["settings"]?.fields?[key] }

    /// Whether a camera publishes to this relay, unless it says that it is another one.
    func mayNeed(relay name: String) -> Bool {
        guard isCamera else { return false }
        guard let relay = setting("relay")?.text else { return true }
        return relay == name
    }
}

/// One of the store: what this version reads completely, or what it does not.
struct StoredElement<Value: Decodable & StoredFields>: Decodable {
    var value: Value?
    var content: StoredJSON
    var fault = ""

    init(from decoder: any Decoder) throws {
        content = try StoredJSON(from: decoder)
        let fields = content.fields ?? [:]
        // Half of what another version stored would be something else.
        let isFormer = fields.keys.contains { Value.formerFields.contains($0) }
        if !isFormer, let unknown = fields.keys.filter({ !Value.fields.contains($0) }).min() {
            fault = "its field \(Printable.text(unknown, limit: 32)) is not known"
            return
        }
        do {
            value = try Value(from: decoder)
        } catch {
            fault = JSONDocument.reason(error)
        }
    }
}

/// Says which fields this version knows.
protocol StoredFields {
    static var fields: Set<String> { get }
    /// Of a record as former versions wrote it: then the others are theirs.
    static var formerFields: Set<String> { get }
}

/// A value of JSON as it was read, for what nobody here understands.
indirect enum StoredJSON: Codable, Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case string(String)
    case list([StoredJSON])
    case object([String: StoredJSON])

    var fields: [String: StoredJSON]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let whole = try? value.decode(Int64.self) {
            self = .integer(whole)
        } else if let whole = try? value.decode(UInt64.self) {
            self = .unsigned(whole)
        } else if let number = try? value.decode(Double.self) {
            self = .real(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let list = try? value.decode([StoredJSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: StoredJSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .boolean(let boolean): try value.encode(boolean)
        case .integer(let whole): try value.encode(whole)
        case .unsigned(let whole): try value.encode(whole)
        case .real(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let fields): try value.encode(fields)
        }
    }
}
