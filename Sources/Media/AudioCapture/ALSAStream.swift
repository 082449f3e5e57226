internal import CALSA
internal import Glibc

/// A capture device of libasound, set up and prepared.
final class ALSAStream: CaptureStream {
    let shape: StreamShape

    private let pcm: OpaquePointer
    private let note: ALSANote
    private var isOpen = true

    /// A period is how often there is something to read, a buffer how long a reader may be late.
    private static let periodsPerSecond = 50
    private static let buffersPerSecond = 2

    /// Opens the device as it is, or, where it has nothing that can be read directly, behind ALSA's `plug`, which
    /// converts.
    static func open(_ configuration: AudioCaptureConfiguration) throws(AudioCaptureError) -> ALSAStream {
        try ALSALibrary.load()
        do throws(AudioCaptureError) {
            return try ALSAStream(configuration, name: configuration.device)
        } catch {
            guard case .unsuitable = error, !configuration.device.contains("'") else { throw error }
            guard let stream = try? ALSAStream(configuration, name: "plug:SLAVE='\(configuration.device)'") else {
                throw error
            }
            return stream
        }
    }

    private init(_ configuration: AudioCaptureConfiguration, name: String) throws(AudioCaptureError) {
        let device = configuration.device
        let note = ALSANote()
        var opened: OpaquePointer?
        let result = note.taking { watchbox_pcm_open(name, &opened) }
        guard result >= 0, let opened else {
            throw .opening(device, call: "snd_pcm_open", number: result < 0 ? -result : EINVAL, detail: note.text)
        }
        do throws(AudioCaptureError) {
            shape = try Self.setUp(opened, configuration, note)
        } catch {
            note.taking { watchbox_pcm_close(opened) }
            throw error
        }
        pcm = opened
        self.note = note
    }

    deinit {
        close()
    }

    // MARK: set-up

    private static func setUp(
        _ pcm: OpaquePointer, _ configuration: AudioCaptureConfiguration, _ note: ALSANote
    ) throws(AudioCaptureError) -> StreamShape {
        let device = configuration.device
        func check(_ call: String, _ result: Int32) throws(AudioCaptureError) {
            if result < 0 { throw .opening(device, call: call, number: -result, detail: note.text) }
        }
        var made: OpaquePointer?
        try check("snd_pcm_hw_params_malloc", watchbox_hw_new(&made))
        guard let parameters = made else { throw .opening(device, call: "malloc", number: ENOMEM, detail: "") }
        defer { watchbox_hw_free(parameters) }

        var format = try choose(pcm, parameters, configuration, note)
        // Some plugins take each size alone and not both: then theirs.
        if note.taking({ watchbox_hw_install(pcm, parameters) }) < 0 {
            format = try choose(pcm, parameters, configuration, note, isSizing: false)
            try check("snd_pcm_hw_params", note.taking { watchbox_hw_install(pcm, parameters) })
        }
        var rate: UInt32 = 0
        var channels: UInt32 = 0
        var period: UInt = 0
        var buffer: UInt = 0
        try check(
            "snd_pcm_hw_params_get", note.taking { watchbox_hw_chosen(parameters, &rate, &channels, &period, &buffer) })
        guard (4_000...384_000).contains(rate) else {
            throw .unsuitable(device: device, reason: "It captures \(rate) samples per second.")
        }
        guard (1...64).contains(channels) else {
            throw .unsuitable(device: device, reason: "It has \(channels) channels.")
        }
        let longest = UInt(rate) * 60
        guard period > 0, buffer >= period, buffer <= longest else {
            throw .unsuitable(
                device: device, reason: "It has a buffer of \(buffer) samples in periods of \(period).")
        }
        try check("snd_pcm_sw_params", note.taking { watchbox_sw_install(pcm, period) })
        return StreamShape(
            rate: Int(rate), channels: Int(channels), format: format, period: Int(period), buffer: Int(buffer))
    }

