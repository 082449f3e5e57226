import Foundation
import RTP
import Testing
import Wire

/// Packets of a real sender, beside what its encoder put into them (`Fixtures/record.py`).
struct Recording: Sendable {
    struct Unit: Equatable, CustomTestStringConvertible {
        var isKeyFrame: Bool
        /// From the first unit on.
        var ticks: Int64
        var data: [UInt8]

        var testDescription: String { "\(ticks)\(isKeyFrame ? " key" : ""): \(data.count)" }
    }

    var format = PayloadFormat.jpeg
    var payloadType: UInt8 = 0
    var clockRate = 90000
    var packets: [[UInt8]] = []
    var controls: [[UInt8]] = []
    var units: [Unit] = []

    static let names = [
        "ffmpeg-aac", "ffmpeg-aac-fragments", "ffmpeg-h264", "ffmpeg-h264-slices-b-frames", "ffmpeg-hevc",
        "ffmpeg-jpeg-420", "gstreamer-h264", "gstreamer-hevc", "gstreamer-jpeg", "gstreamer-jpeg-422",
        "gstreamer-pcmu",
    ]
    static let videoNames = names.filter { $0.contains("h264") || $0.contains("hevc") }

    init(_ name: String) throws {
        let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: directory.appending(path: "Fixtures/\(name).rtp"), encoding: .utf8)
        var sets: [[UInt8]] = []
        var formatName = ""
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            switch words[0] {
            case "format": formatName = words[1]
            case "rate": clockRate = try #require(Int(words[1]))
            case "type": payloadType = try #require(UInt8(words[1]))
            case "sets": sets = try words[1].split(separator: ",").map { try Hexadecimal.decode($0) }
            case "aac":
                let values = words[1].split(separator: ",")
                format = .aac(
                    configuration: try Hexadecimal.decode(values[0]), sizeLength: try #require(Int(values[1])),
                    indexLength: try #require(Int(values[2])), indexDeltaLength: try #require(Int(values[3])))
            case "packet": packets.append(try Hexadecimal.decode(words[1]))
            case "control": controls.append(try Hexadecimal.decode(words[1]))
            case "unit":
                units.append(
                    Unit(
                        isKeyFrame: words[1] == "1", ticks: try #require(Int64(words[2])),
                        data: formatName == "jpeg"
                            ? JPEGFile.essence(of: try Hexadecimal.decode(words[3]))
                            : try Hexadecimal.decode(words[3])))
            default: break
            }
        }
        switch formatName {
        case "h264": format = .h264(parameterSets: sets)
        case "hevc": format = .hevc(parameterSets: sets, hasDecodingOrder: false)
        case "pcmu": format = .pcmu
        default: break
        }
    }

    func track(reorders: Bool = false) -> RTPTrack {
        RTPTrack(
            RTPTrack.Configuration(
                format: format, payloadType: payloadType, clockRate: clockRate, reorders: reorders, ownSource: 1,
                name: "x"))
    }

    /// In the form of `units`.
    func comparable(_ units: [EncodedUnit]) -> [Unit] {
        units.map { unit in
            let ticks = Int64(Int32(bitPattern: unit.timestamp &- (units.first?.timestamp ?? 0)))
            let data = format == .jpeg ? JPEGFile.essence(of: unit.data) : unit.data
            return Unit(isKeyFrame: unit.isKeyFrame, ticks: ticks, data: data)
        }
    }
}
