import TestSupport
import Testing
import XMLReader

@testable import ONVIF

struct MessageTests {
    static let profiles1 = """
        <trt:GetProfilesResponse><trt:Profiles token="P&amp;1" fixed="true"><tt:Name> main </tt:Name>
        <tt:VideoEncoderConfiguration token="V1"><tt:Name>V</tt:Name><tt:UseCount>1</tt:UseCount>
        <tt:Encoding>H264</tt:Encoding><tt:Resolution><tt:Width>1920</tt:Width><tt:Height>1080</tt:Height></tt:Resolution>
        <tt:Quality>4</tt:Quality><tt:RateControl><tt:FrameRateLimit>30</tt:FrameRateLimit>
        <tt:EncodingInterval>2</tt:EncodingInterval><tt:BitrateLimit>4096</tt:BitrateLimit></tt:RateControl>
        <tt:H264><tt:GovLength>60</tt:GovLength><tt:H264Profile>High</tt:H264Profile></tt:H264>
        <tt:Multicast><tt:Port>0</tt:Port></tt:Multicast><tt:SessionTimeout>PT60S</tt:SessionTimeout>
        </tt:VideoEncoderConfiguration><tt:PTZConfiguration token="PT"/></trt:Profiles>
        <trt:Profiles token="P2"/><trt:Profiles><tt:Name>no token</tt:Name></trt:Profiles></trt:GetProfilesResponse>
        """
    static let profiles2 = """
        <tr2:GetProfilesResponse><tr2:Profiles token="P1"><tr2:Name>main</tr2:Name><tr2:Configurations>
        <tr2:VideoEncoder token="V1" GovLength="50" Profile="Main"><tt:Name>V</tt:Name><tt:Encoding>H265</tt:Encoding>
        <tt:Resolution><tt:Width>3840</tt:Width><tt:Height>2160</tt:Height></tt:Resolution>
        <tt:RateControl ConstantBitRate="true"><tt:FrameRateLimit>12.5</tt:FrameRateLimit>
        <tt:BitrateLimit>8192</tt:BitrateLimit></tt:RateControl><tt:Quality>4</tt:Quality></tr2:VideoEncoder>
        </tr2:Configurations></tr2:Profiles></tr2:GetProfilesResponse>
        """

    @Test func `profiles of the old service`() throws {
        let profiles = MediaService.media.profiles(try response(Self.profiles1))
        #expect(profiles.map(\.token) == ["P&1", "P2"])
        #expect(profiles[0].name == "main")
        #expect(profiles[1].name == "P2")
        #expect(profiles[0].ptzConfiguration == "PT")
        let encoder = try #require(profiles[0].encoder)
        #expect(encoder.codec == "h264")
        #expect(encoder.size == FrameSize(width: 1920, height: 1080))
        #expect(encoder.rate == 15 && encoder.bitrate == 4_096_000 && encoder.gop == 60)
    }

    @Test func `profiles of the new service`() throws {
        let profile = try #require(MediaService.media2.profiles(try response(Self.profiles2)).first)
        #expect(profile.encoder?.codec == "hevc")
        #expect(profile.encoder?.rate == 12.5 && profile.encoder?.gop == 50)
        #expect(profile.ptzConfiguration == nil)
    }

    @Test(arguments: ["0", "-5", "x", "", "99999999999999999999999", "1e400", "NaN", "32769"])
    func `numbers that no camera has are not taken`(_ number: String) throws {
        let text = Self.profiles1.replacing("1920", with: number).replacing(">30<", with: ">\(number)<")
            .replacing("4096", with: number).replacing(">60<", with: ">\(number)<")
        let encoder = try #require(MediaService.media.profiles(try response(text)).first?.encoder)
        #expect(encoder.size == nil)
        #expect(encoder.rate == nil)
        #expect(encoder.bitrate == nil || number == "32769")
        #expect(encoder.gop == nil || number == "32769")
    }

