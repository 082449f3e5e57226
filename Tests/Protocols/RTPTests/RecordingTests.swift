import Media
import RTP
import TestSupport
import Testing

/// What ffmpeg 5.1.9 and GStreamer 1.22.0 send.
struct RecordingTests {
    @Test(arguments: Recording.names)
    func `a recording gives what the sender's encoder put in`(name: String) throws {
        let recording = try Recording(name)
        var track = recording.track()
        let units = recording.packets.flatMap { track.received($0) }
        #expect(recording.comparable(units) == recording.units)
        #expect(recording.units.allSatisfy { !$0.data.isEmpty })
        #expect(track.statistics.packets == UInt64(recording.packets.count))
        #expect(track.statistics.discarded == 0 && track.statistics.lost == 0 && track.statistics.damaged == 0)
        #expect(!track.needsKeyFrame)
    }

    @Test(arguments: Recording.videoNames)
    func `the format comes with the first picture and only there`(name: String) throws {
        let recording = try Recording(name)
        var track = recording.track()
        let units = recording.packets.flatMap { track.received($0) }
        let format = try #require(units.first?.format)
        #expect(format.width == 96 && format.height == 64)
        #expect(format.codec == (name.contains("hevc") ? .hevc : .h264))
        #expect(units.dropFirst().allSatisfy { $0.format == nil })
    }

    @Test(arguments: ["ffmpeg-h264", "ffmpeg-h264-slices-b-frames", "gstreamer-h264", "gstreamer-hevc"])
    func `every unit is out with its last packet`(name: String) throws {
        let recording = try Recording(name)
        var track = recording.track()
        for (index, packet) in recording.packets.enumerated() {
            let units = track.received(packet, at: UInt64(index))
            let isMarked = packet[1] & 0x80 != 0
            #expect(units.count == (isMarked ? 1 : 0))
            #expect(units.allSatisfy { $0.arrival == UInt64(index) })
        }
    }

    @Test(arguments: Recording.names)
    func `without any one packet nothing wrong comes out`(name: String) throws {
        let recording = try Recording(name)
        for missing in recording.packets.indices.dropFirst().dropLast() {
            var track = recording.track()
            var units: [EncodedUnit] = []
            for (index, packet) in recording.packets.enumerated() where index != missing {
                let new = track.received(packet)
                // Behind the gap a decoder begins again.
                if index > missing, Recording.videoNames.contains(name) {
                    let isFirst = !units.contains { $0.arrival == 1 }
                    if isFirst, let first = new.first { #expect(first.isKeyFrame) }
                }
                units += new.map {
                    var unit = $0
                    unit.arrival = index > missing ? 1 : 0
                    return unit
                }
            }
            let expected = recording.units.map(\.data)
            for unit in recording.comparable(units) { #expect(expected.contains(unit.data)) }
            #expect(track.statistics.lost == 1)
        }
    }

    @Test(arguments: Recording.names, [1, 2, 3])
    func `packets that overtake each other are put into order`(name: String, seed: UInt64) throws {
        let recording = try Recording(name)
        var random = SeededGenerator(seed: seed)
        var packets = recording.packets
        // The first one stays: nothing says that there is one before.
        for index in stride(from: 1, to: packets.count - 4, by: 4) {
            packets[index..<(index + 4)].shuffle(using: &random)
        }
        var track = recording.track(reorders: true)
        var units = packets.flatMap { track.received($0) }
        units += track.ticked(at: 0)
        #expect(recording.comparable(units) == recording.units)
        #expect(track.statistics.lost == 0)
        if packets != recording.packets { #expect(track.statistics.reordered > 0) }
    }

    @Test(arguments: Recording.names)
    func `packets that come twice count once`(name: String) throws {
        let recording = try Recording(name)
        for reorders in [false, true] {
            var track = recording.track(reorders: reorders)
            let units = recording.packets.flatMap { track.received($0) + track.received($0) }
            #expect(recording.comparable(units) == recording.units)
            #expect(track.statistics.discarded == UInt64(recording.packets.count))
        }
    }

    @Test(arguments: Recording.videoNames)
    func `without marker bits the same comes out`(name: String) throws {
        let recording = try Recording(name)
        var track = recording.track()
        var units = recording.packets.flatMap { packet in
            var packet = packet
            packet[1] &= 0x7F
            return track.received(packet)
        }
        units += track.ticked(at: second)
        #expect(recording.comparable(units) == recording.units)
        #expect(track.statistics.damaged == 0)
    }

    @Test(arguments: ["ffmpeg-h264", "ffmpeg-hevc", "gstreamer-h264", "ffmpeg-aac"])
    func `sender reports are kept`(name: String) throws {
        let recording = try Recording(name)
        var track = recording.track()
        _ = track.received(recording.packets[0], at: 5)
        for control in recording.controls { track.receivedControl(control[...], at: 7) }
        #expect(recording.controls.isEmpty == (track.senderReport == nil))
        if let report = track.senderReport {
            #expect(report.arrival == 7)
            let first = try RTPPacket.parse(recording.packets[0][...])
            // The report names the time of about the first packet.
            #expect(abs(Int32(bitPattern: report.timestamp &- first.timestamp)) < 90000)
            #expect(report.ntp >> 32 > 3_900_000_000)
        }
    }
}
