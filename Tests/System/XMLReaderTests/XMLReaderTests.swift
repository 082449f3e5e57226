import ONVIF
import Testing

@testable import XMLReader

@Suite struct XMLReaderTests {
    private func parse(_ text: String) throws(XMLReaderError) -> XMLElement {
        try XMLReader.parse(Array(text.utf8)[...])
    }

    @Test func `elements come with namespace, attributes, children and text`() throws {
        let root = try parse(
            """
            <?xml version="1.0" encoding="utf-8"?>
            <!-- a comment -->
            <SOAP-ENV:Envelope xmlns:SOAP-ENV="http://www.w3.org/2003/05/soap-envelope" xmlns="urn:default">
            <a SOAP-ENV:role="x" plain='y'/><?target data?>two<b xmlns="urn:inner"><c/></b>
            three</SOAP-ENV:Envelope>
            <!-- another -->
            """)
        #expect(root.namespace == "http://www.w3.org/2003/05/soap-envelope")
        #expect(root.name == "Envelope")
        #expect(root.attributes.isEmpty)
        #expect(root.text == "\ntwo\nthree")
        #expect(root.children.map(\.name) == ["a", "b"])
        #expect(root.children.map(\.namespace) == ["urn:default", "urn:inner"])
        #expect(root.children[1].children == [XMLElement(namespace: "urn:inner", name: "c")])
        #expect(
            root.children[0].attributes == [
                .init(namespace: "http://www.w3.org/2003/05/soap-envelope", name: "role", value: "x"),
                .init(name: "plain", value: "y"),
            ])
    }

    @Test func `references and CDATA are what they stand for`() throws {
        let root = try parse(
            "<a b=\"&amp;&lt;&gt;&quot;&apos;&#38;&#x41;\">&amp;&lt;&#xE9;<![CDATA[<&amp;]]>&#x1F4F7;</a>")
        #expect(root.attributes.first?.value == "&<>\"'&A")
        #expect(root.text == "&<é<&amp;📷")
    }

    @Test func `an address with a query comes whole`() throws {
        let root = try parse("<Uri>rtsp://10.0.0.1/a?x=1&amp;y=2&amp;amp;z</Uri>")
        #expect(root.text == "rtsp://10.0.0.1/a?x=1&y=2&amp;z")
    }

    @Test(
        arguments: [
            [0xEF, 0xBB, 0xBF], Array("\r\n\n ".utf8), [0], [0xEF, 0xBB, 0xBF, 0x0A],
        ] as [[UInt8]])
    func `what devices put around a document is skipped`(around: [UInt8]) throws {
        let bytes = around + Array("<?xml version='1.0'?><a>b</a>".utf8) + Array("\n\0\0 ".utf8)
        #expect(try XMLReader.parse(bytes[...]) == XMLElement(name: "a", text: "b"))
    }

    @Test func `a slice is read from its own beginning`() throws {
        let bytes = Array("xx<a/>yy".utf8)
        #expect(try XMLReader.parse(bytes[2..<6]) == XMLElement(name: "a"))
    }

    @Test(arguments: ["utf-16", "gb2312", "iso-8859-1", "UCS-4", "nonsense"])
    func `bytes are UTF-8, whatever they declare`(encoding: String) throws {
        #expect(try parse("<?xml version='1.0' encoding='\(encoding)'?><a>é</a>").text == "é")
    }

    @Test func `what is not UTF-8 is replaced`() throws {
        let bytes: [UInt8] = Array("<a b='".utf8) + [0xE9, 0xFF] + Array("'>caf".utf8) + [0xE9] + Array("</a>".utf8)
        let root = try XMLReader.parse(bytes[...])
        #expect(root.text == "caf\u{FFFD}")
        #expect(root.attributes.first?.value == "\u{FFFD}\u{FFFD}")
    }

    @Test func `an undeclared prefix is left out`() throws {
        let root = try parse("<x:a y:b='c'><x:d/></x:a>")
        #expect(root == XMLElement(name: "a", attributes: [.init(name: "b", value: "c")], children: [.init(name: "d")]))
    }

    @Test(arguments: [
        "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
        "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "<?xml version='1.0'?>\n<!DOCTYPE a><a/>",
        "<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://127.0.0.1/'> %b;]><a/>", "<!doctype html><html></html>",
        "<a><!DOCTYPE b></a>", "<!ELEMENT a ANY><a/>", "<a><!b></a>",
    ])
    func `a document type is refused`(text: String) {
        guard case .forbidden = failure(text) else {
            Issue.record("\(String(describing: failure(text)))")
            return
        }
    }

    @Test func `entities that multiply are refused before they do`() {
        var text = "<!DOCTYPE a [<!ENTITY e0 'lol'>"
        for index in 1...9 {
            text += "<!ENTITY e\(index) '\(String(repeating: "&e\(index - 1);", count: 10))'>"
        }
        guard case .forbidden = failure(text + "]><a>&e9;</a>") else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `what only looks like a document type is text`() throws {
        let root = try parse("<!-- <!DOCTYPE a> --><a b='&lt;!DOCTYPE'><![CDATA[<!DOCTYPE a>]]><?p <!DOCTYPE a>?></a>")
        #expect(root.text == "<!DOCTYPE a>")
        #expect(root.attributes.first?.value == "<!DOCTYPE")
    }

    private func failure(_ text: String, _ limits: XMLReader.Limits = .init()) -> XMLReaderError? {
        do throws(XMLReaderError) {
            _ = try XMLReader.parse(Array(text.utf8)[...], limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "", " \n", "a", "<", "<a", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>b", "<a b></a>", "<a b='1' b='2'/>",
        "<a>&b;</a>", "<a b='&c;'/>", "<a>&#0;</a>", "<a>\u{1}</a>", "<a b='<'/>", "<a><![CDATA[</a>", "<!-- <a/>",
        "<?a <a/>", "<a b='", "<a>]]></a>", "<1/>", "<a:b:c xmlns:a='x'/>x", "HTTP/1.1 200 OK", "{\"a\": 1}",
    ])
    func `what is not well-formed is an error with a reason`(text: String) {
        guard case .malformed(let line, _, let reason)? = failure(text) else {
            Issue.record("\(String(describing: failure(text)))")
            return
        }
        #expect(line >= 1)
        #expect(!reason.isEmpty)
        #expect(reason.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    }

    @Test func `an error names line, column and cause`() {
        let error = failure("\n\n<a>\n  <b></c>\n</a>")
        guard case .malformed(let line, let column, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(line == 4)
        #expect(column > 2)
        #expect(reason.contains("mismatch"))
        #expect(error?.description.hasPrefix("not well-formed XML at line 4, column \(column): ") == true)
        #expect(failure("<a>\n <!DOCTYPE b></a>") == .forbidden(line: 2, column: 2, reason: "it has a document type"))
    }

    @Test func `documents are read at the same time`() async {
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let text = "<a xmlns='urn:\(index)'>" + String(repeating: "<b c='\(index)'/>", count: 200) + "</a>"
                    let root = try? XMLReader.parse(Array(text.utf8)[...])
                    return root?.namespace == "urn:\(index)" && root?.children.count == 200
                        && root?.children.last?.attributes.first?.value == "\(index)"
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
