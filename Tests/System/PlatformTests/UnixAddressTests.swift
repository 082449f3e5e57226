import Glibc
import Platform
import Testing

struct UnixAddressTests {
    /// `sun_path`, as much of it as the kernel is given.
    private func bytes(_ address: UnixAddress) -> [UInt8] {
        address.withSocketAddress { address, length in
            let all = UnsafeRawBufferPointer(start: address, count: Int(length))
            #expect(all.loadUnaligned(as: sa_family_t.self) == sa_family_t(AF_UNIX))
            return Array(all.dropFirst(MemoryLayout<sa_family_t>.size))
        }
    }

    @Test func `a path has 1 to 107 bytes, and is ended`() throws {
        #expect(bytes(try #require(UnixAddress(path: "/run/x"))) == Array("/run/x\0".utf8))
        #expect(bytes(try #require(UnixAddress(path: "x"))) == Array("x\0".utf8))
        #expect(bytes(try #require(UnixAddress(path: "@x"))) == Array("@x\0".utf8))
        let longest = String(repeating: "x", count: 107)
        #expect(bytes(try #require(UnixAddress(path: longest))).count == 108)
        for wrong in ["", longest + "x", "/run/\0x"] { #expect(UnixAddress(path: wrong) == nil) }
    }

    @Test func `an abstract name begins with NUL, and is not ended`() throws {
        #expect(bytes(try #require(UnixAddress("@name"))) == Array("\0name".utf8))
        #expect(UnixAddress("/run/x") == UnixAddress(path: "/run/x"))
        #expect(UnixAddress("@" + String(repeating: "x", count: 106)) != nil)
        for wrong in ["", "/", "@", "run/x", "@" + String(repeating: "x", count: 107), "@a\0b"] {
            #expect(UnixAddress(wrong) == nil)
        }
    }
}