    @Test func `a change leaves what it does not name, and keeps the schema's order`() throws {
        let encoder = try #require(MediaService.media.profiles(try response(Self.profiles1)).first?.encoder)
        let changed = encoder.changed(for: .media, rate: 25, bitrate: 2_000_000, gop: 25)
        let text = MediaService.media.setEncoderRequest(changed).envelope()
        #expect(text.contains("<trt:Configuration token=\"V1\"><tt:Name>V</tt:Name>"))
        #expect(text.contains("<tt:FrameRateLimit>25</tt:FrameRateLimit><tt:EncodingInterval>1</tt:EncodingInterval>"))
        #expect(text.contains("<tt:BitrateLimit>2000</tt:BitrateLimit>"))
        #expect(text.contains("<tt:GovLength>25</tt:GovLength><tt:H264Profile>High</tt:H264Profile>"))
        #expect(text.contains("</trt:Configuration><trt:ForcePersistence>true</trt:ForcePersistence>"))
        let again = try #require(
            MediaService.media.encoders(
                XMLElement(
                    name: "R",
                    children: [
                        XMLElement(name: "Configurations", attributes: changed.attributes, children: changed.children)
                    ]
                )
            ).first)
        #expect(again.size == encoder.size && again.rate == 25 && again.gop == 25)

        let other = encoder.changed(for: .media, codec: "mjpeg")
        #expect(other.child("H264") == nil && other.text("Encoding") == "JPEG")
        let back = EncoderConfiguration(token: "V1", name: "V", codec: "mjpeg", element: other).changed(
            for: .media, codec: "h264")
        let names = back.children.map(\.name)
        #expect(names.firstIndex(of: "H264").map { $0 < names.firstIndex(of: "Multicast")! } == true)

