import Foundation
import TestSupport
import Testing

@testable import VideoCodec

/// Against `watchboxd decode` itself, with what ffmpeg encoded.
@Suite struct AudioDecoderTests {
    private static let program = DecoderProgram(executable: DecoderSandboxTests.watchboxd, deadline: .seconds(30))
    private static let ffmpeg = "/usr/bin/ffmpeg"
    static let hasFFmpeg = FileManager.default.isExecutableFile(atPath: ffmpeg)

    /// A tone of 440 Hz, encoded.
    private func encoded(_ coding: AudioEncoding) throws -> [UInt8] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: Self.ffmpeg)
        process.arguments =
            ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=8000:duration=1"]
            + ["-c:a", coding.decoder, "-code_size", "\(coding.bitsPerSample)", "-f", "\(coding.decoder)", "-"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(data)
    }

    @Test(.enabled(if: hasFFmpeg, "no ffmpeg"), arguments: AudioEncoding.allCases.filter { $0 != .opus })
    func `a tone in G726 is heard again`(coding: AudioEncoding) throws {
        let bytes = try encoded(coding)
        #expect(bytes.count * 8 / coding.bitsPerSample >= 7_900)
        let decoder = try AudioDecoder(coding, program: Self.program)
        #expect(decoder.report.isFiltered)
        var samples: [Float] = []
        // 20 ms in a packet, as cameras have them.
        for start in stride(from: 0, to: bytes.count, by: 20 * coding.bitsPerSample) {
            samples += try decoder.decode(Array(bytes[start..<min(bytes.count, start + 20 * coding.bitsPerSample)]))
        }
        #expect(abs(samples.count - 8_000) < 200)
        let body = samples.dropFirst(800).prefix(6_400)
        var real = 0.0
        var imaginary = 0.0
        var all = 0.0
        for (index, sample) in body.enumerated() {
            let angle = 2 * Double.pi * 440 * Double(index) / 8_000
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
            all += Double(sample) * Double(sample)
        }
        let tone = (real * real + imaginary * imaginary) * 2 / Double(body.count)
        // At 16 kbit/s much of it is noise.
        #expect(tone > all * (coding.bitsPerSample == 2 ? 0.5 : 0.9), "\(tone) of \(all)")
        #expect(all > 1)
    }

    @Test func `any bytes are samples, an error, or a child that is replaced`() throws {
        var random = SeededGenerator(seed: 7)
        for coding in [AudioEncoding.opus, .g726r32, .aal2r24] {
            var decoder = try AudioDecoder(coding, program: Self.program)
            for _ in 0..<300 {
                let packet = (0..<Int.random(in: 1...1500, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                do throws(DecoderFault) {
                    let samples = try decoder.decode(packet)
                    #expect(samples.count.isMultiple(of: coding.channels))
                    #expect(samples.allSatisfy { (-1...1).contains($0) })
                } catch .lost {
                    decoder = try AudioDecoder(coding, program: Self.program)
                } catch {}
            }
        }
        let decoder = try AudioDecoder(.opus, program: Self.program)
        for count in [0, AudioDecoder.maxPacketLength + 1, 1 << 20] {
            #expect(throws: DecoderFault.self) { try decoder.decode([UInt8](repeating: 0, count: count)) }
        }
    }

    @Test(arguments: ["b'\\1\\0\\0\\0\\0\\0\\0\\0abc'", "b''", "b'\\1\\0\\0\\0'", "b'\\2\\0\\0\\0\\0\\0\\0\\0aabb'"])
    func `whatever a child answers is an error`(answer: String) throws {
        let script = "import os; os.write(1, b'sandbox 7 1\\n'); os.read(0, 9999); os.write(1, \(answer))"
        let program = DecoderProgram(executable: "/usr/bin/python3", arguments: ["-c", script], deadline: .seconds(5))
        let decoder = try AudioDecoder(.opus, program: program)
        #expect(throws: DecoderFault.self) { try decoder.decode([1, 2, 3]) }
    }
}
