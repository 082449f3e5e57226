import Glibc
import Platform
import Testing

struct SystemMessageTests {
    @Test func `an errno has the system's text, and any other number has some`() {
        #expect(SystemMessage.text(ENOENT) == "No such file or directory")
        for number in [CInt.min, -1, 0, 9999, .max] { #expect(!SystemMessage.text(number).isEmpty) }
    }
}