        let new = try #require(MediaService.media2.profiles(try response(Self.profiles2)).first?.encoder)
        let request = MediaService.media2.setEncoderRequest(
            new.changed(for: .media2, codec: "h264", rate: 12.5, gop: 30))
        #expect(request.envelope().contains("GovLength=\"30\""))
        #expect(!request.envelope().contains("Profile=\"Main\""))
        #expect(request.envelope().contains("<tt:Encoding>H264</tt:Encoding>"))
        #expect(!request.envelope().contains("ForcePersistence"))
    }

    @Test(arguments: [
        ("s:Sender/ter:NotAuthorized", "Sender not authorized", ONVIFFault.Kind.notAuthorized),
        ("s:Sender/wsse:FailedAuthentication", "", .notAuthorized),
        ("s:Sender/ter:NotAuthorized/ter:OperationProhibited", "", .forbidden),
        ("s:Receiver/ter:ActionNotSupported/ter:NoPTZ", "", .actionNotSupported),
        ("s:Sender/ter:InvalidArgVal/ter:NoProfile", "", .invalidArgument),
        ("s:Receiver/ter:Action/ter:OutofMemory", "", .busy),
        ("s:Sender", "Unauthorized user", .notAuthorized), ("s:Sender", "Method not implemented", .actionNotSupported),
        ("s:Receiver/ter:New", "what", .other), ("", "", .other),
    ])
    func `faults are read by their subcode`(_ codes: String, _ reason: String, _ kind: ONVIFFault.Kind) throws {
        var code = ""
        for value in codes.split(separator: "/").reversed() {
            let name = codes.hasPrefix("\(value)") ? "Code" : "Subcode"
            code = "<s:\(name)><s:Value>\(value)</s:Value>\(code)</s:\(name)>"
        }
        let text =
            "<s:Fault xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\">\(code)<s:Reason><s:Text>\(reason)</s:Text></s:Reason></s:Fault>"
        guard case .fault(let fault) = try answer(text) else {
            Issue.record("no fault")
            return
        }
        #expect(fault.kind == kind)
        #expect(fault.reason == reason)
    }

    @Test func `a fault of SOAP 1.1, and one that names itself in its detail`() throws {
        let old = try answer(
            "<s:Fault xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><faultcode>ter:NotAuthorized</faultcode><faultstring>no\u{9} entry</faultstring></s:Fault>"
        )
        #expect(old == .fault(ONVIFFault(kind: .notAuthorized, subcode: "NotAuthorized", reason: "no  entry")))
        let detail = try answer(
            "<SOAP-ENV:Fault><SOAP-ENV:Detail><w:ResourceUnknownFault xmlns:w=\"urn:w\"/></SOAP-ENV:Detail></SOAP-ENV:Fault>"
        )
        #expect(detail == .fault(ONVIFFault(kind: .resourceUnknown, subcode: "ResourceUnknownFault")))
        #expect(SOAPAnswer(XMLElement(name: "html")) == .notSOAP(reason: "the document is html, not a SOAP envelope"))
        #expect(SOAPAnswer(XMLElement(name: "Envelope")) == .notSOAP(reason: "the SOAP envelope has no body"))
    }

    @Test func `a reason from a device is short and printable`() throws {
        let long = String(repeating: "x", count: 5000) + "\u{85}"
        guard
            case .fault(let fault) = try answer(
                "<SOAP-ENV:Fault><faultstring>&#10;a&#9;\(long)</faultstring></SOAP-ENV:Fault>")
        else {
            Issue.record("no fault")
            return
        }
        #expect(fault.reason.unicodeScalars.count == 128)
        #expect(fault.reason.hasPrefix("a x"))
        let turned = try answer("<SOAP-ENV:Fault><faultstring>a&#x202E;b&#x200F;c</faultstring></SOAP-ENV:Fault>")
        guard case .fault(let other) = turned else {
            Issue.record("no fault")
            return
        }
        #expect(other.reason == "a b c")
    }

    @Test func `what a subscription's creation gave comes back with each message`() throws {
        let created = try response(
            """
            <tev:CreatePullPointSubscriptionResponse><tev:SubscriptionReference>
            <wsa5:Address>http://10.0.0.5/sub?a=1&amp;b=2</wsa5:Address><wsa5:ReferenceParameters>
            <k:Key xmlns:k="urn:k" k:n="1&lt;2">a &amp; b<k:Inner/></k:Key></wsa5:ReferenceParameters>
            </tev:SubscriptionReference></tev:CreatePullPointSubscriptionResponse>
            """)
        let subscription = try #require(EventMessages.Subscription(created))
        #expect(subscription.lifetime == nil)
        let text = EventMessages.pull(subscription.reference, seconds: 15).envelope(messageID: "urn:uuid:1")
        let header = try #require(try element(text).child("Header"))
        #expect(header.text("To") == "http://10.0.0.5/sub?a=1&b=2")
        #expect(header.text("MessageID") == "urn:uuid:1")
        #expect(
            header.text("Action") == "http://www.onvif.org/ver10/events/wsdl/PullPointSubscription/PullMessagesRequest")
        let key = try #require(header.child("Key"))
        #expect(key.namespace == "urn:k" && key.trimmedText == "a & b")
        #expect(key.attribute("n") == "1<2" && key.attributes.first?.namespace == "urn:k")
        #expect(key.child("Inner")?.namespace == "urn:k")
        #expect(text.contains("<tev:Timeout>PT15S</tev:Timeout>"))
    }

    @Test(arguments: [
        ("tns1:RuleEngine/CellMotionDetector/Motion", "IsMotion", "true", "motion", true),
        ("tns1:VideoSource/MotionAlarm", "State", "0", "motion", false),
        ("tns1:RuleEngine/TamperDetector/Tamper", "IsTamper", "1", "tamper", true),
        ("tns1:VideoSource/GlobalSceneChange/ImagingService", "State", "false", "tamper", false),
        ("tns1:Device/Trigger/DigitalInput", "LogicalState", "true", "digitalInput", true),
        ("tnsaxis:CameraApplicationPlatform/tnsaxis:Counter", "Count", "1", "Counter", nil as Bool?),
    ])
    func `events by what they mean`(_ topic: String, _ name: String, _ value: String, _ kind: String, _ isActive: Bool?)
        throws
    {
        let pulled = try response(
            """
            <tev:PullMessagesResponse><tev:CurrentTime>2026-11-22T03:45:00Z</tev:CurrentTime>
            <tev:TerminationTime>2026-11-22T03:46:00Z</tev:TerminationTime><wsnt:NotificationMessage>
            <wsnt:Topic Dialect="x">\(topic)</wsnt:Topic><wsnt:Message>
            <tt:Message UtcTime="2026-11-22T03:45:00Z" PropertyOperation="Changed"><tt:Source>
            <tt:SimpleItem Name="Rule" Value="R1"/></tt:Source><tt:Data><tt:SimpleItem Name="\(name)" Value="\(value)"/></tt:Data>
            </tt:Message></wsnt:Message></wsnt:NotificationMessage><wsnt:NotificationMessage/></tev:PullMessagesResponse>
            """)
        #expect(EventMessages.lifetime(pulled) == 60_000)
        #expect(
            EventMessages.notifications(pulled) == [
                EventNotification(
                    topic: topic, kind: kind, isActive: isActive, operation: .changed, time: 1_795_319_100_000,
                    source: ["Rule": "R1"])
            ])
    }

    @Test func `of one answer a hundred messages are taken`() throws {
        let message = "<NotificationMessage><Topic>a/b</Topic></NotificationMessage>"
        let many = try element("<R>" + String(repeating: message, count: 300) + "</R>")
        #expect(EventMessages.notifications(many).count == 100)
    }

    @Test func `every request is one line of well-formed XML`() throws {
        let name = "a<b>&\"c'\n\u{1}ü"
        let reference = EndpointReference(address: "http://h/\(name)")
        let requests = [
            DeviceInformation.clockRequest, DeviceInformation.request, DeviceServices.request,
            DeviceServices.oldRequest,
            MediaService.media.streamRequest(profile: name), MediaService.media2.streamRequest(profile: name),
            MediaService.media2.profilesRequest, MediaService.media.encoderOptionsRequest(encoder: name),
            PTZMessages.continuousMove(profile: name, panTilt: (.nan, -7), zoom: 1e-9, milliseconds: .max),
            PTZMessages.setPreset(name: name, token: name, profile: name), EventMessages.create(.afterSeconds(.max)),
            EventMessages.renew(reference, .at(.max)), EventMessages.unsubscribe(reference),
        ]
        for request in requests {
            let text = request.envelope()
            #expect(!text.contains("\n"))
            let body = try #require(try element(text).child("Body")?.children.first)
            #expect(body.name == request.operation)
        }
        let move = requests[8].envelope()
        #expect(move.contains("<tt:PanTilt x=\"0.0000\" y=\"-1.0000\"/><tt:Zoom x=\"0.0000\"/>"))
    }

    @Test func `every prefix and every flipped bit of an answer is an error or a value`() {
        for text in [Self.profiles1, Self.profiles2] {
            let bytes = Array("<E xmlns:trt=\"a\" xmlns:tr2=\"b\" xmlns:tt=\"c\">\(text)</E>".utf8)
            for end in bytes.indices { read(bytes[..<end]) }
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1 << UInt8(index % 8)
                read(flipped[...])
            }
        }
    }

    @Test(arguments: 0..<20)
    func `elements at random are an error or a value`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let names = [
            "Envelope", "Body", "Fault", "Profiles", "VideoEncoderConfiguration", "Options", "SystemDateAndTime",
            "UTCDateTime", "Time", "Date", "Hour", "Year", "NotificationMessage", "Topic", "Message", "Data",
            "SimpleItem",
            "Encoding", "Resolution", "Width", "Height", "RateControl", "H264", "GovLengthRange", "Min", "Max",
            "Service", "XAddr",
        ]
        let texts = ["", "0", "-1", "9223372036854775807", "1e309", "nan", "H264", "http://[::1", "\u{0}\u{FFFF}"]
        func make(_ depth: Int) -> XMLElement {
            XMLElement(
                name: names.randomElement(using: &random)!,
                attributes: ["token", "Name", "Value", "GovLengthRange", "UtcTime"].map {
                    XMLElement.Attribute(name: $0, value: texts.randomElement(using: &random)!)
                }, children: depth == 0 ? [] : (0..<4).map { _ in make(depth - 1) },
                text: texts.randomElement(using: &random)!)
        }
        for _ in 0..<50 { use(make(4)) }
    }

    private func read(_ bytes: ArraySlice<UInt8>) {
        guard let root = try? XMLReader.parse(bytes) else { return }
        use(root)
        for child in root.children { use(child) }
    }

    /// Everything that reads an element.
    private func use(_ element: XMLElement) {
        _ = SOAPAnswer(element)
        _ = SOAPAnswer(XMLElement(name: "Envelope", children: [XMLElement(name: "Body", children: [element])]))
        let answer = SystemDateAndTime(element)
        #expect(!ClockCandidates(answer: answer, date: element.text, own: 0).readings.isEmpty)
        for service in MediaService.allCases {
            for profile in service.profiles(element) {
                guard let encoder = profile.encoder else { continue }
                let changed = encoder.changed(for: service, codec: "h264", rate: 1e9, bitrate: .max, gop: .max)
                #expect((try? self.element(service.setEncoderRequest(changed).envelope())) != nil)
            }
            _ = service.encoders(element)
            _ = service.address(element)
        }
        _ = EncoderOptions.parse(element)
        _ = DeviceServices(element)
        _ = DeviceInformation(element)
        _ = DeviceInformation.hardwareAddress(element)
        _ = DeviceInformation.endpoint(element)
        _ = PTZMessages.presets(element)
        _ = PTZMessages.position(element)
        _ = EventMessages.Subscription(element)
        #expect(EventMessages.notifications(element).count <= EventMessages.messageLimit)
        _ = EventMessages.lifetime(element)
    }

    private func element(_ text: String) throws -> XMLElement { try XMLReader.parse(Array(text.utf8)[...]) }
}
