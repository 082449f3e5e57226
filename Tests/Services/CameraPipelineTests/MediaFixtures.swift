import Media

func videoUnit(_ milliseconds: Int64, key: Bool = false, size: Int = 100, byte: UInt8 = 0x61) -> AccessUnit {
    let time = MediaTime(milliseconds: milliseconds)
    return AccessUnit(
        track: .video(.h264), isKeyFrame: key, presentationTime: time, decodeTime: time,
        data: [UInt8](repeating: byte, count: size))
}

func audioUnit(_ milliseconds: Int64, size: Int = 20, byte: UInt8 = 0x21) -> AccessUnit {
    let time = MediaTime(milliseconds: milliseconds)
    return AccessUnit(
        track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
        data: [UInt8](repeating: byte, count: size))
}

func video(_ milliseconds: Int64, key: Bool = false, size: Int = 100) -> MediaEvent {
    .accessUnit(videoUnit(milliseconds, key: key, size: size))
}

func audio(_ milliseconds: Int64, size: Int = 20) -> MediaEvent {
    .accessUnit(audioUnit(milliseconds, size: size))
}

let videoFormat = VideoFormat(
    codec: .h264, width: 64, height: 48, frameRate: 5,
    configurationRecord: [0x01, 0x42, 0xC0, 0x0A, 0xFF, 0xE1, 0x00, 0x02, 0x67, 0x42, 0x01, 0x00, 0x02, 0x68, 0xCE])

let largerVideoFormat = VideoFormat(
    codec: .h264, width: 128, height: 96, frameRate: 5,
    configurationRecord: [0x01, 0x42, 0xC0, 0x0B, 0xFF, 0xE1, 0x00, 0x02, 0x67, 0x43, 0x01, 0x00, 0x02, 0x68, 0xCF])

let audioFormat = AudioFormat(codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: [0x11, 0x90])
