internal import Wire

/// The reads of `ByteReader` with this module's error.
extension ByteReader {
    mutating func uint8() throws(AMF0Error) -> UInt8 {
        do { return try readUInt8() } catch { throw .wire(error) }
    }

    mutating func uint16() throws(AMF0Error) -> UInt16 {
        do { return try readUInt16() } catch { throw .wire(error) }
    }

    mutating func uint32() throws(AMF0Error) -> UInt32 {
        do { return try readUInt32() } catch { throw .wire(error) }
    }

    mutating func uint64() throws(AMF0Error) -> UInt64 {
        do { return try readUInt64() } catch { throw .wire(error) }
    }

    mutating func bytes(_ count: Int) throws(AMF0Error) -> ArraySlice<UInt8> {
        do { return try readBytes(count) } catch { throw .wire(error) }
    }

    mutating func pass(_ count: Int) throws(AMF0Error) {
        do { try skip(count) } catch { throw .wire(error) }
    }
}
