import ONVIF
import Platform
import TestSupport
import Testing

@testable import Discovery

struct DeviceQuestionTests {
    private let address = SocketAddress(.ipv4(0x0A00_0005), port: 8554)

    private func verdict(_ question: DeviceQuestion, _ answer: String, isComplete: Bool = false)
        -> DeviceQuestion.Verdict
    {
        question.verdict(Array(answer.utf8), isComplete: isComplete)
    }

    @Test func `requests carry no credentials and name the device`() throws {
        let options = String(decoding: try #require(DeviceQuestion.rtsp.request(to: address)), as: UTF8.self)
        #expect(options.hasPrefix("OPTIONS rtsp://10.0.0.5:8554/ RTSP/1.0\r\n"))
        #expect(options.hasSuffix("\r\n\r\n"))
        let link = SocketAddress(.ipv6([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [9], zone: 1), port: 80)
        for question in [DeviceQuestion.onvif, .information(path: "/onvif/x")] {
            let request = String(decoding: try #require(question.request(to: link)), as: UTF8.self)
            #expect(request.hasPrefix("POST /onvif/"))
            #expect(
                request.contains("\r\nHost: [fe80::9%25lo]:80\r\n")
                    || request.contains("\r\nHost: [fe80::9%251]:80\r\n"))
            let body = request.split(separator: "\r\n\r\n").last.map(String.init) ?? ""
            #expect(request.contains("\r\nContent-Length: \(body.utf8.count)\r\n"))
            #expect(!request.contains("Authorization") && !request.contains("Security") && !body.contains("\n"))
        }
    }

    @Test func `five bytes decide whether it is RTSP`() {
        for text in ["", "R", "RTSP"] { #expect(verdict(.rtsp, text) == .undecided) }
        for text in ["HTTP/", "SSH-2.0-x\r\n", "r", "\0", "RTSQ/", "RTSPX", " RTSP/1.0 200 OK"] {
            #expect(verdict(.rtsp, text) == .other)
        }
        #expect(verdict(.rtsp, "RTSP/1.0 200 OK\r\n") == .rtsp(status: 200))
        #expect(verdict(.rtsp, "RTSP/1.0 401") == .rtsp(status: 401))
        #expect(verdict(.rtsp, "RTSP/1.0") == .undecided)
        #expect(verdict(.rtsp, "RTSP/1.0", isComplete: true) == .rtsp(status: nil))
        #expect(verdict(.rtsp, "RTSP", isComplete: true) == .other)
        #expect(verdict(.rtsp, "RTSP/" + String(repeating: "x", count: 60)) == .rtsp(status: nil))
    }

    private static func soap(_ body: String) -> String {
        "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body>\(body)</s:Body></s:Envelope>"
    }

    private static func http(_ status: Int, _ body: String, _ headers: String = "") -> String {
        "HTTP/1.1 \(status) X\r\nServer: x\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `only an envelope makes ONVIF of a web server`() {
        let answer = Self.soap("<GetSystemDateAndTimeResponse xmlns=\"http://www.onvif.org/ver10/device/wsdl\"/>")
        #expect(verdict(.onvif, Self.http(200, answer)) == .onvif)
        #expect(verdict(.onvif, Self.http(500, Self.soap("<s:Fault/>"))) == .onvif)
        #expect(verdict(.onvif, Self.http(200, "<html><body>Hello</body></html>")) == .other)
        #expect(verdict(.onvif, Self.http(401, "")) == .other)
        #expect(verdict(.onvif, "SSH-2.0-OpenSSH") == .other)
        #expect(verdict(.onvif, "RTSP/1.0 200 OK\r\n\r\n") == .other)
    }

    @Test func `a device reports who it is, or that it wants a login`() {
        let question = DeviceQuestion.information(path: "/onvif/device_service")
        let facts =
            "<GetDeviceInformationResponse><Manufacturer>ACME\u{7}</Manufacturer><Model>WB-1</Model><FirmwareVersion>2.0</FirmwareVersion><SerialNumber>SN1</SerialNumber></GetDeviceInformationResponse>"
            .replacing("\u{7}", with: "&#x202E;")
        guard case .information(let device) = verdict(question, Self.http(200, Self.soap(facts))) else {
            Issue.record("no information")
            return
        }
        #expect(device.manufacturer == "ACME ")
        #expect(device.model == "WB-1" && device.firmware == "2.0" && device.serial == "SN1")
        let code =
            "<s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value></s:Subcode></s:Code>"
        for status in [400, 401, 403, 500] {
            #expect(verdict(question, Self.http(status, Self.soap("<s:Fault>\(code)</s:Fault>"))) == .loginNeeded)
        }
        #expect(verdict(question, Self.http(401, "", "WWW-Authenticate: Digest realm=\"x\"\r\n")) == .loginNeeded)
        let old = "<s:Fault><faultcode>ter:NotAuthorized</faultcode></s:Fault>"
        #expect(verdict(question, Self.http(500, Self.soap(old))) == .loginNeeded)
        let otherName = code.replacing("ter:NotAuthorized", with: "wsse:FailedAuthentication")
        let words = "<s:Reason><s:Text>Authentication failed</s:Text></s:Reason>"
        for refusal in [otherName, words] {
            #expect(verdict(question, Self.http(400, Self.soap("<s:Fault>\(refusal)</s:Fault>"))) == .loginNeeded)
        }
        let unknown = code.replacing("NotAuthorized", with: "ActionNotSupported")
        #expect(verdict(question, Self.http(500, Self.soap("<s:Fault>\(unknown)</s:Fault>"))) == .other)
        #expect(verdict(question, Self.http(400, Self.soap("<s:Fault/>"))) == .other)
        #expect(verdict(question, Self.http(200, "hello")) == .other)
    }

    @Test func `an answer is read piece by piece, with a length, in chunks, or to the end`() {
        let body = "<a>\u{FC}</a>"
        let length = Self.http(200, body)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n4;x\r\n<a>\r\n".utf8.dropLast(2)
        let chunks =
            Array(chunked) + Array("\u{FC}".utf8.prefix(1)) + Array("\r\n5\r\n".utf8)
            + Array("\u{FC}".utf8.dropFirst()) + Array("</a>\r\n0\r\n\r\n".utf8)
        for bytes in [Array(length.utf8), chunks] {
            for count in 0..<bytes.count {
                let progress = HTTPAnswer.parse(Array(bytes[..<count]), isComplete: false)
                if case .complete(let early) = progress { #expect(early.body == Array(body.utf8)) }
                if case .notHTTP = progress { Issue.record("given up after \(count) bytes") }
            }
            #expect(
                HTTPAnswer.parse(bytes, isComplete: false) == .complete(HTTPAnswer(status: 200, body: Array(body.utf8)))
            )
        }
        let open = Array("HTTP/1.0 200 OK\n\nabc".utf8)
        #expect(HTTPAnswer.parse(open, isComplete: false) == .incomplete)
        #expect(HTTPAnswer.parse(open, isComplete: true) == .complete(HTTPAnswer(status: 200, body: Array("abc".utf8))))
        let interim = "HTTP/1.1 100 Continue\r\n\r\n" + length
        #expect(
            HTTPAnswer.parse(Array(interim.utf8), isComplete: false)
                == .complete(HTTPAnswer(status: 200, body: Array(body.utf8))))
        let endless = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 2000)
        #expect(HTTPAnswer.parse(Array(endless.utf8), isComplete: false) == .notHTTP)
    }

    @Test(arguments: [1, 2, 3, 4]) func `any answer is classified`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "HTTP/1.1 ", "200", " OK", "\r\n", "\r\n\r\n", "Content-Length: ", "99999999999999999999", "-1", "3",
            "Transfer-Encoding: chunked", "ffffffff", "7fffffffffffffff", "0", ";", "<s:Envelope>", "RTSP/", " ", "100",
            "\n",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            for question in [DeviceQuestion.rtsp, .onvif, .information(path: "/")] {
                _ = verdict(question, text)
                #expect(verdict(question, text, isComplete: true) != .undecided)
            }
        }
    }
}
