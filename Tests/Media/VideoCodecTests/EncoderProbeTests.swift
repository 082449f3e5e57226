import Foundation
import Media
import Testing

@testable import VideoCodec

@Suite struct EncoderProbeTests {
    @Test(arguments: [(640, 360), (780, 360), (322, 182)])
    func `an encoder that encodes passes`(width: Int, height: Int) throws {
        let result = try EncoderProbe.run(encoder: "libx264", width: width, height: height, rate: 15, seconds: 0.5)
        #expect(result.works, "\(result.reason)")
        #expect(result.encoder == "libx264" && result.packets >= 8 && result.fps > 0)
        #expect(result.reason.contains("\(width)x\(height)"))
    }

    @Test func `an encoder that is not there, or has no device, fails with the reason`() throws {
        let missing = try EncoderProbe.run(encoder: "no_such_encoder", width: 640, height: 360, rate: 15)
        #expect(!missing.works && missing.reason.contains("not in this libavcodec"))
        let other = try EncoderProbe.run(encoder: "png", width: 640, height: 360, rate: 15)
        #expect(!other.works && other.reason.contains("not an encoder of H.264 or H.265"))
    }

    @Test func `a size that no encoder takes is refused`() {
        #expect(throws: VideoCodecError.invalid(.width, value: 7)) {
            try EncoderProbe.run(encoder: "libx264", width: 7, height: 360, rate: 15)
        }
    }

    @Test func `a frame whose rows were shifted is not taken for what went in`() throws {
        let scene = MovingScene(width: 780, height: 360)
        let intact = try scene.frame(4)
        let same = try scene.likeness(of: intact, to: 4)
        #expect(same == 99)
        // As a driver sees rows of 780 samples that lie 800 apart, when it believes in 832.
        var garbled = try VideoFrame(width: 780, height: 360, pixelFormat: .yuv420p)
        for plane in 0..<3 {
            let (width, height, have, believed) = plane == 0 ? (780, 360, 800, 832) : (390, 180, 400, 416)
            var memory = [UInt8](repeating: 0, count: believed * height)
            _ = intact.withPlane(plane) { bytes, stride in
                for row in 0..<height {
                    for column in 0..<width {
                        memory[row * have + column] = bytes.unsafeLoad(
                            fromByteOffset: row * stride + column, as: UInt8.self)
                    }
                }
            }
            garbled.withMutablePlane(plane) { bytes, stride in
                for row in 0..<height {
                    for column in 0..<width { bytes[row * stride + column] = memory[row * believed + column] }
                }
            }
        }
        let likeness = try scene.likeness(of: garbled, to: 4)
        #expect(likeness < 16)
        // Nor is the frame before, or one of another size.
        let others = try [
            scene.likeness(of: scene.frame(3), to: 4),
            scene.likeness(of: MovingScene(width: 640, height: 360).frame(4), to: 4),
        ]
        #expect(others[0] < 22 && others[1] == 0)
    }
}

@Suite struct EncoderProbeChildTests {
    private func run(_ script: String, deadline: Duration = .seconds(60)) -> EncoderProbeResult {
        EncoderProbeChild(executable: "/bin/sh", arguments: ["-c", script, "sh"], deadline: deadline)
            .run(encoder: "h264_v4l2m2m", width: 640, height: 360, rate: 15)
    }

    private func json(_ reason: String = "well", encoder: String = "h264_v4l2m2m") -> String {
        "{\\\"encoder\\\":\\\"\(encoder)\\\",\\\"works\\\":true,\\\"reason\\\":\\\"\(reason)\\\",\\\"packets\\\":15,\\\"fps\\\":90.5}"
    }

    @Test func `the child's answer is the result`() {
        let result = run("echo \"\(json())\"")
        #expect(
            result
                == EncoderProbeResult(encoder: "h264_v4l2m2m", works: true, reason: "well", packets: 15, fps: 90.5))
    }

    @Test func `the child is given what to probe`() {
        #expect(run("echo \"\(json("$*"))\"").reason == "--encoder h264_v4l2m2m --size 640x360 --rate 15")
    }

    @Test func `the child gets nothing of the environment but what programs need to run`() {
        let names = run("echo \"\(json("$(echo $(env | cut -d= -f1))"))\"").reason.split(separator: " ")
        // What a shell sets itself, too.
        let known: Set<Substring> = ["PATH", "LANG", "LD_LIBRARY_PATH", "TZ", "PWD", "OLDPWD", "SHLVL", "_"]
        #expect(names.contains("PATH"))
        #expect(names.filter { !known.contains($0) }.isEmpty)
    }

    @Test func `a child that does not answer is killed at its deadline`() {
        let result = run("trap '' TERM; exec sleep 600", deadline: .milliseconds(300))
        #expect(!result.works && result.reason == "did not answer within 0.3 s")
    }

    @Test func `a child that answers and does not end is killed, too`() {
        let result = run("echo \"\(json())\"; exec >&-; exec sleep 600", deadline: .milliseconds(300))
        #expect(!result.works && result.reason == "did not answer within 0.3 s")
    }

    @Test(arguments: [
        ("exit 3", "the probe ended with status 3 and without a result"),
        ("kill -SEGV $$", "the probe ended with signal 11 and without a result"),
        ("echo nonsense", "the probe ended with status 0 and without a result"),
        ("while :; do echo 0123456789012345678901234567890123456789; done", "the probe wrote more than 65536 bytes"),
    ])
    func `a child that fails says how`(script: String, reason: String) {
        let result = run(script)
        #expect(!result.works && result.reason == reason)
    }

    @Test func `an answer for another encoder is ignored`() {
        #expect(!run("echo \"\(json(encoder: "libx264"))\"").works)
    }

    @Test func `what the child says cannot break a line, and is not long`() {
        let long = run("echo \"\(json("a\\\\\\\\nb" + String(repeating: "x", count: 600)))\"").reason
        #expect(long.hasPrefix("a b") && long.count == 500)
    }

    @Test func `a program that is not there is a failure`() {
        let result = EncoderProbeChild(executable: "/no/such/program", deadline: .seconds(60))
            .run(encoder: "h264_v4l2m2m", width: 640, height: 360, rate: 29.97)
        #expect(!result.works && result.reason.contains("No such file"))
    }
}
