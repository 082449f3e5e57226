import Cryptography
import FLV
import FLVTestSupport
import Media
import NanoTDF
import NanoTDFCryptography
import Wire

@testable import Player

/// The publisher's half: collections, header frames and sealed messages, as a relay would hand them out.
struct SealedStream {
    /// The avcC of an ffmpeg 5.1 file (x264); what it says of the frame is what the parser makes of it.
    static let videoFormat = {
        let record = try! Hexadecimal.decode(
            "01640009ffe1001867640009acd9420db011000003000100000300320f12259601000568ebecb22cfdf8f800")
        return try! VideoFormat.parse(codec: .h264, configurationRecord: record[...]).format
    }()
    static let audioFormat = AudioFormat(
        codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: [0x11, 0x90])

    struct Message {
        var type: UInt8
        var timestamp: UInt32
        var body: [UInt8]
    }

    /// One collection with its key, which only its KAS could derive.
    struct Collection {
        let sealer: CollectionSealer
        let key: CollectionKey

        var hash: [UInt8] { sealer.headerHash }

        init() throws {
            let kas = try ECPrivateKey.generate(.p256)
            let recipient = KASRecipient(
                locator: try ResourceLocator(url: "https://elsewhere.example/kas"),
                publicKey: kas.publicKey.compressed())
            sealer = try CollectionSealer(recipient: recipient, policy: Array("{}".utf8), crypto: OpenSSLCrypto())
            key = try kas.collectionKey(for: sealer.header)
        }

        func headerFrame(at time: UInt32 = 0) throws -> Message {
            Message(type: FLVTag.video, timestamp: time, body: try NTDFHeaderFrame.encode(sealer.headerBytes))
        }

        var metadata: Message {
            Message(
                type: FLVTag.script, timestamp: 0,
                body: StreamMetadata(ntdfHeader: sealer.headerBytes).encodedSetDataFrame())
        }

        /// As a camera that seals notes would send it.
        func video(_ time: UInt32, key isKeyFrame: Bool = false, note: StreamNote) throws -> Message {
            let header = VideoTagHeader(codec: .h264, isKeyFrame: isKeyFrame, kind: .codedFrame(compositionTime: 0))
            let carrier = note.inserted(intoVideo: SealedStream.frame(time), codec: .h264)
            return Message(type: FLVTag.video, timestamp: time, body: header.encoded() + (try item(carrier ?? [])))
        }

        /// The end of the stream.
        func end(_ time: UInt32) throws -> Message {
            let header = VideoTagHeader(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: 0))
            return Message(type: FLVTag.video, timestamp: time, body: header.encoded() + (try item([])))
        }

        func video(_ time: UInt32, key isKeyFrame: Bool = false) throws -> Message {
            let header = VideoTagHeader(codec: .h264, isKeyFrame: isKeyFrame, kind: .codedFrame(compositionTime: 0))
            return Message(
                type: FLVTag.video, timestamp: time, body: header.encoded() + (try item(SealedStream.frame(time))))
        }

        func audio(_ time: UInt32) throws -> Message {
            let header = AudioTagHeader(kind: .rawFrame)
            return Message(
                type: FLVTag.audio, timestamp: time, body: header.encoded() + (try item(SealedStream.audio(time))))
        }

        private func item(_ plaintext: [UInt8]) throws -> [UInt8] {
            var item: [UInt8] = []
            try sealer.seal(plaintext, into: &item)
            return item
        }
    }

    static var formats: [Message] {
        let packetizer = Packetizer()
        return [
            Message(type: FLVTag.video, timestamp: 0, body: packetizer.sequenceHeader(videoFormat)),
            Message(type: FLVTag.audio, timestamp: 0, body: packetizer.sequenceHeader(audioFormat)),
        ]
    }

    static func clearVideo(_ time: UInt32, key isKeyFrame: Bool) -> Message {
        let header = VideoTagHeader(codec: .h264, isKeyFrame: isKeyFrame, kind: .codedFrame(compositionTime: 0))
        return Message(type: FLVTag.video, timestamp: time, body: header.encoded() + frame(time))
    }

    /// One NAL unit behind its length; its bytes name the time.
    static func frame(_ time: UInt32) -> [UInt8] {
        [0, 0, 0, 5, 0x65] + withUnsafeBytes(of: time.bigEndian) { Array($0) }
    }

    static func audio(_ time: UInt32) -> [UInt8] {
        [0x21] + withUnsafeBytes(of: time.bigEndian) { Array($0) }
    }
}
