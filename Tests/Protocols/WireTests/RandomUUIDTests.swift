import TestSupport
import Testing
import Wire

@Suite struct RandomUUIDTests {
    @Test func `it is a version 4 UUID and differs each time`() {
        var generator = SeededGenerator(seed: 1)
        let identifier = RandomUUID(using: &generator)
        let text = identifier.description
        #expect(text.count == 36)
        #expect(text[text.index(text.startIndex, offsetBy: 14)] == "4")
        #expect("89ab".contains(text[text.index(text.startIndex, offsetBy: 19)]))
        #expect(RandomUUID() != RandomUUID())
    }

    @Test func `its digits stand in groups of 8, 4, 4, 4 and 12`() throws {
        let identifier = RandomUUID()
        let groups = identifier.description.split(separator: "-")
        #expect(groups.map(\.count) == [8, 4, 4, 4, 12])
        #expect(try Hexadecimal.decode(groups.joined()) == identifier.bytes)
    }
}
