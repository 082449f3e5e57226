import RTSP
import TestSupport
import Testing

@testable import HTTPVideo

struct MultipartReaderTests {
    struct Camera: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var stream: StreamSample

        init(_ name: String, _ change: (inout StreamSample) -> Void) {
            testDescription = name
            stream = StreamSample()
            change(&stream)
        }
    }

    /// The ways in which cameras and programs write the same thing.
    static let cameras = [
        Camera("as RFC 2046 has it") { _ in },
        // espressif/arduino-esp32, app_httpd.cpp: the boundary comes behind each frame.
        Camera("ESP32-CAM") {
            $0.boundary = "123456789000000000000987654321"
            $0.delimiter = "\r\n--123456789000000000000987654321"
            $0.extra = ["X-Timestamp: 12.345678"]
            $0.behind = ""
        },
        Camera("dashes in the parameter, and no more before the part") { $0.boundary = "--frame" },
        Camera("dashes in the parameter, and two more before the part") {
            $0.boundary = "--myboundary"
            $0.delimiter = "----myboundary"
        },
        Camera("no dashes before the part") { $0.delimiter = "frame" },
        Camera("another boundary than announced") { $0.delimiter = "--something-else" },
        Camera("no boundary announced") { $0.boundary = nil },
        Camera("lines end with LF") {
            $0.lineEnd = "\n"
            $0.behind = "\n"
        },
        Camera("no length") { $0.length = nil },
        Camera("no length, no boundary announced") {
            $0.length = nil
            $0.boundary = nil
        },
        Camera("no type") { $0.type = nil },
        Camera("no headers") {
            $0.type = nil
            $0.length = nil
        },
        Camera("a length that is too short") { $0.length = { "\($0 - 20)" } },
        Camera("a length that is too long") { $0.length = { "\($0 + 2000)" } },
        Camera("a length of nothing") { $0.length = { _ in "0" } },
        Camera("a length that is not a number") { $0.length = { _ in "-1" } },
        Camera("a length that does not fit") { $0.length = { _ in "999999999999999999999" } },
        Camera("nothing between frame and boundary") { $0.behind = "" },
        Camera("two empty lines before the frame") { $0.extra = ["", ""] },
        Camera("no empty line before the frame") { $0.emptyLine = false },
        Camera("a length with a sign and blanks") { $0.length = { " +\($0)" } },
        Camera("zeros behind the frame, counted") {
            $0.length = { "\($0 + 6)" }
            $0.behind = "\0\0\0\0\0\0\r\n"
        },
        Camera("a preamble") { $0.before = "This is a stream.\r\nWait for it.\r\n" },
        Camera("an empty line first") { $0.before = "\r\n" },
        // Old ESP32 firmware, Tasmota (arendst/Tasmota#12376), yoursunny/esp32cam#67.
        Camera("the boundary behind each frame, and none before the first") {
            $0.before = "Content-Type: image/jpeg\r\nContent-Length: 4\r\n\r\n"
        },
        // AlexxIT/go2rtc#545
        Camera("dashes behind the boundary, too") { $0.delimiter = "--frame--" },
        Camera("the boundary twice") { $0.delimiter = "--frame\r\n--frame" },
        Camera("the end of all parts behind each one") { $0.behind = "\r\n--frame--\r\n" },
        Camera("image/jpg, capitals, blanks") {
            $0.type = "Image/JPG ; charset=binary"
            $0.extra = ["X-Frame :  1", "Cache-control:no-cache"]
        },
        Camera("a text part between the frames") {
            $0.before = "--frame\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello\r\n"
        },
    ]

    static let frames = [
        Sample.jpeg(1), Sample.jpeg(2, size: 150, thumbnail: true), Sample.jpeg(3, size: 500), Sample.jpeg(4),
    ]

    @Test(arguments: cameras)
    func `every frame comes as it was sent, wherever a read cuts`(camera: Camera) throws {
        let bytes = camera.stream.bytes(Self.frames)
        let whole = try Sample.read(bytes, boundary: camera.stream.boundary)
        #expect(whole.frames == Self.frames)
        #expect(whole.damaged == 0)
        for cut in 0...bytes.count {
            let found = try Sample.read(bytes, boundary: camera.stream.boundary, cuts: [cut])
            if found.frames != Self.frames { Issue.record("cut at \(cut): \(found.frames.count) frames") }
        }
        let single = try Sample.read(bytes, boundary: camera.stream.boundary, cuts: Array(0...bytes.count))
        #expect(single.frames == Self.frames)
    }

    @Test(arguments: cameras)
    func `a frame is there with its last byte`(camera: Camera) throws {
        var reader = MultipartReader(boundary: camera.stream.boundary)
        var stream = camera.stream
        stream.behind = ""
        let found = try reader.received(stream.bytes([Self.frames[0]])[...])
        #expect(found == [Self.frames[0]])
    }

    /// What hurts the stream costs the frame that it hurts, or its neighbour, and is the same for every cut.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `damage is the same wherever a read cuts`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let camera = Self.cameras[Int(random.next() % UInt64(Self.cameras.count))]
        var bytes: [UInt8] = []
        var stream = camera.stream
        for number in 0..<6 as Range<UInt64> {
            let jpeg = Sample.jpeg(seed &* 100 &+ number, size: 100 + Int(random.next() % 400))
            let isCut = random.next() % 3 == 0
            bytes += stream.bytes([isCut ? Sample.cut(jpeg, to: Int(random.next() % UInt64(jpeg.count))) : jpeg])
            stream.before = ""
        }
        for _ in 0..<(random.next() % 4) {
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        func outcome(_ cuts: [Int]) -> Result<[[UInt8]], RTSPFailure> {
            do { return .success(try Sample.read(bytes, boundary: camera.stream.boundary, cuts: cuts).frames) } catch {
                return .failure(error as? RTSPFailure ?? .notRTSP)
            }
        }
        let whole = outcome([])
        #expect(outcome(Array(0...bytes.count)) == whole, "\(camera.testDescription)")
        for _ in 0..<20 {
            let cuts = (0..<5).map { _ in Int(random.next() % UInt64(bytes.count)) }.sorted()
            #expect(outcome(cuts) == whole, "\(camera.testDescription), cuts \(cuts)")
        }
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `whatever comes, it reads or refuses`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let camera = Self.cameras[Int(seed) % Self.cameras.count]
        var bytes = camera.stream.bytes(Self.frames)
        for _ in 0..<(1 + random.next() % 40) {
            let place = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 4 {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.removeSubrange(place..<min(place + Int(random.next() % 50), bytes.count))
            case 2: bytes.insert(contentsOf: random.bytes(Int(random.next() % 50)), at: place)
            default: bytes[place] ^= 1 << UInt8(random.next() % 8)
            }
            if bytes.isEmpty { bytes = [0] }
        }
        do {
            let found = try Sample.read(bytes, boundary: camera.stream.boundary)
            for jpeg in found.frames {
                #expect(jpeg.starts(with: JPEGEnd.beginning) && jpeg.suffix(2) == [0xFF, 0xD9])
            }
        } catch {
            let text = "\(error)"
            #expect(text.contains("byte") || text.contains("headers"), "\(text)")
        }
    }

    // MARK: - Single cases

    @Test func `a boundary within the samples ends no frame whose length is right`() throws {
        let jpeg = Sample.jpeg(holding: "\r\n--frame\r\n")
        let stream = StreamSample()
        #expect(
            try Sample.read(stream.bytes([jpeg, Self.frames[0]]), boundary: "frame").frames == [
                jpeg, Self.frames[0],
            ])
    }

    @Test(arguments: [true, false])
    func `a frame that is cut off is left out, and those around it come`(hasLength: Bool) throws {
        var stream = StreamSample()
        if !hasLength { stream.length = nil }
        let whole = stream.bytes([Self.frames[0]])
        let second = Self.frames[2]
        if hasLength { stream.length = { _ in "\(second.count)" } }
        let bytes = whole + stream.bytes([Sample.cut(second, to: 200)]) + whole
        let found = try Sample.read(bytes, boundary: "frame")
        #expect(found.frames.first == Self.frames[0])
        #expect(found.frames.last == Self.frames[0])
        #expect(found.frames.count == 2)
        #expect(found.damaged == 1)
    }

    @Test func `a camera that never sends the end mark is understood`() throws {
        let bare = (0..<8 as Range<UInt64>).map { Array(Sample.jpeg($0).dropLast(2)) }
        let counted = StreamSample()
        // By its length each one is whole.
        let found = try Sample.read(counted.bytes(bare) + Array("--frame".utf8), boundary: "frame")
        #expect(found.frames == bare.map { $0 + [0xFF, 0xD9] })
        var endless = StreamSample()
        endless.length = nil
        // Three may have been cut off, and the fourth is how it is.
        let learned = try Sample.read(endless.bytes(bare) + Array("--frame".utf8), boundary: "frame")
        #expect(learned.frames == bare.dropFirst(3).map { $0 + [0xFF, 0xD9] })
        #expect(learned.damaged == 3)
    }

    @Test func `frames of a few bytes are ignored, and end the stream`() throws {
        let nothing = [UInt8]([0xFF, 0xD8, 0xFF, 0xD9])
        #expect(try Sample.read(nothing + nothing + Self.frames[0], boundary: "frame").frames == [Self.frames[0]])
        var reader = MultipartReader(boundary: "frame")
        let many = [[UInt8]](repeating: nothing, count: 1024).flatMap { $0 }
        #expect(throws: RTSPFailure.self) { for _ in 0..<300 { _ = try reader.received(many[...]) } }
    }

    /// Longer than all that may stand between two frames.
    private static func large(_ seed: UInt64) -> [UInt8] {
        Array(Sample.jpeg(seed).dropLast(2)) + [UInt8](repeating: 0x55, count: 5 << 18) + [0xFF, 0xD9]
    }

    private static func pieces(_ bytes: [UInt8], boundary: String?) throws -> (frames: [[UInt8]], damaged: UInt64) {
        try Sample.read(bytes, boundary: boundary, cuts: Array(stride(from: 0, to: bytes.count, by: 64 << 10)))
    }

    enum Breaking: CaseIterable {
        /// The rest is missing.
        case cut
        /// No marker where one belongs.
        case marker
    }

    @Test(
        arguments: Breaking.allCases,
        cameras.filter {
            [
                "as RFC 2046 has it", "ESP32-CAM", "no length", "no boundary announced",
                "no length, no boundary announced", "no headers",
            ].contains($0.testDescription)
        })
    func `a large frame that breaks costs itself alone`(breaking: Breaking, camera: Camera) throws {
        let (first, last) = (Self.large(1), Self.large(3))
        var hurt = Self.large(2)
        var stream = camera.stream
        // In front of a broken one the same length as of a whole one.
        if stream.length != nil { stream.length = { _ in "\(first.count)" } }
        switch breaking {
        case .cut: hurt.removeLast(64 << 10)
        case .marker: hurt[20] = 0
        }
        let found = try Self.pieces(stream.bytes([first, hurt, hurt, last]), boundary: stream.boundary)
        #expect(found.frames.map(\.count) == [first.count, last.count])
        #expect(found.frames == [first, last])
        #expect(found.damaged == 2)
    }

    @Test func `behind a broken frame's greatest length nothing is its rest`() throws {
        var reader = MultipartReader(boundary: nil)
        var hurt = Sample.jpeg(1)
        hurt[20] = 0
        _ = try reader.received(hurt[...])
        let piece = [UInt8](repeating: 0x55, count: 1 << 20)
        #expect(throws: RTSPFailure.self) { for _ in 0..<18 { _ = try reader.received(piece[...]) } }
    }

    @Test func `frames that are all cut off end the stream, and one whole one goes on`() throws {
        let cut = Sample.cut(Sample.jpeg(1), to: 200)
        let many = [[UInt8]](repeating: cut, count: MultipartReader.maxBroken).flatMap { $0 }
        // The next one's beginning shows that the last of them is cut off, too.
        let whole = Sample.jpeg(2)
        let found = try Sample.read(many + whole + many + whole, boundary: nil)
        #expect(found.frames == [whole, whole])
        #expect(found.damaged == UInt64(2 * MultipartReader.maxBroken))
        #expect(throws: RTSPFailure.malformed(position: many.count, reason: "256 frames in a row have no end")) {
            try Sample.read(many + cut + cut, boundary: nil)
        }
    }

    /// Streams that had every byte looked at again for each of the few before it.
    enum Worst: String, CaseIterable {
        case emptyParts, tinyFrames, thumbnails, lines, liesInALength, parts, segments

        func bytes(_ count: Int) -> [UInt8] {
            let size = count - 200
            let head = "--frame\r\nContent-Length: \(size)\r\n\r\n"
            // Not what a frame goes on with: only its length says where this ends.
            var bytes = Array(head.utf8) + [0xFF, 0xD8, 0xFF, 0]
            var unit: [UInt8]
            switch self {
            case .emptyParts: unit = Array("\r\n--frame\r\n\r\n".utf8)
            case .tinyFrames:
                bytes += Array("\r\n--frame\r\n\r\n".utf8)
                unit = [0xFF, 0xD8, 0xFF, 0xD9]
            case .thumbnails:
                bytes += Array("\r\n--frame\r\n\r\n".utf8)
                unit = Sample.jpeg(1, size: 110)
            case .lines:
                bytes += Array("\r\n--frame\r\n\r\n".utf8)
                unit = [0x0A]
            case .parts: unit = Array("\r\n--frame\r\n\r\n".utf8) + Sample.jpeg(1, size: 110)
            case .liesInALength:
                // Each one is walked up to the same place, and ends at the next one's boundary.
                bytes = []
                while bytes.count < count - 400 {
                    bytes += Array("\r\n--frame\r\nContent-Length: \(count - bytes.count - 100)\r\n\r\n".utf8)
                    bytes += [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 1, 1]
                }
                unit = [1]
            case .segments:
                bytes = []
                for left in stride(from: 60_000, to: 100, by: -6) {
                    bytes += [0xFF, 0xD8, 0xFF, 0xE0, UInt8(left >> 8), UInt8(left & 0xFF)]
                }
                bytes += [UInt8](repeating: 0xFF, count: 200) + [0xDA, 0, 2]
                bytes += [UInt8](repeating: 1, count: count - bytes.count - 8) + [0xFF, 0xE0, 0, 0]
                unit = [1]
            }
            while bytes.count < count { bytes += unit }
            return bytes
        }

        var boundary: String? { self == .segments ? nil : "frame" }
    }

    @Test(arguments: Worst.allCases)
    func `what a byte costs does not grow with how many there are`(worst: Worst) throws {
        for count in [1 << 20, 4 << 20] {
            var reader = MultipartReader(boundary: worst.boundary)
            let bytes = worst.bytes(count)
            do throws(RTSPFailure) {
                for begin in stride(from: 0, to: bytes.count, by: 64 << 10) {
                    let frames = try reader.received(bytes[begin..<min(begin + (64 << 10), bytes.count)])
                    #expect(frames.count <= MultipartReader.maxFrames)
                }
            } catch {
                // Some of them are refused, and that is as good.
            }
            #expect(reader.work <= 8 * bytes.count, "\(reader.work / bytes.count) steps for each byte")
        }
    }

    @Test func `a frame without samples is ignored`() throws {
        let stream = StreamSample()
        var hollow = Sample.jpeg(1)
        // Up to its scan, and then its end.
        hollow.removeSubrange((try #require(hollow.indices.first { hollow[$0...].starts(with: [0xFF, 0xDA]) }))...)
        hollow += [0xFF, 0xFE, 0, 60] + [UInt8](repeating: 1, count: 58) + [0xFF, 0xD9]
        let found = try Sample.read(stream.bytes([hollow, Self.frames[0], hollow]), boundary: "frame")
        #expect(found.frames == [Self.frames[0]])
        #expect(found.damaged == 2)
    }

    @Test func `parts of another codec are reported as that`() throws {
        var stream = StreamSample()
        stream.type = "video/x-h264"
        let bytes = stream.bytes((0..<40).map { _ in [UInt8](repeating: 0x41, count: 40_000) })
        #expect(throws: RTSPFailure.noSupportedMedia(offered: ["video/x-h264"])) {
            _ = try Sample.read(bytes, boundary: "frame")
        }
    }

    @Test func `what is too long is refused, with the place`() throws {
        var reader = MultipartReader(boundary: "frame")
        #expect(throws: RTSPFailure.self) {
            for _ in 0..<40 { _ = try reader.received([UInt8](repeating: 0x41, count: 64 << 10)[...]) }
        }
        reader = MultipartReader(boundary: "frame")
        let headers = "--frame\r\n" + String(repeating: "A: b\r\n", count: 65)
        #expect(throws: RTSPFailure.tooLong(what: "headers of a part", limit: 64)) {
            _ = try reader.received(Array(headers.utf8)[...])
        }
        reader = MultipartReader(boundary: "frame")
        let long = "--frame\r\n" + String(repeating: "A: " + String(repeating: "b", count: 900) + "\r\n", count: 10)
        #expect(throws: RTSPFailure.tooLong(what: "bytes of a part's headers", limit: 8192)) {
            _ = try reader.received(Array(long.utf8)[...])
        }
        reader = MultipartReader(boundary: "frame")
        _ = try reader.received(StreamSample().bytes([Sample.jpeg(1)])[...])
        let endless = Array(Sample.jpeg(1).dropLast(2))
        #expect(throws: RTSPFailure.tooLong(what: "bytes of a frame", limit: 16 << 20)) {
            _ = try reader.received((Array("--frame\r\n\r\n".utf8) + endless)[...])
            let more = [UInt8](repeating: 0x20, count: 1 << 20)
            for _ in 0..<20 { _ = try reader.received(more[...]) }
        }
    }
}
