internal import Wire

// Messages of service `kas.AccessService` (opentdf/platform, service/kas/kas.proto). Unknown fields are skipped, of a
// field that is given twice the last one counts.

extension PublicKeyRequest {
    public init(protobuf bytes: [UInt8]) throws(ProtobufError) {
        self.init()
        var reader = ProtobufReader(bytes[...])
        while let field = try reader.next() {
            switch field.number {
            case 1: algorithm = try field.string()
            case 2: format = try field.string()
            case 3: version = try field.string()
            default: continue
            }
        }
    }

    public func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(1, algorithm ?? "")
        writer.append(2, format ?? "")
        writer.append(3, version ?? "")
        return writer.bytes
    }
}

extension PublicKeyResponse {
    public init(protobuf bytes: [UInt8]) throws(ProtobufError) {
        self.init(publicKey: "", kid: nil)
        var reader = ProtobufReader(bytes[...])
        while let field = try reader.next() {
            switch field.number {
            case 1: publicKey = try field.string()
            case 2: kid = try field.string()
            default: continue
            }
        }
    }

    public func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(1, publicKey)
        writer.append(2, kid ?? "")
        return writer.bytes
    }
}

extension RewrapRequest {
    public init(protobuf bytes: [UInt8]) throws(ProtobufError) {
        self.init(signedRequestToken: "")
        var reader = ProtobufReader(bytes[...])
        while let field = try reader.next() {
            if field.number == 1 { signedRequestToken = try field.string() }
        }
    }

    public func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(1, signedRequestToken)
        return writer.bytes
    }
}

extension RewrapResponse {
    public init(protobuf bytes: [UInt8]) throws(ProtobufError) {
        self.init(responses: [], sessionPublicKey: "", schemaVersion: nil)
        var reader = ProtobufReader(bytes[...])
        while let field = try reader.next() {
            switch field.number {
            case 2: entityWrappedKey = Base64.encode(try field.bytes())
            case 3: sessionPublicKey = try field.string()
            case 4: schemaVersion = try field.string()
            case 5: responses.append(try PolicyRewrapResult(protobuf: field.bytes()))
            default: continue
            }
        }
    }

    public func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(2, decoded(entityWrappedKey))
        writer.append(3, sessionPublicKey)
        writer.append(4, schemaVersion ?? "")
        for response in responses { writer.append(5, response.protobuf(), evenIfEmpty: true) }
        return writer.bytes
    }
}

extension PolicyRewrapResult {
    init(protobuf bytes: ArraySlice<UInt8>) throws(ProtobufError) {
        self.init(policyId: "", results: [])
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: policyId = try field.string()
            case 2: results.append(try KeyAccessRewrapResult(protobuf: field.bytes()))
            default: continue
            }
        }
    }

    func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(1, policyId)
        for result in results { writer.append(2, result.protobuf(), evenIfEmpty: true) }
        return writer.bytes
    }
}

extension KeyAccessRewrapResult {
    init(protobuf bytes: ArraySlice<UInt8>) throws(ProtobufError) {
        self.init(status: "", keyAccessObjectId: "")
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                guard let (key, text) = try Self.metadataEntry(field.bytes()) else { continue }
                metadata = metadata ?? [:]
                metadata?[key] = text
            case 2: keyAccessObjectId = try field.string()
            case 3: status = try field.string()
            case 4: kasWrappedKey = Base64.encode(try field.bytes())
            case 5: error = try field.string()
            default: continue
            }
        }
    }

    func protobuf() -> [UInt8] {
        var writer = ProtobufWriter()
        for (key, text) in (metadata ?? [:]).sorted(by: { $0.key < $1.key }) {
            // map<string, google.protobuf.Value>: key = 1, value = 2 with string_value = 3.
            var value = ProtobufWriter()
            value.append(3, Array(text.utf8), evenIfEmpty: true)
            var entry = ProtobufWriter()
            entry.append(1, key)
            entry.append(2, value.bytes)
            writer.append(1, entry.bytes)
        }
        writer.append(2, keyAccessObjectId)
        writer.append(3, status)
        writer.append(4, decoded(kasWrappedKey))
        writer.append(5, error ?? "")
        return writer.bytes
    }

    /// Nil for a value that is not a string.
    private static func metadataEntry(_ bytes: ArraySlice<UInt8>) throws(ProtobufError) -> (String, String)? {
        var key = ""
        var text: String?
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: key = try field.string()
            case 2:
                var value = ProtobufReader(try field.bytes())
                while let member = try value.next() {
                    if member.number == 3 { text = try member.string() }
                }
            default: continue
            }
        }
        guard let text else { return nil }
        return (key, text)
    }
}

/// `google.protobuf.StringValue`, the answer of `LegacyPublicKey`.
public enum StringValue {
    public static func protobuf(_ text: String) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.append(1, text)
        return writer.bytes
    }
}

/// Our own answers hold base64 that we wrote; what is not base64 has no bytes to send.
private func decoded(_ base64: String?) -> [UInt8] {
    guard let base64, let bytes = try? Base64.decode(base64) else { return [] }
    return bytes
}
