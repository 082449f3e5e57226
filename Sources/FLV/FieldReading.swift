internal import Wire

/// The reads of `ByteReader` with this module's error.
extension ByteReader {
    mutating func uint8() throws(FLVError) -> UInt8 {
        do { return try readUInt8() } catch { throw .wire(error) }
    }

    mutating func uint16() throws(FLVError) -> UInt16 {
        do { return try readUInt16() } catch { throw .wire(error) }
    }

    mutating func uint24() throws(FLVError) -> UInt32 {
        do { return try readUInt24() } catch { throw .wire(error) }
    }

    mutating func int24() throws(FLVError) -> Int32 {
        do { return try readInt24() } catch { throw .wire(error) }
    }

    mutating func uint32() throws(FLVError) -> UInt32 {
        do { return try readUInt32() } catch { throw .wire(error) }
    }

    mutating func bytes(_ count: Int) throws(FLVError) -> ArraySlice<UInt8> {
        do { return try readBytes(count) } catch { throw .wire(error) }
    }

    mutating func pass(_ count: Int) throws(FLVError) {
        do { try skip(count) } catch { throw .wire(error) }
    }
}
