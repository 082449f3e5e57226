import ErrorCatalog
import TestSupport
import Testing

@testable import APIServer

struct RequestTargetTests {
    @Test(arguments: [
        ("/", "/"), ("/api/v1/status", "/api/v1/status"), ("//api///v1/", "/api/v1"), ("/a%20b", "/a b"),
        ("/caf%C3%A9", "/café"), ("/a+b", "/a+b"), ("/...", "/..."), ("/%2e%2e%2e", "/..."),
        ("http://x/api/v1/status", "/api/v1/status"), ("HTTP://x:80/", "/"), ("/a#b", "/a"), ("/a%23b", "/a#b"),
        ("/%25", "/%"), ("/a%3Fb", "/a?b"),
    ])
    func `paths are decoded part by part`(text: String, path: String) throws {
        let target = try RequestTarget(text)
        #expect(target.path == path)
        #expect(target.query == [:])
    }

    @Test(arguments: [
        "", "*", "api", "https://x/", "http://x", "/..", "/a/../b", "/a/./b", "/%2e%2e/b", "/%2E./b", "/.%2e", "/%2e",
        "/a%2Fb", "/a%2fb", "/a%00b", "/a%0Ab", "/a%7F", "/%", "/%4", "/%zz", "/%C3", "/%FF", "/%ED%A0%80", "/a?b=%FF",
        "/a?b=%00", "/a?b=1&b=2", "/a?=&=", "/a?%",
    ])
    func `what names nothing is refused`(text: String) {
        do throws(CodedError) {
            Issue.record("\(text) became \(try RequestTarget(text))")
        } catch {
            #expect(error.code == .badRequest)
        }
    }

    @Test func `a query is a set of names and values`() throws {
        #expect(
            try RequestTarget("/a?b=1&c=&d&e=x%20y+z&f=g%3Dh%26i#x=1").query
                == ["b": "1", "c": "", "d": "", "e": "x y z", "f": "g=h&i"])
        #expect(try RequestTarget("/a?").query == [:])
        #expect(try RequestTarget("/a?b=http://x/?y").query == ["b": "http://x/?y"])
    }

    @Test func `64 parameters are the most`() throws {
        func target(_ count: Int) throws -> RequestTarget {
            try RequestTarget("/?" + (0..<count).map { "p\($0)=1" }.joined(separator: "&"))
        }
        #expect(try target(64).query.count == 64)
        #expect(throws: CodedError.self) { try target(65) }
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `any text is decoded or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("/%.?&=+#2eF0\u{0}é\u{7F}a".unicodeScalars)
        for _ in 0..<200 {
            var text = "/"
            for _ in 0..<Int.random(in: 0..<24, using: &random) {
                text.unicodeScalars.append(alphabet.randomElement(using: &random)!)
            }
            guard let target = try? RequestTarget(text) else { continue }
            let parts = target.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            #expect(target.path == "/" || parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }, "\(text)")
        }
    }
}
