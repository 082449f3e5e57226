import Glibc
import Testing

@testable import AudioCapture

struct AudioCaptureErrorTests {
    @Test(arguments: [
        (ENOENT, AudioCaptureError.notThere(device: "d", detail: "x")), (ENODEV, .notThere(device: "d", detail: "x")),
        (EACCES, .notPermitted(device: "d")), (EPERM, .notPermitted(device: "d")), (EBUSY, .busy(device: "d")),
        (EAGAIN, .busy(device: "d")), (EINVAL, .refused(device: "d", call: "c", errno: EINVAL, detail: "x")),
    ])
    func `an errno says what can be done`(number: Int32, error: AudioCaptureError) {
        let made = AudioCaptureError.opening("d", call: "c", number: number, detail: "x")
        #expect(made == error)
    }

    @Test func `each error is three sentences with the device's name`() {
        let errors: [AudioCaptureError] = [
            .noLibrary, .notThere(device: "hw:9", detail: "Cannot get card index for 9"),
            .notThere(device: "hw:9", detail: ""), .notPermitted(device: "hw:9"), .busy(device: "hw:9"),
            .invalid(device: "hw:9", reason: "It is 1 or 2."), .unsuitable(device: "hw:9", reason: "It has none."),
            .refused(device: "hw:9", call: "snd_pcm_open", errno: EINVAL, detail: "bad"),
            .disconnected(device: "hw:9"), .stream(device: "hw:9", call: "snd_pcm_readi", errno: EIO),
            .silent(device: "hw:9", seconds: 3),
        ]
        for error in errors {
            for message in [error.what, error.why, error.hint] {
                #expect(message.hasSuffix("."), "\(message)")
                #expect(message.first?.isUppercase == true || message.hasPrefix("snd_") || message.hasPrefix("lib"))
            }
            if error != .noLibrary { #expect(error.what.contains("hw:9")) }
            #expect(error.description == "\(error.what) \(error.why) \(error.hint)")
        }
    }
}
