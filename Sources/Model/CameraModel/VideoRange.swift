/// What video may be, whatever it comes from. `object` is the path of what has the fields.
enum VideoRange {
    static func check(width: Int, height: Int, _ object: String?, _ expect: CameraConfiguration.Expectation) {
        for (name, value) in [("width", width), ("height", height)] {
            expect(
                value >= 64 && value <= 7680 && value % 2 == 0, path(object, name), "\(value) is not possible",
                "Use an even number from 64 to 7680")
        }
    }

    static func check(frameRate: Int, _ object: String?, _ expect: CameraConfiguration.Expectation) {
        expect(
            frameRate >= 1 && frameRate <= 120, path(object, "frameRate"), "\(frameRate) is not possible",
            "Use 1 to 120 frames per second")
    }

    static func check(bitrate: Int, _ object: String?, _ expect: CameraConfiguration.Expectation) {
        expect(
            bitrates.contains(bitrate), path(object, "bitrate"), "\(bitrate) is not possible",
            "Use 16000 to 200000000 bits per second")
    }

    static func check(minBitrate: Int, _ object: String?, _ expect: CameraConfiguration.Expectation) {
        expect(
            bitrates.contains(minBitrate), path(object, "minBitrate"), "\(minBitrate) is not possible",
            "Use 16000 to 200000000 bits per second")
    }

    private static let bitrates = 16_000...200_000_000

    static func check(gopSeconds: Double, _ object: String?, _ expect: CameraConfiguration.Expectation) {
        expect(
            gopSeconds >= 0.1 && gopSeconds <= 60, path(object, "gopSeconds"), "is out of range",
            "Use 0.1 to 60 seconds; 1 or 2 is usual")
    }

    private static func path(_ object: String?, _ name: String) -> String { object.map { "\($0).\(name)" } ?? name }
}
