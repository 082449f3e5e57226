import CameraModel
import Testing
import VideoCapture

@testable import DeviceSource

struct PublishedVideoTests {
    private func published(
        _ width: Int, _ height: Int, from camera: (width: Int, height: Int), rate: Double = 30, rotation: Int = 0
    ) -> PublishedVideo {
        PublishedVideo(
            CameraConfiguration.Device(path: "/dev/video0", width: width, height: height, rotation: rotation),
            from: CaptureSetup(
                pixelFormat: .yu12, width: camera.width, height: camera.height, bytesPerLine: camera.width,
                imageBytes: camera.width * camera.height * 3 / 2, rate: rate))
    }

    @Test func `what the camera has is published as asked`() {
        let exact = published(1280, 720, from: (1280, 720))
        #expect(exact.width == 1280 && exact.height == 720 && exact.limit == nil)
        let scaled = published(640, 360, from: (1280, 720))
        #expect(scaled.width == 640 && scaled.height == 360 && scaled.limit == nil)
        let turned = published(720, 1280, from: (1280, 720), rotation: 90)
        #expect(turned.width == 720 && turned.height == 1280 && turned.limit == nil)
    }

    @Test func `another shape is neither distorted nor larger than what was asked for`() {
        let wide = published(640, 480, from: (1280, 720))
        #expect(wide.width == 640 && wide.height == 360)
        #expect(wide.limit?.contains("640x360") == true)
        let narrow = published(1280, 720, from: (1280, 960))
        #expect(narrow.width == 960 && narrow.height == 720)
    }

    @Test func `nothing is blown up, and odd sizes become even`() {
        let small = published(1280, 720, from: (321, 241))
        #expect(small.width == 320 && small.height == 240)
        #expect(small.limit != nil)
    }

    @Test func `a slower camera sets the rate, and the message says so`() {
        let slow = published(1280, 720, from: (1280, 720), rate: 7.5)
        #expect(slow.rate == 7.5)
        #expect(slow.limit?.contains("7.5 frames per second") == true)
        #expect(published(1280, 720, from: (1280, 720), rate: 29.97).limit == nil)
    }
}
