import ONVIF
import TestSupport
import Testing

@testable import XMLReader

@Suite(.timeLimit(.minutes(15)))
struct XMLReaderLimitTests {
    private func failure(_ text: String, _ change: (inout XMLReader.Limits) -> Void = { _ in }) -> XMLReaderError? {
        var limits = XMLReader.Limits()
        change(&limits)
        do throws(XMLReaderError) {
            _ = try XMLReader.parse(Array(text.utf8)[...], limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }

    private func attributes(_ count: Int) -> String {
        "<a " + (0..<count).map { "b\($0)=\">\" " }.joined() + "/>"
    }

    @Test func `each limit holds exactly`() {
        #expect(failure("<a>123</a>") { $0.bytes = 10 } == nil)
        #expect(failure("<a>1234</a>") { $0.bytes = 10 } == .limitExceeded(.bytes(10)))
        #expect(failure(nested(64)) == nil)
        #expect(failure(nested(65)) == .limitExceeded(.depth(64)))
        #expect(failure(nested(200)) { $0.depth = .max } == nil)
        #expect(failure(nested(201)) { $0.depth = .max } == .limitExceeded(.depth(200)))
        #expect(failure("<a><b/><b/></a>") { $0.elements = 3 } == nil)
        #expect(failure("<a><b/><b/><b/></a>") { $0.elements = 3 } == .limitExceeded(.elements(3)))
        #expect(failure(attributes(64)) == nil)
        #expect(failure(attributes(65)) == .limitExceeded(.attributes(64)))
        #expect(failure("<a b='12'>34<c>5</c></a>") { $0.textBytes = 5 } == nil)
        #expect(failure("<a b='12'>34<c>56</c></a>") { $0.textBytes = 5 } == .limitExceeded(.textBytes(5)))
    }

    private func declarations(_ count: Int, from first: Int = 0) -> String {
        (first..<(first + count)).map { " xmlns:n\($0)='u'" }.joined()
    }

    @Test func `namespaces in force at one place are limited`() {
        #expect(failure("<a\(declarations(128))/>") == nil)
        #expect(failure("<a\(declarations(129))/>") == .limitExceeded(.namespaces(128)))
        #expect(failure("<a\(declarations(100))><b\(declarations(28, from: 100))/></a>") == nil)
        #expect(failure("<a\(declarations(100))><b\(declarations(29))/></a>") == .limitExceeded(.namespaces(128)))
        for declaration in [" xmlns='u'", "\nxmlns = 'u'", "\txmlns:p\n=\"u\"", "\rxmlns:q='' "] {
            #expect(failure("<a\(declaration)/>") { $0.namespaces = 0 } == .limitExceeded(.namespaces(0)))
        }
        // Some devices declare again at each element.
        let row = "<b xmlns='urn:b'><c xmlns='urn:c'/></b>"
        #expect(failure("<a>" + String(repeating: row, count: 500) + "</a>") { $0.namespaces = 2 } == nil)
        let text = "<a xmlnsx='1' x:xmlns='2' y=' xmlns=' xmlns:x='u'> xmlns='u'</a>"
        #expect(failure(text) { $0.namespaces = 1 } == nil)
    }

    @Test func `namespaces on many levels are refused before libxml2 searches them`() {
        var text = (0..<64).map { "<a\(declarations(63, from: $0 * 63))>" }.joined()
        text += String(repeating: "<n0:b/>", count: 19_000) + String(repeating: "</a>", count: 64)
        #expect(failure(text) == .limitExceeded(.namespaces(128)))
    }

    @Test func `a long namespace is refused`() {
        for declaration in ["xmlns", "xmlns:p"] {
            #expect(failure("<a \(declaration)='\(String(repeating: "u", count: 512))'/>") == nil)
            let long = "<a \(declaration)='\(String(repeating: "u", count: 513))'>"
            #expect(failure(long + "</a>") == .limitExceeded(.namespaceBytes(512)))
            // What made gigabytes of 230 kilobytes.
            let bomb = "<a \(declaration)='\(String(repeating: "u", count: 150_000))'>"
            #expect(
                failure(bomb + String(repeating: "<b/>", count: 19_000) + "</a>")
                    == .limitExceeded(.namespaceBytes(512)))
        }
        #expect(failure("<a b='\(String(repeating: "u", count: 513))'/>") == nil)
    }

    @Test func `each namespace counts once as text`() {
        let text = "<a xmlns='urn:1' xmlns:p='urn:02' p:c='345'><b/><p:b/></a>"
        #expect(failure(text) { $0.textBytes = 14 } == nil)
        #expect(failure(text) { $0.textBytes = 13 } == .limitExceeded(.textBytes(13)))
    }

    @Test func `a name and a namespace are held once, however many elements have them`() throws {
        // Longer than what a String holds without memory of its own.
        let name = "GetDeviceInformationResponse"
        let attribute = "AttributeOfSomeLength"
        let namespace = "http://www.onvif.org/ver10/device/wsdl"
        let row = "<p:\(name) p:\(attribute)='1'/><\(name) \(attribute)='2'/>"
        let text = "<a xmlns='\(namespace)' xmlns:p='\(namespace)'>\(row)\(row)</a>"
        let root = try XMLReader.parse(Array(text.utf8)[...])
        #expect(root.children.count == 4)
        #expect(root.children.allSatisfy { $0.name == name && $0.namespace == namespace })
        #expect(Set(([root] + root.children).map { place($0.namespace) }).count == 1)
        #expect(Set(root.children.map { place($0.name) }).count == 1)
        let attributes = root.children.flatMap(\.attributes)
        #expect(Set(attributes.map { place($0.name) }).count == 1)
        #expect(Set(attributes.filter { !$0.namespace.isEmpty }.map { place($0.namespace) }) == [place(root.namespace)])
    }

    /// Where a String's characters lie.
    private func place(_ text: String) -> Int? {
        text.utf8.withContiguousStorageIfAvailable { Int(bitPattern: $0.baseAddress) }
    }

    @Test func `a datagram's limits are small, and hold what cameras send`() throws {
        func refusal(_ text: String) -> XMLReaderError? { failure(text) { $0 = .datagram } }
        #expect(refusal(String(repeating: " ", count: 65_533) + "<a/>") == .limitExceeded(.bytes(65_536)))
        #expect(refusal(nested(16)) == nil)
        #expect(refusal(nested(17)) == .limitExceeded(.depth(16)))
        #expect(refusal(attributes(16)) == nil)
        #expect(refusal(attributes(17)) == .limitExceeded(.attributes(16)))
        #expect(refusal("<a>" + String(repeating: "<b/>", count: 499) + "</a>") == nil)
        #expect(refusal("<a>" + String(repeating: "<b/>", count: 500) + "</a>") == .limitExceeded(.elements(500)))
        #expect(refusal("<a>" + String(repeating: "b", count: 16_384) + "</a>") == nil)
        #expect(refusal("<a>" + String(repeating: "b", count: 16_385) + "</a>") == .limitExceeded(.textBytes(16_384)))
        // A common manufacturer declares three dozen on each envelope.
        #expect(refusal("<a\(declarations(64))/>") == nil)
        #expect(refusal("<a\(declarations(65))/>") == .limitExceeded(.namespaces(64)))
    }

    @Test func `empty elements and ended ones do not add to the depth`() {
        let text = "<a>" + String(repeating: "<b><c/></b>", count: 100) + "</a>"
        #expect(failure(text) { $0.depth = 3 } == nil)
        #expect(failure(text) { $0.depth = 2 } == .limitExceeded(.depth(2)))
    }

    @Test(arguments: [Int.min, -1, 0])
    func `limits that allow nothing refuse everything`(limit: Int) {
        #expect(failure("<a/>") { $0.bytes = limit } == .limitExceeded(.bytes(limit)))
        #expect(failure("<a/>") { $0.depth = limit } == .limitExceeded(.depth(limit)))
        #expect(failure("<a/>") { $0.elements = limit } == .limitExceeded(.elements(limit)))
        #expect(failure("<a b='c'/>") { $0.attributes = limit } == .limitExceeded(.attributes(limit)))
        #expect(failure("<a>b</a>") { $0.textBytes = limit } == .limitExceeded(.textBytes(limit)))
    }

    @Test(arguments: [
        "<a>", "<a b='", "<a b='c' ", "&amp;", "</a>", "<!--", "<![CDATA[", "<a/>", "\u{0}", "<a xmlns:b='c' ",
    ])
    func `ten megabytes of one thing are refused`(piece: String) {
        let text = String(repeating: piece, count: 10_000_000 / piece.utf8.count)
        #expect(failure(text) == .limitExceeded(.bytes(1 << 20)))
        // Less of it, and all of that looked at.
        let part = "<x>" + text.prefix(500_000)
        #expect(failure(part) != nil)
        #expect(failure(String(text.prefix(500_000))) != nil)
    }

    @Test func `a document as large as allowed is read`() throws {
        let text = "<a>" + String(repeating: "<b>0123456789</b>", count: 19_999) + "</a>"
        #expect(try XMLReader.parse(Array(text.utf8)[...]).children.count == 19_999)
    }

    private static let answer = """
        <?xml version="1.0" encoding="UTF-8"?>
        <s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:tds="http://www.onvif.org/ver10/device/wsdl">
        <s:Body><!-- é --><tds:GetDeviceInformationResponse><tds:Manufacturer>Wätch &amp; Box</tds:Manufacturer>
        <tds:Model a="1" b='2'><![CDATA[C<1>]]></tds:Model></tds:GetDeviceInformationResponse></s:Body></s:Envelope>
        """

    @Test func `every beginning of a document is an error`() {
        let bytes = Array(Self.answer.utf8)
        for count in bytes.indices {
            #expect(throws: XMLReaderError.self) { try XMLReader.parse(bytes[..<count]) }
        }
        #expect(throws: Never.self) { try XMLReader.parse(bytes[...]) }
    }

    @Test func `every byte changed gives an error or a value`() {
        let bytes = Array(Self.answer.utf8)
        var values = 0
        for place in bytes.indices {
            for bit in [0, 2, 5] {
                var changed = bytes
                changed[place] ^= 1 << bit
                if (try? XMLReader.parse(changed[...])) != nil { values += 1 }
            }
            var cut = bytes
            cut.remove(at: place)
            if (try? XMLReader.parse(cut[...])) != nil { values += 1 }
        }
        #expect(values > 0)
    }

    @Test(arguments: UInt64(0)..<64)
    func `random documents never trap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "<a", ">", "/>", "</a>", "<b:c", " d='", "'", "\"", " xmlns='e'", "&amp;", "&#x", ";", "<!--", "-->",
            "<![CDATA[",
            "]]>", "<?", "?>", "<!", "text", "é", "\0", "\u{FFFE}", "=", " ", "\n", "xmlns:b=\"f\"",
        ]
        for _ in 0..<50 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                text += Array(pieces.randomElement(using: &generator)!.utf8)
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    text.append(UInt8.random(in: 0...255, using: &generator))
                }
            }
            if let root = try? XMLReader.parse(text[...]) { #expect(!root.name.isEmpty) }
            if let root = try? XMLReader.parse((Array("<r>".utf8) + text + Array("</r>".utf8))[...]) {
                #expect(root.name == "r")
            }
        }
    }
}