    /// Narrows all that the device can to what is requested, or the nearest.
    private static func choose(
        _ pcm: OpaquePointer, _ parameters: OpaquePointer, _ configuration: AudioCaptureConfiguration, _ note: ALSANote,
        isSizing: Bool = true
    ) throws(AudioCaptureError) -> SampleFormat {
        let device = configuration.device
        func unsuitable(_ reason: String) -> AudioCaptureError {
            .unsuitable(device: device, reason: note.text.isEmpty ? reason : "\(reason) ALSA says: \(note.text).")
        }
        let any = note.taking { watchbox_hw_any(pcm, parameters) }
        if any < 0 { throw .opening(device, call: "snd_pcm_hw_params_any", number: -any, detail: note.text) }
        if note.taking({ watchbox_hw_set_interleaved(pcm, parameters) }) < 0 {
            throw unsuitable("Its samples cannot be read side by side.")
        }
        let known = note.taking {
            SampleFormat.allCases.first { watchbox_hw_has_format(pcm, parameters, $0.number) != 0 }
        }
        guard let format = known, note.taking({ watchbox_hw_set_format(pcm, parameters, format.number) }) >= 0 else {
            throw unsuitable("It writes samples in none of the formats that are known.")
        }
        var channels = UInt32(configuration.channels)
        if note.taking({ watchbox_hw_set_channels(pcm, parameters, &channels) }) < 0 {
            throw unsuitable("It does not say how many channels it has.")
        }
        var rate = UInt32(configuration.sampleRate)
        if note.taking({ watchbox_hw_set_rate(pcm, parameters, &rate) }) < 0 {
            throw unsuitable("It has no sample rate that can be used.")
        }
        if isSizing {
            // A refusal leaves the device's own.
            _ = note.taking { watchbox_hw_set_buffer(pcm, parameters, UInt(rate) / UInt(Self.buffersPerSecond)) }
            _ = note.taking { watchbox_hw_set_period(pcm, parameters, UInt(rate) / UInt(Self.periodsPerSecond)) }
        }
        return format
    }

    // MARK: CaptureStream

    func wait(milliseconds: Int32) -> Int { asking { Int(watchbox_pcm_wait(pcm, milliseconds)) } }

    func drop() -> Int { asking { Int(watchbox_pcm_drop(pcm)) } }

    func prepare() -> Int { asking { Int(watchbox_pcm_prepare(pcm)) } }

    func start() -> Int { asking { Int(watchbox_pcm_start(pcm)) } }

    func resume() -> Int { asking { Int(watchbox_pcm_resume(pcm)) } }

    func read(into bytes: UnsafeMutableRawBufferPointer, frames: Int) -> Int {
        // Checked here because libasound cannot: it gets a count of frames and no size.
        let room = min(max(frames, 0), bytes.count / shape.bytesPerFrame)
        return asking { watchbox_pcm_read(pcm, bytes.baseAddress, UInt(room)) }
    }

    func position() -> StreamPosition {
        guard isOpen else { return StreamPosition(available: Int(-EBADFD)) }
        return note.taking {
            var available: UInt = 0
            var seconds: Int64 = 0
            var nanoseconds: Int64 = 0
            if watchbox_pcm_stamp(pcm, &available, &seconds, &nanoseconds) >= 0 {
                var position = StreamPosition(available: Int(clamping: available))
                if seconds > 0 {
                    position.stampSeconds = seconds
                    position.stampNanoseconds = nanoseconds
                } else {
                    position.delay = measuredDelay()?.delay
                }
                return position
            }
            guard let measured = measuredDelay() else {
                return StreamPosition(available: watchbox_pcm_available(pcm))
            }
            return StreamPosition(available: measured.available, delay: measured.delay)
        }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        note.taking {
            _ = watchbox_pcm_drop(pcm)
            watchbox_pcm_close(pcm)
        }
    }

    private func measuredDelay() -> (available: Int, delay: Int)? {
        var available = 0
        var delay = 0
        return watchbox_pcm_delay(pcm, &available, &delay) >= 0 ? (available, delay) : nil
    }

    private func asking(_ body: () -> Int) -> Int {
        isOpen ? note.taking(body) : Int(-EBADFD)
    }
}
