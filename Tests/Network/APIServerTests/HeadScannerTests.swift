import Testing

@testable import APIServer

struct HeadScannerTests {
    @Test(arguments: ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET /\n\n", "\r\n\nG\r\n\r\n", "a\r\r\n\r\r\n"])
    func `the empty line is found with its last byte, in one piece and in many`(text: String) {
        let bytes = Array(text.utf8)
        var whole = HeadScanner()
        let hasEnded = whole.ends(in: bytes)
        #expect(hasEnded)
        var drip = HeadScanner()
        var ends: [Bool] = []
        for byte in bytes { ends.append(drip.ends(in: [byte])) }
        #expect(ends == Array(repeating: false, count: bytes.count - 1) + [true])
    }
}
