internal import Wire

extension CameraConfiguration {
    typealias Expectation = (_ holds: Bool, _ field: String, _ reason: String, _ hint: String) -> Void

    func validate(_ device: Device, _ expect: Expectation) {
        let field = "source.device"
        expect(
            Device.isDevicePath(device.path), "\(field).path", "is not the path of a device",
            "Use /dev/v4l/by-id/… or csi:…, as watchboxctl discover shows it, or /dev/videoN")
        VideoRange.check(width: device.width, height: device.height, field, expect)
        VideoRange.check(frameRate: device.frameRate, field, expect)
        VideoRange.check(bitrate: device.bitrate, field, expect)
        VideoRange.check(gopSeconds: device.gopSeconds, field, expect)
        expect(
            Device.rotations.contains(device.rotation), "\(field).rotation", "is not a quarter of a turn",
            "Use 0, 90, 180 or 270")
        validateMasks(device.masks, "\(field).masks", expect)
        if let name = device.overlay.name {
            expect(
                !name.isEmpty && name.utf8.count <= 2048 && name.count <= 64 && ShownText.isPrintable(name),
                "\(field).overlay.name", "is empty, has more than 64 characters, or has control characters",
                "Use 1 to 64 characters, or leave it out")
        }
        validateControls(device.controls, "\(field).controls", expect)
        if let microphone = device.microphone {
            expect(
                Device.isAudioDevice(microphone), "\(field).microphone", "is not the name of an audio device",
                "Use ALSA's name, such as default or hw:CARD=C920: watchboxctl discover shows them")
        }
        if let file = device.encoderMemoryFile {
            expect(
                !file.isEmpty && file.utf8.count <= 1024 && ShownText.isPrintable(file), "\(field).encoderMemoryFile",
                "is not a file's path", "Name a file, or leave it out")
        }
        validatePassthrough(device, field, expect)
    }

    private func validateMasks(_ masks: [Device.Mask], _ field: String, _ expect: Expectation) {
        guard masks.count <= Device.maskLimit else {
            return expect(false, field, "has more than \(Device.maskLimit) entries", "Join some of them")
        }
        for (index, mask) in masks.enumerated() {
            expect(
                mask.isInsideImage, "\(field)[\(index)]", "is not a rectangle inside the image",
                "Use parts of the image: x, y, width and height from 0 to 1, from its top left corner")
        }
    }

    private func validateControls(_ controls: [String: Int], _ field: String, _ expect: Expectation) {
        expect(
            controls.count <= Device.controlLimit, field, "has more than \(Device.controlLimit) entries",
            "Take some out")
        expect(
            controls.keys.allSatisfy(Device.isControlName), field, "has a name that no control has",
            "Use names of lower-case letters, digits and underscores: watchboxctl camera controls shows them")
    }

    /// What the camera encodes goes out as it is, so nothing can be asked of it that changes a frame.
    private func validatePassthrough(_ device: Device, _ field: String, _ expect: Expectation) {
        guard device.pixelFormat == .h264 else { return }
        let requests = [
            ("encoder", device.encoder != .automatic), ("rotation", device.rotation != 0),
            ("flip", device.flip != .none),
            ("masks", !device.masks.isEmpty), ("overlay", !device.overlay.isEmpty),
        ]
        for (name, isWished) in requests {
            expect(
                !isWished, "\(field).\(name)",
                "needs frames that can be changed, but H.264 from the camera is passed through as it is",
                "Use another pixel format, such as auto, or leave this out")
        }
    }
}
