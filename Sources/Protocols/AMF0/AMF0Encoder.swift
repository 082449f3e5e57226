internal import Wire

extension AMF0 {
    /// Appends the encoding of one value.
    public static func append(_ value: AMF0Value, to bytes: inout [UInt8]) {
        switch value {
        case .number(let number):
            bytes.append(Marker.number)
            bytes.appendUInt64(number.bitPattern)
        case .boolean(let boolean):
            bytes.append(Marker.boolean)
            bytes.append(boolean ? 1 : 0)
        case .string(let string):
            let length = string.utf8.count
            if length <= 0xFFFF {
                bytes.append(Marker.string)
                bytes.appendUInt16(UInt16(length))
                bytes.append(contentsOf: string.utf8)
            } else {
                append(.longString(string), to: &bytes)
            }
        case .object(let object):
            bytes.append(Marker.object)
            append(object, to: &bytes)
        case .null:
            bytes.append(Marker.null)
        case .undefined:
            bytes.append(Marker.undefined)
        case .ecmaArray(let object):
            bytes.append(Marker.ecmaArray)
            bytes.appendUInt32(UInt32(truncatingIfNeeded: object.entries.count))
            append(object, to: &bytes)
        case .strictArray(let values):
            bytes.append(Marker.strictArray)
            bytes.appendUInt32(UInt32(truncatingIfNeeded: values.count))
            for value in values { append(value, to: &bytes) }
        case .date(let milliseconds, let zone):
            bytes.append(Marker.date)
            bytes.appendUInt64(milliseconds.bitPattern)
            bytes.appendUInt16(UInt16(bitPattern: zone))
        case .longString(let string):
            bytes.append(Marker.longString)
            bytes.appendUInt32(UInt32(truncatingIfNeeded: string.utf8.count))
            bytes.append(contentsOf: string.utf8)
        case .unsupported:
            bytes.append(Marker.unsupported)
        }
    }

    private static func append(_ object: AMF0Object, to bytes: inout [UInt8]) {
        for entry in object.entries {
            append(key: entry.key, to: &bytes)
            append(entry.value, to: &bytes)
        }
        append(key: "", to: &bytes)
        bytes.append(Marker.objectEnd)
    }

    private static func append(key: String, to bytes: inout [UInt8]) {
        let length = key.utf8.count
        guard length > 0xFFFF else {
            bytes.appendUInt16(UInt16(length))
            bytes.append(contentsOf: key.utf8)
            return
        }
        // Only a repaired key can be so long: one invalid byte becomes the three of U+FFFD. Cut between characters.
        let text = Array(key.utf8)
        var end = 0xFFFF
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.appendUInt16(UInt16(end))
        bytes.append(contentsOf: text[..<end])
    }
}
