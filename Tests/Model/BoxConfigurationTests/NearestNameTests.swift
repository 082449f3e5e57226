import Testing

@testable import BoxConfiguration

struct NearestNameTests {
    @Test(arguments: [
        ("bitrat", "bitrate"), ("bitrtae", "bitrate"), ("bitrrate", "bitrate"), ("butrate", "bitrate"),
        ("siez", "size"),
        ("rotate-seconds", "rotate_seconds"), ("Rotate_Seconds", "rotate_seconds"), ("gp", "gop"), ("surce", "source"),
    ])
    func `one slip of the pen is understood`(written: String, meant: String) {
        #expect(NearestName.nearest(written, in: KeyTable.camera.keys.map(\.name)) == meant)
    }

    @Test func `what is too far away is not guessed`() {
        let names = KeyTable.camera.keys.map(\.name)
        for name in ["", "x", "colour", "framerate", String(repeating: "a", count: 100_000), "📷📷📷"] {
            #expect(NearestName.nearest(name, in: names) == nil, "\(name.prefix(20))")
        }
        #expect(NearestName.nearest("a", in: []) == nil)
        #expect(NearestName.nearest("relay", in: [String(repeating: "relay", count: 100_000)]) == nil)
    }

    @Test func `of two that are equally near the first by letter is named`() {
        #expect(NearestName.nearest("cat", in: ["rat", "bat"]) == "bat")
    }
}
