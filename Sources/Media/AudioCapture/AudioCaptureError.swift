internal import Glibc
internal import Platform

/// Why there is no audio.
public enum AudioCaptureError: Error, Equatable, Sendable {
    /// libasound is not installed on this machine.
    case noLibrary
    /// There is no such audio device now; `detail` is libasound's explanation.
    case notThere(device: String, detail: String)
    case notPermitted(device: String)
    /// Another program uses it.
    case busy(device: String)
    /// What was asked for is out of range, or no name.
    case invalid(device: String, reason: String)
    /// It is there, and gives nothing that can be used: no capture, no sample format that is known, a strange rate.
    case unsuitable(device: String, reason: String)
    /// Another failure while it was opened.
    case refused(device: String, call: String, errno: Int32, detail: String)
    /// It was pulled out.
    case disconnected(device: String)
    /// It failed again and again, although its stream was started again.
    case stream(device: String, call: String, errno: Int32)
    /// It gave not one sample for that many seconds.
    case silent(device: String, seconds: Int)
}

extension AudioCaptureError: CustomStringConvertible {
    /// What happened, as a message.
    public var what: String {
        switch self {
        case .noLibrary: "There is no audio: ALSA's library is missing."
        case .notThere(let device, _): "The audio device \(device) is not there."
        case .notPermitted(let device): "The audio device \(device) may not be opened."
        case .busy(let device): "The audio device \(device) is in use."
        case .invalid(let device, _): "The settings of the audio device \(device) are invalid."
        case .unsuitable(let device, _): "The audio device \(device) cannot be used as a microphone."
        case .refused(let device, _, _, _): "The audio device \(device) could not be opened."
        case .disconnected(let device): "The audio device \(device) is gone."
        case .stream(let device, _, _): "The audio device \(device) fails again and again."
        case .silent(let device, _): "The audio device \(device) gives no samples."
        }
    }

    /// Why, as a message.
    public var why: String {
        switch self {
        case .noLibrary: "libasound.so.2 cannot be loaded."
        case .notThere(_, let detail):
            detail.isEmpty ? "No sound card of this machine has that name." : "ALSA says: \(detail)."
        case .notPermitted: "The device files in /dev/snd are for the group audio."
        case .busy: "Another program has it open, and the device serves only one."
        case .invalid(_, let reason): reason
        case .unsuitable(_, let reason): reason
        case .refused(_, let call, let number, let detail):
            "\(call) failed: \(SystemMessage.text(number))\(detail.isEmpty ? "" : " (\(detail))")."
        case .disconnected: "It was pulled out, or the USB port lost it."
        case .stream(_, let call, let number):
            "\(call) failed: \(SystemMessage.text(number)); starting its stream again did not help."
        case .silent(_, let seconds): "It is open and running, and nothing came for \(seconds) s."
        }
    }

    /// What to do next, as a message.
    public var hint: String {
        switch self {
        case .noLibrary: "Install the package libasound2 (Debian 12) or libasound2t64 (Debian 13)."
        case .notThere:
            "Plug it in, or choose one of \"watchboxctl discover\"; it is looked for until it is there."
        case .notPermitted: "Add the camera's user to the group audio; it is tried again."
        case .busy: "End the other program, or choose a shared device such as \"default\"; it is tried again."
        case .invalid: "Correct the camera's microphone setting."
        case .unsuitable: "Choose another one of \"watchboxctl discover\"."
        case .refused:
            "Check the name, and the machine's /etc/asound.conf; \"arecord -D NAME -d 1 /dev/null\" must work."
        case .disconnected: "Plug it in again; the audio goes on by itself then."
        case .stream, .silent: "It is opened again; if it stays so, unplug it and plug it in, or try another port."
        }
    }

    public var description: String { "\(what) \(why) \(hint)" }
}

extension AudioCaptureError {
    /// What a failure before the stream runs means; `number` is a positive errno.
    static func opening(_ device: String, call: String, number: Int32, detail: String) -> AudioCaptureError {
        switch number {
        case ENOENT, ENODEV, ENXIO: .notThere(device: device, detail: detail)
        case EACCES, EPERM: .notPermitted(device: device)
        // Without waiting, old drivers say EAGAIN for a device that is in use.
        case EBUSY, EAGAIN: .busy(device: device)
        default: .refused(device: device, call: call, errno: number, detail: detail)
        }
    }
}
