import Testing
import Wire

@Suite struct PercentEncodingTests {
    @Test func `everything but the unreserved characters is encoded`() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode("a b/ü%\u{0}") == "a%20b%2F%C3%BC%25%00")
        #expect(PercentEncoding.encode("a b/ü", alsoAllowed: "/ ") == "a b/%C3%BC")
    }

    @Test(arguments: [("", ""), ("a+b", "a+b"), ("%C3%bc%2f%25", "ü/%"), ("%00", "\u{0}")])
    func `an escape is the byte that it names`(text: String, decoded: String) {
        #expect(PercentEncoding.decode(text) == decoded)
        #expect(PercentEncoding.decodeLeniently(text) == decoded)
    }

    @Test(arguments: [
        ("%", "%"), ("a%2", "a%2"), ("%2g", "%2g"), ("%+5", "%+5"), ("%%41", "%A"), ("%FF", "\u{FFFD}"),
        ("%C3", "\u{FFFD}"),
    ])
    func `a broken one makes nothing of the whole, or stands for itself`(text: String, lenient: String) {
        #expect(PercentEncoding.decode(text) == nil)
        #expect(PercentEncoding.decodeLeniently(text) == lenient)
    }
}
