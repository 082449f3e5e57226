import Foundation
import Testing
import XMLReader

@testable import ONVIF

/// Answers as they came over the network, named by who sent them. `simulator` is Tests/Rigs/onvif/onvif-camera.py, whose
/// answers onvif-zeep-async reads by ONVIF's own schema.
struct RecordedAnswerTests {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    private func response(_ name: String) throws -> XMLElement {
        let bytes = Array(try Data(contentsOf: Self.directory.appending(path: "\(name).xml")))
        guard case .response(let element) = SOAPAnswer(try XMLReader.parse(bytes[...])) else { throw NotAResponse() }
        return element
    }

    @Test func `where the services are, in both forms`() throws {
        let new = DeviceServices(try response("simulator-GetServices"))
        #expect(new.media == "http://127.0.0.1:18899/onvif/media")
        #expect(new.media2 == "http://127.0.0.1:18899/onvif/media2")
        #expect(new.events == "http://127.0.0.1:18899/onvif/events")
        #expect(new.ptz == "http://127.0.0.1:18899/onvif/ptz")
        var old = DeviceServices(try response("simulator-GetCapabilities"))
        #expect(old.media2 == nil)
        old.media2 = new.media2
        #expect(old == new)
    }

    @Test func `profiles, by either service`() throws {
        let old = MediaService.media.profiles(try response("simulator-media-GetProfiles"))
        let new = MediaService.media2.profiles(try response("simulator-media2-GetProfiles"))
        #expect(old.map(\.token) == new.map(\.token))
        for (one, other) in zip(old, new) {
            #expect(one.name == other.name && one.ptzConfiguration == "PTZ1" && other.ptzConfiguration == "PTZ1")
            #expect(one.encoder?.codec == other.encoder?.codec && one.encoder?.size == other.encoder?.size)
            #expect(one.encoder?.rate == other.encoder?.rate && one.encoder?.bitrate == other.encoder?.bitrate)
            #expect(one.encoder?.gop == 50 && other.encoder?.gop == 50)
        }
    }

    @Test func `what encoders may be set to, by either service`() throws {
        let old = EncoderOptions.parse(try response("simulator-media-Options"))
        let new = EncoderOptions.parse(try response("simulator-media2-Options"))
        #expect(old.map(\.codec) == ["h264"])
        #expect(new.map(\.codec) == ["h264", "hevc"])
        #expect(old[0].sizes == new[0].sizes && old[0].sizes.count == 3)
        #expect(old[0].bitrates == 64_000...8_192_000 && new[0].bitrates == 64_000...8_192_000)
        #expect(old[0].gops == 1...250 && new[0].gops == 1...250)
        #expect(old[0].rates == 1...25 && new[0].rates == 5...25)
    }

    @Test(arguments: [
        ("tns1:VideoSource/MotionAlarm", "motion"), ("tns1:RuleEngine/CellMotionDetector/Motion", "motion"),
        ("tns1:RuleEngine/MyRuleDetector/PeopleDetect", "motion"), ("tns1:RuleEngine/PeopleDetector/People", "motion"),
        ("tns1:RuleEngine/MyRuleDetector/VehicleDetect", "motion"),
        ("tns1:Device/Trigger/DigitalInput", "digitalInput"),
        ("tns1:Device/tnsaxis:IO/DigitalInput", "digitalInput"),
        ("tns1:VideoSource/GlobalSceneChange/ImagingService", "tamper"),
        ("tns1:RuleEngine/TamperDetector/Tamper", "tamper"), ("tns1:Device/Trigger/Relay", "Relay"),
        ("tns1:RuleEngine/MyRuleDetector/Visitor", "Visitor"),
    ])
    func `topics of many makers, with the same meaning`(topic: String, kind: String) {
        #expect(EventNotification.kind(ofTopic: topic) == kind)
    }

    @Test func `the most specific name says where an event comes from`() {
        func name(_ source: [String: String]) -> String? {
            EventNotification(topic: "t", kind: "motion", source: source).sourceName
        }
        #expect(name(["InputToken": "In_1", "Rule": "R"]) == "In_1")
        #expect(name(["Rule": "R", "VideoSourceConfigurationToken": "VS1", "A": "x"]) == "VS1")
        #expect(name(["VideoSource": "", "Z": "z", "B": "b"]) == "b")
        #expect(name([:]) == nil)
    }

    @Test func `a subscription, its messages, presets and a fault`() throws {
        let created = try #require(EventMessages.Subscription(try response("simulator-CreatePullPointSubscription")))
        #expect(created.reference == EndpointReference(address: "http://127.0.0.1:18899/onvif/sub1"))
        #expect(created.lifetime == 60_000)
        let events = EventMessages.notifications(try response("simulator-PullMessages"))
        #expect(events.map(\.kind) == ["motion"])
        #expect(events.map(\.operation) == [.initialized])
        #expect(events.map(\.isActive) == [false])
        let presets = PTZMessages.presets(try response("simulator-GetPresets"))
        #expect(presets == [PTZMessages.Preset(token: "1", name: "Door")])
        let bytes = Array(try Data(contentsOf: Self.directory.appending(path: "simulator-Fault.xml")))
        let reason = "not implemented: GetNothing"
        #expect(
            SOAPAnswer(try XMLReader.parse(bytes[...]))
                == .fault(ONVIFFault(kind: .actionNotSupported, subcode: "ActionNotSupported", reason: reason)))
    }
}
