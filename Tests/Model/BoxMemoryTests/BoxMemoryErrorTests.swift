import Database
import Testing

@testable import BoxMemory

@Suite struct BoxMemoryErrorTests {
    @Test(arguments: [BoxMemoryError.invalid(field: "x\u{1b}", why: "y"), .database(.busy(path: "/p"))])
    func `every error says what, why and what next, and is safe to print`(error: BoxMemoryError) {
        #expect(!error.what.isEmpty && !error.why.isEmpty && !error.hint.isEmpty)
        #expect("\(error)" == "\(error.what): \(error.why).\nNext: \(error.hint)")
        #expect(!"\(error)".contains("\u{1b}"))
    }
}
