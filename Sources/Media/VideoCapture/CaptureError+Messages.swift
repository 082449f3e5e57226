internal import CV4L2
internal import Platform

extension CaptureError: CustomStringConvertible {
    /// What happened, why, and what to do next.
    public var description: String { "\(what): \(why) \(hint)" }

    /// What happened, without a full stop.
    public var what: String {
        switch self {
        case .notThere(let path): "There is no camera at \(path)"
        case .notPermitted(let path): "\(path) may not be opened"
        case .busy(let path, _): "\(path) is in use"
        case .noHelper(let path), .otherHelper(let path): "\(path) cannot be opened"
        case .helper: "The camera's helper process for libcamera is gone"
        case .severalCameras: "csi: does not name one camera"
        case .notACamera(let path, _): "\(path) is not a camera"
        case .noSuchFormat(let requested, _): "The camera cannot deliver \(requested)"
        case .noSignal(let path): "\(path) has no signal"
        case .disconnected: "The camera is gone"
        case .stream(let call, _): "The camera's stream broke (\(call))"
        case .formatChanged: "The camera's signal changed"
        case .refused(let call, _): "The camera's driver refused \(call)"
        case .badAnswer: "The camera's driver gave an answer that cannot be"
        case .unsupported(let call): "The camera's driver does not know \(call)"
        case .noSuchControl(let name, _): "The camera has no control \"\(name)\""
        case .controlRange(let name, let value, _): "The control \"\(name)\" cannot be \(value)"
        case .controlNotSettable(let name, _): "The control \"\(name)\" cannot be set"
        case .notConvertible(let format, _): "Frames in \(format) cannot be used"
        }
    }

    /// Why, as far as it is known; full sentences.
    public var why: String {
        switch self {
        case .notThere: "Nothing has that name now."
        case .notPermitted: "Its owner, group or mode, or the sandbox of this process, forbid it."
        case .busy(_, let holder): holder.map { "\($0) uses it." } ?? "Another program holds it."
        case .noHelper: "CSI cameras need libcamera, and the program that speaks to it is not installed."
        case .otherHelper: "The program that speaks to libcamera is of another version."
        case .helper(let reason): "\(reason.prefix(1).uppercased() + reason.dropFirst())."
        case .severalCameras(let names): "There are \(names.joined(separator: ", "))."
        case .notACamera(_, let rejection): rejection.what
        case .noSuchFormat(_, let offered):
            offered.isEmpty ? "Its driver lists no format." : "It offers \(offered)."
        case .noSignal:
            "Nothing is connected to its input, the sender is off, or it sends nothing that the input takes."
        case .disconnected: "It was unplugged, lost power, or its driver gave it up."
        case .stream(_, let number):
            number == ENOSPC ? "The USB bus has no room left for its frames." : Self.message(number)
        case .formatChanged: "Its size or its rate is another one now."
        case .refused(_, let number): Self.message(number)
        case .badAnswer(let text): text
        case .unsupported: "Not all drivers do."
        case .noSuchControl(_, let nearest):
            nearest.isEmpty
                ? "It has no controls." : "Those most like it are \(nearest.joined(separator: ", "))."
        case .controlRange(_, _, let allowed): "It takes \(allowed)."
        case .controlNotSettable(_, let reason): reason
        case .notConvertible(_, let reason): reason
        }
    }

    /// What to do next; full sentences.
    public var hint: String {
        switch self {
        case .notThere:
            "Plug the camera in; \"watchboxctl discover\" lists the names of those that are there. It is waited for."
        case .notPermitted:
            "Check that the device belongs to the group \"video\" and that WatchBox's user is in it (ls -l /dev/video*). It is "
                + "tried again."
        case .busy(_, nil): "End the program that uses it (fuser -v /dev/video* names it). It is tried again."
        case .busy: "End it (a camera of this box: watchboxctl camera stop ID), and this goes on by itself."
        case .noHelper: "Install the Debian package watchbox-libcamera, made for this release. It is waited for."
        case .otherHelper: "Install the package watchbox-libcamera of this version. It is waited for."
        case .helper: "It is started again; if it stays so, the journal of the camera's unit says what libcamera said."
        case .severalCameras: "Name one of them as the camera's source."
        case .notACamera(_, let rejection): rejection.hint
        case .noSuchFormat: "Choose a size, rate and pixel format that \"watchboxctl discover\" lists."
        case .noSignal:
            "Connect the sender and switch it on, at up to 1080p30; one that was on before may need its cable pulled once. "
                + "It is waited for."
        case .disconnected: "Check cable, hub and power supply. It is waited for."
        case .stream(_, let number):
            number == ENOSPC
                ? "Choose a smaller size, a lower rate or mjpeg, or move the camera to another USB controller."
                : "It is started again; if that goes on, try another cable, port or power supply."
        case .formatChanged: "It is set up again."
        case .refused: "If it stays so, unplug the camera and plug it in again; the kernel's log (dmesg) may say more."
        case .badAnswer: "If it stays so, another camera or another kernel is the cure."
        case .unsupported: "Do without it, or use another camera."
        case .noSuchControl: "\"watchboxctl camera controls\" lists them with their ranges."
        case .controlRange: "Choose a value of that range."
        case .controlNotSettable: "\"watchboxctl camera controls\" shows which can be set."
        case .notConvertible: "Choose another pixel format, or another camera."
        }
    }

    private static func message(_ number: Int32) -> String {
        "\(SystemMessage.text(number)) (\(number))."
    }
}
