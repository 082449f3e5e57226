import AMF0
import Testing
import Wire

/// One message as a program sent it, and what it says.
struct Capture: CustomTestStringConvertible, Sendable {
    var origin: String
    var hexadecimal: String
    var values: [AMF0Value]

    var testDescription: String { origin }

    var bytes: [UInt8] {
        get throws { try Hexadecimal.decode(hexadecimal) }
    }
}

/// Bodies of commands and data messages between ffmpeg 5.1.9, rtmpdump 2.4 and nginx-rtmp 1.2.2, all of Debian 12,
/// recorded on loopback.
let captures: [Capture] = [
    Capture(
        origin: "ffmpeg-5.1 connect to publish",
        hexadecimal: """
            020007636f6e6e656374003ff00000000000000300036170700200046c69766500047479706502000a6e6f6e7072697661746500\
            08666c617368566572020024464d4c452f332e302028636f6d70617469626c653b204c61766635392e32372e3130302900057463\
            55726c02001b72746d703a2f2f3132372e302e302e313a31393435362f6c697665000009
            """,
        values: [
            .string("connect"), .number(1),
            .object([
                "app": .string("live"), "type": .string("nonprivate"),
                "flashVer": .string("FMLE/3.0 (compatible; Lavf59.27.100)"),
                "tcUrl": .string("rtmp://127.0.0.1:19456/live"),
            ]),
        ]),
    Capture(
        origin: "ffmpeg-5.1 releaseStream",
        hexadecimal: "02000d72656c6561736553747265616d0040000000000000000502000463616d31",
        values: [.string("releaseStream"), .number(2), .null, .string("cam1")]),
    Capture(
        origin: "ffmpeg-5.1 publish",
        hexadecimal: "0200077075626c6973680040140000000000000502000463616d310200046c697665",
        values: [.string("publish"), .number(5), .null, .string("cam1"), .string("live")]),
    Capture(
        origin: "ffmpeg-5.1 @setDataFrame",
        hexadecimal: """
            02000d40736574446174614672616d6502000a6f6e4d65746144617461080000000d00086475726174696f6e0040180000000000\
            00000577696474680040600000000000000006686569676874004058000000000000000d766964656f6461746172617465004\
            04d4c000000000000096672616d6572617465004039000000000000000c766964656f636f646563696400401c00000000000000\
            0d617564696f646174617261746500403f400000000000000f617564696f73616d706c65726174650040e770000000000000\
            0f617564696f73616d706c6573697a65004030000000000000000673746572656f0100000c617564696f636f646563696400402\
            40000000000000007656e636f64657202000d4c61766635392e32372e313030000866696c6573697a65000000000000000000\
            000009
            """,
        values: [
            .string("@setDataFrame"), .string("onMetaData"),
            .ecmaArray([
                "duration": .number(6), "width": .number(128), "height": .number(96),
                "videodatarate": .number(58.59375), "framerate": .number(25), "videocodecid": .number(7),
                "audiodatarate": .number(31.25), "audiosamplerate": .number(48000), "audiosamplesize": .number(16),
                "stereo": .boolean(false), "audiocodecid": .number(10), "encoder": .string("Lavf59.27.100"),
                "filesize": .number(0),
            ]),
        ]),
    Capture(
        origin: "ffmpeg-5.1 deleteStream",
        hexadecimal: "02000c64656c65746553747265616d00401c00000000000005003ff0000000000000",
        values: [.string("deleteStream"), .number(7), .null, .number(1)]),
    Capture(
        origin: "rtmpdump-2.4 connect to play",
        hexadecimal: """
            020007636f6e6e656374003ff00000000000000300036170700200046c6976650008666c61736856657202000e4c4e582031302c\
            302c33322c31380005746355726c02001b72746d703a2f2f3132372e302e302e313a31393435362f6c6976650004667061640100\
            000c6361706162696c697469657300402e000000000000000b617564696f436f646563730040a8ee0000000000000b766964656f\
            436f6465637300406f800000000000000d766964656f46756e6374696f6e003ff0000000000000000009
            """,
        values: [
            .string("connect"), .number(1),
            .object([
                "app": .string("live"), "flashVer": .string("LNX 10,0,32,18"),
                "tcUrl": .string("rtmp://127.0.0.1:19456/live"), "fpad": .boolean(false),
                "capabilities": .number(15), "audioCodecs": .number(3191), "videoCodecs": .number(252),
                "videoFunction": .number(1),
            ]),
        ]),
    Capture(
        origin: "rtmpdump-2.4 play",
        hexadecimal: "020004706c61790040100000000000000502000463616d3100c08f400000000000",
        values: [.string("play"), .number(4), .null, .string("cam1"), .number(-1000)]),
    Capture(
        origin: "nginx-rtmp-1.2.2 _result of connect",
        hexadecimal: """
            0200075f726573756c74003ff0000000000000030006666d7356657202000d464d532f332c302c312c313233000c636170616269\
            6c697469657300403f0000000000000000090300056c6576656c0200067374617475730004636f646502001d4e6574436f6e6e65\
            6374696f6e2e436f6e6e6563742e53756363657373000b6465736372697074696f6e020015436f6e6e656374696f6e2073756363\
            65656465642e000e6f626a656374456e636f64696e67000000000000000000000009
            """,
        values: [
            .string("_result"), .number(1),
            .object(["fmsVer": .string("FMS/3,0,1,123"), "capabilities": .number(31)]),
            .object([
                "level": .string("status"), "code": .string("NetConnection.Connect.Success"),
                "description": .string("Connection succeeded."), "objectEncoding": .number(0),
            ]),
        ]),
    Capture(
        origin: "nginx-rtmp-1.2.2 _result of createStream",
        hexadecimal: "0200075f726573756c7400401000000000000005003ff0000000000000",
        values: [.string("_result"), .number(4), .null, .number(1)]),
    Capture(
        origin: "nginx-rtmp-1.2.2 onStatus",
        hexadecimal: """
            0200086f6e537461747573000000000000000000050300056c6576656c0200067374617475730004636f64650200174e65745374\
            7265616d2e5075626c6973682e5374617274000b6465736372697074696f6e0200105374617274207075626c697368696e670000\
            09
            """,
        values: [
            .string("onStatus"), .number(0), .null,
            .object([
                "level": .string("status"), "code": .string("NetStream.Publish.Start"),
                "description": .string("Start publishing"),
            ]),
        ]),
    Capture(
        origin: "nginx-rtmp-1.2.2 |RtmpSampleAccess",
        hexadecimal: "0200117c52746d7053616d706c6541636365737301010101",
        values: [.string("|RtmpSampleAccess"), .boolean(true), .boolean(true)]),
    Capture(
        origin: "nginx-rtmp-1.2.2 onMetaData",
        hexadecimal: """
            02000a6f6e4d6574614461746103000653657276657202002e4e47494e582052544d5020286769746875622e636f6d2f61727574\
            2f6e67696e782d72746d702d6d6f64756c6529000577696474680040600000000000000006686569676874004058000000000000\
            000c646973706c61795769647468004060000000000000000d646973706c617948656967687400405800000000000000086475\
            726174696f6e00401800000000000000096672616d65726174650040390000000000000003667073004039000000000000000d76\
            6964656f646174617261746500404d000000000000000c766964656f636f646563696400401c000000000000000d617564696f64\
            6174617261746500403f000000000000000c617564696f636f6465636964004024000000000000000770726f66696c65020020\
            0000000000000000000000000000000000000000000000000000000000000000\
            00056c6576656c020020\
            0000000000000000000000000000000000000000000000000000000000000000\
            000009
            """,
        values: [
            .string("onMetaData"),
            .object([
                "Server": .string("NGINX RTMP (github.com/arut/nginx-rtmp-module)"), "width": .number(128),
                "height": .number(96), "displayWidth": .number(128), "displayHeight": .number(96),
                "duration": .number(6), "framerate": .number(25), "fps": .number(25), "videodatarate": .number(58),
                "videocodecid": .number(7), "audiodatarate": .number(31), "audiocodecid": .number(10),
                "profile": .string(String(repeating: "\0", count: 32)),
                "level": .string(String(repeating: "\0", count: 32)),
            ]),
        ]),
]
