internal import Wire

/// Reads values one after the other and keeps account of depth and entries.
struct AMF0Decoder {
    private var reader: FieldReader<AMF0Error>
    private let limits: AMF0Limits
    private var entries = 0

    init(_ bytes: ArraySlice<UInt8>, limits: AMF0Limits) {
        reader = FieldReader<AMF0Error>(bytes)
        self.limits = limits
    }

    mutating func values() throws(AMF0Error) -> [AMF0Value] {
        var values: [AMF0Value] = []
        while !reader.isAtEnd {
            // Values at the top count as entries too: a message of 64 KiB of null markers is not a command.
            try count(1, at: reader.offset, alreadyInContainer: values.count)
            values.append(try value(depth: 0))
        }
        return values
    }

    private mutating func value(depth: Int) throws(AMF0Error) -> AMF0Value {
        let start = reader.offset
        let marker = try reader.readUInt8()
        switch marker {
        case Marker.number:
            return .number(Double(bitPattern: try reader.readUInt64()))
        case Marker.boolean:
            return .boolean(try reader.readUInt8() != 0)
        case Marker.string:
            return .string(try shortString())
        case Marker.object:
            return .object(try object(at: start, depth: depth))
        case Marker.null:
            return .null
        case Marker.undefined:
            return .undefined
        case Marker.reference:
            // Refers to an earlier object by number; no known peer sends it in RTMP, so the target is not looked up.
            try reader.skip(2)
            return .unsupported(marker: marker)
        case Marker.ecmaArray:
            try reader.skip(4)
            return .ecmaArray(try object(at: start, depth: depth))
        case Marker.strictArray:
            return .strictArray(try strictArray(at: start, depth: depth))
        case Marker.date:
            let milliseconds = Double(bitPattern: try reader.readUInt64())
            let zone = Int16(bitPattern: try reader.readUInt16())
            return .date(milliseconds: milliseconds, zone: zone)
        case Marker.longString:
            return .longString(String(decoding: try longBytes(), as: UTF8.self))
        case Marker.unsupported:
            return .unsupported(marker: marker)
        case Marker.xmlDocument:
            _ = try longBytes()
            return .unsupported(marker: marker)
        case Marker.typedObject:
            _ = try shortString()
            _ = try object(at: start, depth: depth)
            return .unsupported(marker: marker)
        default:
            throw .unknownMarker(marker, offset: start)
        }
    }

    /// Entries up to the end marker `00 00 09`. An empty key before another marker is an ordinary entry.
    private mutating func object(at start: Int, depth: Int) throws(AMF0Error) -> AMF0Object {
        guard depth < limits.depth else { throw .tooDeep(offset: start, limit: limits.depth) }
        var object = AMF0Object()
        while true {
            let key = try shortString()
            if key.isEmpty, reader.peek() == Marker.objectEnd {
                try reader.skip(1)
                return object
            }
            try count(1, at: start, alreadyInContainer: object.entries.count)
            object.entries.append(AMF0Object.Entry(key: key, value: try value(depth: depth + 1)))
        }
    }

    private mutating func strictArray(at start: Int, depth: Int) throws(AMF0Error) -> [AMF0Value] {
        guard depth < limits.depth else { throw .tooDeep(offset: start, limit: limits.depth) }
        let declared = Int(try reader.readUInt32())
        try count(declared, at: start, alreadyInContainer: 0)
        var values: [AMF0Value] = []
        for _ in 0..<declared { values.append(try value(depth: depth + 1)) }
        return values
    }

    private mutating func count(_ new: Int, at start: Int, alreadyInContainer: Int) throws(AMF0Error) {
        guard alreadyInContainer + new <= limits.entriesPerContainer else {
            throw .tooManyEntries(offset: start, limit: limits.entriesPerContainer)
        }
        guard entries + new <= limits.entries else { throw .tooManyEntries(offset: start, limit: limits.entries) }
        entries += new
    }

    private mutating func shortString() throws(AMF0Error) -> String {
        let length = Int(try reader.readUInt16())
        return String(decoding: try reader.readBytes(length), as: UTF8.self)
    }

    private mutating func longBytes() throws(AMF0Error) -> ArraySlice<UInt8> {
        let length = Int(try reader.readUInt32())
        return try reader.readBytes(length)
    }
}
