internal import Wire

/// `ByteReader` with this module's error.
struct FieldReader {
    private var reader: ByteReader

    init(_ bytes: ArraySlice<UInt8>) {
        reader = ByteReader(bytes)
    }

    var offset: Int { reader.offset }
    var remaining: Int { reader.remaining }

    mutating func byte() throws(NanoTDFError) -> UInt8 {
        do { return try reader.readUInt8() } catch { throw .wire(error) }
    }

    /// Big-endian.
    mutating func uint16() throws(NanoTDFError) -> Int {
        do { return Int(try reader.readUInt16()) } catch { throw .wire(error) }
    }

    /// Big-endian.
    mutating func uint24() throws(NanoTDFError) -> UInt32 {
        do { return try reader.readUInt24() } catch { throw .wire(error) }
    }

    /// Big-endian.
    mutating func uint32() throws(NanoTDFError) -> UInt32 {
        do { return try reader.readUInt32() } catch { throw .wire(error) }
    }

    mutating func bytes(_ count: Int) throws(NanoTDFError) -> ArraySlice<UInt8> {
        do { return try reader.readBytes(count) } catch { throw .wire(error) }
    }

    mutating func rest() -> ArraySlice<UInt8> { reader.readRemaining() }

    func finish() throws(NanoTDFError) {
        do { try reader.finish() } catch { throw .wire(error) }
    }
}
