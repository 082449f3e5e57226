import CV4L2
import Testing

@testable import VideoCapture

struct CaptureErrorTests {
    private static let all: [CaptureError] =
        [
            .notThere(path: "/dev/video0"), .notPermitted(path: "/dev/video0"), .busy(path: "/dev/video0"),
            .noSuchFormat(requested: "1x1", offered: ""), .noSignal(path: "/dev/video0"), .disconnected,
            .stream(call: "VIDIOC_DQBUF", errno: EIO), .stream(call: "VIDIOC_STREAMON", errno: ENOSPC), .formatChanged,
            .refused(call: "VIDIOC_S_FMT", errno: EINVAL), .badAnswer("VIDIOC_S_FMT said nonsense."),
            .unsupported(call: "VIDIOC_EXPBUF"), .noSuchControl(name: "a", nearest: []),
            .noSuchControl(name: "a", nearest: ["b"]), .controlRange(name: "a", value: 3, allowed: "0 to 2"),
            .controlNotSettable(name: "a", reason: "It only shows something."),
            .notConvertible(.mjpeg, "It is damaged."), .busy(path: "csi:", holder: "Process 812 (cam)"),
            .noHelper(path: "csi:"), .otherHelper(path: "csi:"), .helper("it ended with signal 11"),
            .severalCameras(names: ["csi:/base/a", "csi:/base/b"]),
        ] + CaptureNode.Rejection.allCases.map { .notACamera(path: "/dev/video0", $0) }

    @Test(arguments: all)
    func `an error says what happened, why, and what to do next`(error: CaptureError) {
        #expect(!error.what.hasSuffix("."), "\(error)")
        for message in [error.why, error.hint] {
            let isBegun = message.first?.isUppercase == true || message.hasPrefix("\"watchboxctl")
            #expect(message.hasSuffix(".") && isBegun, "\(error)")
        }
        #expect(error.description == "\(error.what): \(error.why) \(error.hint)")
    }

    @Test func `what needs a person to fix is told apart from what does not`() {
        let persons = Self.all.filter { $0.remedy == .person }
        #expect(persons.count == 9 + CaptureNode.Rejection.allCases.count)
        #expect(CaptureError.refused(call: "VIDIOC_S_FMT", errno: EINVAL).remedy == .person)
        #expect(CaptureError.refused(call: "VIDIOC_S_FMT", errno: EIO).remedy == .restartStream)
        for error in [CaptureError.notThere(path: ""), .notPermitted(path: ""), .busy(path: ""), .disconnected] {
            #expect(error.remedy == .waitForDevice)
        }
    }

    @Test func `a CSI camera's refusal names libcamera, a full bus the way out of it`() {
        #expect(CaptureError.notACamera(path: "/dev/video0", .rawBayer).hint.contains("libcamera"))
        #expect(CaptureError.stream(call: "VIDIOC_STREAMON", errno: ENOSPC).hint.contains("mjpeg"))
    }
}
