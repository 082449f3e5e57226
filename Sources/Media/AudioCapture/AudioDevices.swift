internal import CALSA
internal import Glibc
internal import Wire

/// An audio device that can be asked for by its name.
public struct AudioDevice: Equatable, Sendable {
    /// For `AudioCaptureConfiguration.device`.
    public var name: String
    /// ALSA's, in one line; may be empty.
    public var description: String
    /// An audio card itself (`hw:…`), not one of ALSA's ways to it.
    public var isCard: Bool
}

/// The audio devices of this machine.
public enum AudioDevices {
    /// A configuration can name any number of them.
    private static let limit = 512

    /// Those that can capture: cards first, in ALSA's order. Nothing is opened for capture.
    ///
    /// - Throws: `.noLibrary`; `.refused` when ALSA's configuration cannot be read.
    public static func list() throws(AudioCaptureError) -> [AudioDevice] {
        try ALSALibrary.load()
        let note = ALSANote()
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        let result = note.taking { watchbox_names(&hints) }
        guard result >= 0, let hints else {
            throw .refused(
                device: "list", call: "snd_device_name_hint", errno: result < 0 ? -result : EINVAL, detail: note.text)
        }
        defer { watchbox_names_free(hints) }
        var cards: [AudioDevice] = []
        var others: [AudioDevice] = []
        for index in 0..<limit {
            guard let hint = hints[index] else { break }
            // None: for both directions.
            if let direction = field("IOID", of: hint), direction != "Input" { continue }
            guard let name = field("NAME", of: hint), !name.isEmpty else { continue }
            let isCard = name.hasPrefix("hw:")
            let device = AudioDevice(name: name, description: field("DESC", of: hint) ?? "", isCard: isCard)
            if isCard { cards.append(device) } else { others.append(device) }
        }
        return cards + others
    }

    private static func field(_ name: String, of hint: UnsafeRawPointer) -> String? {
        guard let text = watchbox_name_field(hint, name) else { return nil }
        defer { free(text) }
        // USB devices write their own descriptions.
        return ShownText.cleaned(String(cString: text), limit: 200)
    }
}
