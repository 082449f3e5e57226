import AMF0
import Testing

@Suite struct ObjectTests {
    @Test func `the last of two equal names counts`() {
        let object = AMF0Object([.init(key: "a", value: .number(1)), .init(key: "a", value: .number(2))])
        #expect(object["a"] == .number(2))
        #expect(object["b"] == nil)
    }

    @Test func `setting keeps the order`() {
        var object: AMF0Object = ["a": .number(1), "b": .null]
        object["a"] = .number(3)
        object["c"] = .undefined
        #expect(object == ["a": .number(3), "b": .null, "c": .undefined])
        object["a"] = nil
        #expect(object == ["b": .null, "c": .undefined])
    }

    @Test func `values say what they are`() {
        #expect(AMF0Value.number(2).numberValue == 2)
        #expect(AMF0Value.string("2").numberValue == nil)
        #expect(AMF0Value.number(2).booleanValue == true)
        #expect(AMF0Value.number(0).booleanValue == false)
        #expect(AMF0Value.boolean(true).booleanValue == true)
        #expect(AMF0Value.null.booleanValue == nil)
        #expect(AMF0Value.string("a").stringValue == "a")
        #expect(AMF0Value.longString("a").stringValue == "a")
        #expect(AMF0Value.undefined.stringValue == nil)
        #expect(AMF0Value.object(["a": .null]).objectValue == ["a": .null])
        #expect(AMF0Value.ecmaArray(["a": .null]).objectValue == ["a": .null])
        #expect(AMF0Value.strictArray([]).objectValue == nil)
    }
}
