extension CameraConfiguration {
    /// What makes `other` of this without a restart; nil when nothing differs, or something differs that cannot change
    /// while the camera publishes.
    ///
    /// Of a device: size, rate, bitrate and distance of key frames, but size and rate not where the camera encodes,
    /// since its stream must be stopped for them. Of a test pattern: the bitrate. Of a network camera: nothing, what
    /// it encodes goes out as it is.
    public func videoChange(to other: CameraConfiguration) -> VideoChange? {
        var change = VideoChange()
        // This with what can change, so that whatever else differs remains.
        var changed = self
        switch (source, other.source) {
        case (.testPattern(var pattern), .testPattern(let requested)):
            if pattern.bitrate != requested.bitrate { change.bitrate = requested.bitrate }
            pattern.bitrate = requested.bitrate
            changed.source = .testPattern(pattern)
        case (.device(var device), .device(let requested)):
            if device.bitrate != requested.bitrate { change.bitrate = requested.bitrate }
            if device.gopSeconds != requested.gopSeconds { change.gopSeconds = requested.gopSeconds }
            device.bitrate = requested.bitrate
            device.gopSeconds = requested.gopSeconds
            if device.pixelFormat != .h264 {
                if device.frameRate != requested.frameRate { change.frameRate = requested.frameRate }
                if device.width != requested.width || device.height != requested.height {
                    change.width = requested.width
                    change.height = requested.height
                }
                device.frameRate = requested.frameRate
                device.width = requested.width
                device.height = requested.height
            }
            changed.source = .device(device)
        default: return nil
        }
        return changed == other && !change.isEmpty ? change : nil
    }
}

extension VideoChange {
    /// Throws everything that is out of range, as `CameraConfiguration.validate()` does; fields are named `bitrate`,
    /// `frameRate`, `gopSeconds`, `width` and `height`.
    public func validate() throws(ConfigurationError) {
        var problems: [ConfigurationProblem] = []
        func expect(_ holds: Bool, _ field: String, _ reason: String, _ hint: String) {
            if !holds { problems.append(ConfigurationProblem(field: field, reason: reason, hint: hint)) }
        }
        if let bitrate { VideoRange.check(bitrate: bitrate, nil, expect) }
        if let frameRate { VideoRange.check(frameRate: frameRate, nil, expect) }
        if let gopSeconds { VideoRange.check(gopSeconds: gopSeconds, nil, expect) }
        switch (width, height) {
        case (nil, nil): break
        case (let width?, let height?): VideoRange.check(width: width, height: height, nil, expect)
        case (.some, nil): expect(false, "height", "is missing", "Give width and height, or neither")
        case (nil, .some): expect(false, "width", "is missing", "Give width and height, or neither")
        }
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
    }
}
