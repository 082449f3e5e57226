internal import CV4L2

/// Why a camera does not deliver. A failed call carries its name and its errno.
public enum CaptureError: Error, Equatable, Sendable {
    /// Nothing has that name.
    case notThere(path: String)
    /// The kernel forbids this process to open it.
    case notPermitted(path: String)
    /// Another program uses it.
    /// - Parameter holder: which, where that is known: "Process 812 (rpicam-vid)".
    case busy(path: String, holder: String? = nil)
    /// A CSI camera, and the program that speaks to libcamera is not installed.
    case noHelper(path: String)
    /// It is installed, in another version.
    case otherHelper(path: String)
    /// That program ended, hung, or said something that cannot be; the text says which.
    case helper(String)
    /// `csi:` alone, and more than one camera.
    case severalCameras(names: [String])
    case notACamera(path: String, CaptureNode.Rejection)
    /// None of the camera's formats, sizes and rates will do.
    case noSuchFormat(requested: String, offered: String)
    /// No signal at the input of a bridge.
    case noSignal(path: String)
    /// The device is gone: unplugged, or its driver gave it up.
    case disconnected
    /// The stream broke, or would not start; a restart may fix it.
    case stream(call: String, errno: Int32)
    /// The signal has another size or rate now; it must be negotiated again.
    case formatChanged
    /// The driver refused something else.
    case refused(call: String, errno: Int32)
    /// The driver said something that cannot be; the text says what.
    case badAnswer(String)
    /// The driver has no such call.
    case unsupported(call: String)
    /// - Parameter nearest: the names that are most like it, best first.
    case noSuchControl(name: String, nearest: [String])
    /// - Parameter allowed: "0 to 255", or the items of a menu.
    case controlRange(name: String, value: Int, allowed: String)
    /// It shows something, or another control rules it now.
    case controlNotSettable(name: String, reason: String)
    /// This format cannot be turned into frames; the text says why.
    case notConvertible(FourCC, String)

    /// What can be done about it.
    public enum Remedy: Equatable, Sendable {
        /// Look for the device again until it can be opened.
        case waitForDevice
        /// Close it, open it, negotiate and start again.
        case restartStream
        /// A person has to change something.
        case person
    }

    public var remedy: Remedy {
        switch self {
        case .notThere, .notPermitted, .busy, .noSignal, .disconnected, .noHelper, .otherHelper, .helper:
            return .waitForDevice
        case .stream, .formatChanged, .badAnswer: return .restartStream
        case .refused(_, let number):
            // The driver's or the bus' trouble of the moment, and not a matter of what was asked for.
            let passing = [EIO, EPROTO, EPIPE, ETIMEDOUT, ENOMEM, EAGAIN, ENOSPC, EILSEQ, ENOBUFS, EMFILE, ENFILE]
            return passing.contains(number) ? .restartStream : .person
        case .notACamera, .severalCameras, .noSuchFormat, .unsupported, .noSuchControl, .controlRange,
            .controlNotSettable,
            .notConvertible:
            return .person
        }
    }

    /// Of a call that opens `path`.
    static func opening(_ path: String, _ failure: CallFailure) -> CaptureError {
        if let reason = failure.reason { return .helper(reason) }
        return switch failure.errno {
        case ENOENT, ENXIO, ENODEV, ENOTDIR: .notThere(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case EBUSY: .busy(path: path)
        default: .refused(call: "open", errno: failure.errno)
        }
    }

    /// Of a call that sets something up.
    static func call(_ name: String, _ failure: CallFailure, path: String) -> CaptureError {
        if let reason = failure.reason { return .helper(reason) }
        return switch failure.errno {
        case ENODEV, ENXIO: .disconnected
        case EBUSY: .busy(path: path)
        case ENOLINK, ENOLCK: .noSignal(path: path)
        case ENOTTY: .unsupported(call: name)
        default: .refused(call: name, errno: failure.errno)
        }
    }

    /// Of a call that belongs to a stream.
    static func streaming(_ name: String, _ failure: CallFailure, path: String) -> CaptureError {
        if let reason = failure.reason { return .helper(reason) }
        return switch failure.errno {
        case ENODEV, ENXIO: .disconnected
        case EBUSY: .busy(path: path)
        case ENOLINK, ENOLCK: .noSignal(path: path)
        default: .stream(call: name, errno: failure.errno)
        }
    }
}
