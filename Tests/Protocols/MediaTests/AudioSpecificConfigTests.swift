import Media
import TestSupport
import Testing
import Wire

/// A configuration as an encoder made it.
struct AudioCase: CustomTestStringConvertible, Sendable {
    var origin: String
    var bytes: String
    var objectType: UInt8 = 2
    var samplingFrequency: Int
    var channels: Int
    var bandReplication: AudioSpecificConfig.BandReplication = .unsignalled
    var output: Int
    /// Written differently: a program config element becomes a channel configuration.
    var isCanonical = true

    var testDescription: String { origin }
}

/// ffmpeg 5.1.9's encoder, and the textbook forms.
let audioCases: [AudioCase] = [
    AudioCase(
        origin: "ffmpeg-5.1 48 kHz mono", bytes: "118856e500", samplingFrequency: 48000, channels: 1,
        bandReplication: .absent, output: 48000),
    AudioCase(
        origin: "ffmpeg-5.1 44.1 kHz 5.1", bytes: "123056e500", samplingFrequency: 44100, channels: 6,
        bandReplication: .absent, output: 44100),
    AudioCase(
        origin: "ffmpeg-5.1 Main 96 kHz stereo", bytes: "081056e500", objectType: 1, samplingFrequency: 96000,
        channels: 2, bandReplication: .absent, output: 96000),
    AudioCase(
        origin: "ffmpeg-5.1 8 kHz 7.1", bytes: "15b856e500", samplingFrequency: 8000, channels: 8,
        bandReplication: .absent, output: 8000),
    AudioCase(
        origin: "ffmpeg-5.1 48 kHz quad, a program config element",
        bytes: "118004c4040021100d4c61766335392e33372e31303056e500",
        samplingFrequency: 48000, channels: 4, bandReplication: .absent, output: 48000, isCanonical: false),
    AudioCase(
        origin: "Arkavo app, AAC-LC 48 kHz stereo", bytes: "1190", samplingFrequency: 48000, channels: 2, output: 48000),
    AudioCase(
        origin: "HE-AAC, hierarchical", bytes: "2b920800", samplingFrequency: 22050, channels: 2,
        bandReplication: .hierarchical(samplingFrequency: 44100, parametricStereo: false), output: 44100),
    AudioCase(
        origin: "HE-AAC v2, hierarchical", bytes: "eb8a0800", samplingFrequency: 22050, channels: 1,
        bandReplication: .hierarchical(samplingFrequency: 44100, parametricStereo: true), output: 44100),
    AudioCase(
        origin: "HE-AAC, compatible", bytes: "139056e5a0", samplingFrequency: 22050, channels: 2,
        bandReplication: .compatible(samplingFrequency: 44100, parametricStereo: false), output: 44100),
    AudioCase(
        origin: "HE-AAC v2, compatible", bytes: "138856e5a54880", samplingFrequency: 22050, channels: 1,
        bandReplication: .compatible(samplingFrequency: 44100, parametricStereo: true), output: 44100),
    AudioCase(
        origin: "sampling frequency by escape", bytes: "178057e410", samplingFrequency: 45000, channels: 2,
        output: 45000),
]

@Suite struct AudioSpecificConfigTests {
    @Test(arguments: audioCases)
    func `configurations are read and written`(config: AudioCase) throws {
        let bytes = try Hexadecimal.decode(config.bytes)
        let parsed = try AudioSpecificConfig.parse(bytes[...])
        #expect(parsed.objectType == config.objectType)
        #expect(parsed.samplingFrequency == config.samplingFrequency)
        #expect(parsed.channels == config.channels)
        #expect(parsed.bandReplication == config.bandReplication)
        #expect(parsed.outputSamplingFrequency == config.output)
        #expect(parsed.samplesPerFrame == 1024)
        #expect(parsed.frameDuration == MediaTime(ticks: 1024, timescale: Int64(config.samplingFrequency)))
        if config.isCanonical { #expect(parsed.encoded() == bytes) }
        let format = try AudioFormat(audioSpecificConfig: bytes[...])
        #expect(
            format
                == AudioFormat(
                    codec: .aac, sampleRate: config.output, channels: config.channels, audioSpecificConfig: bytes))
    }

    @Test func `a short frame lasts 960 samples`() throws {
        let config = try AudioSpecificConfig(samplingFrequency: 8000, channels: 1, hasShortFrames: true)
        #expect(config.frameDuration == MediaTime(milliseconds: 120))
    }

