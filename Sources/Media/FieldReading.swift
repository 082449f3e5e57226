internal import Wire

/// The reads of `ByteReader` with this module's error.
extension ByteReader {
    mutating func uint8() throws(MediaError) -> UInt8 {
        do { return try readUInt8() } catch { throw .wire(error) }
    }

    mutating func uint16() throws(MediaError) -> UInt16 {
        do { return try readUInt16() } catch { throw .wire(error) }
    }

    mutating func uint24() throws(MediaError) -> UInt32 {
        do { return try readUInt24() } catch { throw .wire(error) }
    }

    mutating func uint32() throws(MediaError) -> UInt32 {
        do { return try readUInt32() } catch { throw .wire(error) }
    }

    mutating func bytes(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        do { return try readBytes(count) } catch { throw .wire(error) }
    }

    mutating func pass(_ count: Int) throws(MediaError) {
        do { try skip(count) } catch { throw .wire(error) }
    }
}
