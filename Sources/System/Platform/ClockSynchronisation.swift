internal import Glibc

/// Whether the kernel's clock follows a time server, as adjtimex(2) reports when it is asked and changes nothing.
public enum ClockSynchronisation {
    /// False: nothing disciplines the clock. Nil when this process may not ask (`ProtectClock=` refuses the call).
    public static var isSynchronised: Bool? { state.map { $0 != timeError } }

    /// TIME_ERROR of timex.h.
    private static let timeError: CInt = 5
    /// More than `struct timex` has on any of our machines (208).
    private static let timexBytes = 512

    /// Swift's Glibc module does not have timex.h, so the function is looked up by its name. Its argument is all zero:
    /// `modes` 0, which only asks; the answer is the return value.
    private static var state: CInt? {
        guard let symbol = dlsym(nil, "adjtimex") else { return nil }
        typealias Function = @convention(c) (UnsafeMutableRawPointer) -> CInt
        let adjtimex = unsafeBitCast(symbol, to: Function.self)
        let state = withUnsafeTemporaryAllocation(byteCount: timexBytes, alignment: 16) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = buffer.baseAddress else { return CInt(-1) }
            return adjtimex(base)
        }
        return state >= 0 ? state : nil
    }
}