    @Test(arguments: audioCases)
    func `a strict prefix is truncated, or lacks only what may be missing`(config: AudioCase) throws {
        let bytes = try Hexadecimal.decode(config.bytes)
        for length in 0..<bytes.count {
            do throws(MediaError) {
                let parsed = try AudioSpecificConfig.parse(bytes[..<length])
                #expect(parsed.samplingFrequency == config.samplingFrequency)
                #expect(parsed.channels == config.channels)
                #expect(length >= 2)
            } catch {
                guard case .truncatedBits(let offset, let needed, let available) = error else {
                    Issue.record("\(length) bytes: \(error)")
                    continue
                }
                #expect(offset + available == length * 8)
                #expect(needed > available)
            }
        }
    }

    @Test(arguments: UInt64(1)...64)
    func `what is built is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func frequency() -> Int {
            Bool.random(using: &random)
                ? [96000, 48000, 44100, 16000, 7350].randomElement(using: &random)!
                : Int.random(in: 1..<(1 << 24), using: &random)
        }
        let replications: [AudioSpecificConfig.BandReplication] = [
            .unsignalled, .absent, .hierarchical(samplingFrequency: frequency(), parametricStereo: seed % 2 == 0),
            .compatible(samplingFrequency: frequency(), parametricStereo: seed % 2 == 0),
        ]
        for replication in replications {
            let config = try AudioSpecificConfig(
                objectType: [1, 2, 3, 4].randomElement(using: &random)!, samplingFrequency: frequency(),
                channels: [1, 2, 3, 4, 5, 6, 8].randomElement(using: &random)!, hasShortFrames: seed % 3 == 0,
                bandReplication: replication)
            #expect(try AudioSpecificConfig.parse(config.encoded()[...]) == config)
        }
    }

    @Test(arguments: UInt64(1)...64)
    func `flipped bits throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for config in audioCases {
            var bytes = try Hexadecimal.decode(config.bytes)
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                guard let parsed = try? AudioSpecificConfig.parse(bytes[...]) else { continue }
                #expect(parsed.channels > 0 && parsed.channels <= 120)
                #expect(parsed.outputSamplingFrequency > 0 && parsed.outputSamplingFrequency < 1 << 24)
                _ = parsed.encoded()
            }
        }
    }

    @Test(arguments: [
        ("", MediaError.truncatedBits(offset: 0, needed: 5, available: 0)),
        ("1690", .invalid(.samplingFrequency, value: 13, offset: 9)),
        ("1780000000", .invalid(.samplingFrequency, value: 0, offset: 33)),
        ("11c8", .invalid(.channelConfiguration, value: 9, offset: 16)),
        ("f8e6200000", .invalid(.audioObjectType, value: 39, offset: 19)),
        ("0190", .invalid(.audioObjectType, value: 0, offset: 13)),
    ])
    func `what is not AAC is refused where it says so`(hexadecimal: String, error: MediaError) throws {
        let bytes = try Hexadecimal.decode(hexadecimal)
        #expect(throws: error) { try AudioSpecificConfig.parse(bytes[...]) }
    }

    @Test func `impossible configurations are not built`() {
        #expect(throws: MediaError.invalid(.channelConfiguration, value: 9, offset: 0)) {
            try AudioSpecificConfig(samplingFrequency: 48000, channels: 9)
        }
        #expect(throws: MediaError.invalid(.channelConfiguration, value: 0, offset: 0)) {
            try AudioSpecificConfig(samplingFrequency: 48000, channels: 0)
        }
        #expect(throws: MediaError.invalid(.samplingFrequency, value: 0, offset: 0)) {
            try AudioSpecificConfig(samplingFrequency: -1, channels: 2)
        }
        #expect(throws: MediaError.tooLong(bytes: 513, limit: 512)) {
            try AudioSpecificConfig.parse([UInt8](repeating: 0x11, count: 513)[...])
        }
    }

    @Test func `AAC-LC takes two bytes`() throws {
        #expect(try AudioSpecificConfig(samplingFrequency: 48000, channels: 2).encoded() == [0x11, 0x90])
        #expect(try AudioSpecificConfig(samplingFrequency: 44100, channels: 1).encoded() == [0x12, 0x08])
    }
}
