import Testing
import Wire

@Suite struct ConcealedTests {
    private struct Key: Concealed {
        var secret = "hunter2"
        var description: String { "a key" }
    }

    @Test func `no textual form shows more than the description`() {
        let key = Key()
        var dumped = ""
        dump(["key": key], to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\([key])", dumped, "\(Optional(key) as Any)"] {
            #expect(text.contains("a key") && !text.contains(key.secret), "\(text)")
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}
