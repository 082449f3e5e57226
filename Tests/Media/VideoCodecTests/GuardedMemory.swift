import Glibc

/// Bytes that end where a page without permissions begins: a read or write beyond ends the process.
final class GuardedMemory: Sendable {
    nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
    private nonisolated(unsafe) let start: UnsafeMutableRawPointer
    private let length: Int

    struct Refused: Error {}

    init(_ count: Int) throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let whole = (count + page - 1) / page * page
        length = whole + page
        guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { throw Refused() }
        start = memory
        bytes = UnsafeMutableRawBufferPointer(start: memory + (whole - count), count: count)
        guard mprotect(memory + whole, page, PROT_NONE) == 0 else { throw Refused() }
    }

    deinit {
        munmap(start, length)
    }
}
