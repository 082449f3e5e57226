/// What an `AudioCapture` is asked for.
public struct AudioCaptureConfiguration: Equatable, Sendable {
    /// ALSA's name: `default`, `hw:CARD=C920`, `null`, or one of the machine's own asound.conf.
    public var device: String
    /// Samples per second, 8000 to 192 000. The nearest that the device has is taken.
    public var sampleRate: Int
    /// At most, 1 or 2. A device with one channel gives one; of a device with more, the first are taken; the two of a
    /// device without a mono mode are averaged when one is asked for.
    public var channels: Int

    public init(device: String, sampleRate: Int = 48_000, channels: Int = 2) {
        self.device = device
        self.sampleRate = sampleRate
        self.channels = channels
    }
}
