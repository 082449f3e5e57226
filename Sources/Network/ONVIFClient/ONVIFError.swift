public import ONVIF

/// Why a device could not be asked. Names hosts, operations and the device's own reasons, never a password.
public enum ONVIFError: Error, Equatable, Sendable {
    /// No connection: no address, nothing listens, or the connection broke.
    case unreachable(host: String, reason: String)
    /// The connection is open, and no answer came in time.
    case timedOut(host: String, operation: String)
    /// Something else answers there.
    case notONVIF(host: String, reason: String)
    /// The device wants a user and a password, and none was given.
    case loginNeeded(host: String)
    /// Each login that may be used was tried and refused.
    case loginRefused(host: String, tried: [LoginScheme])
    /// The login is right, but this user must not.
    case forbidden(operation: String)
    /// The device does not know this operation or has not that feature.
    case notSupported(operation: String)
    /// Another refusal.
    case fault(operation: String, ONVIFFault)
    /// An answer that makes no sense.
    case malformed(operation: String, reason: String)
    /// The device shows another certificate than the one that is trusted.
    case certificateChanged(host: String)
    /// No TLS connection for another reason.
    case certificate(host: String, reason: String)
    /// The address is invalid, or a value cannot be asked for.
    case invalidRequest(reason: String)
    case cancelled
    /// This machine cannot: libcurl or libxml2 is missing.
    case unavailable(reason: String)
}

extension ONVIFError: CustomStringConvertible {
    /// What happened, and why: a message without its full stop.
    public var description: String {
        switch self {
        case .unreachable(let host, let reason): "\(host) cannot be reached: \(reason)"
        case .timedOut(let host, let operation): "\(host) did not answer \(operation) in time"
        case .notONVIF(let host, let reason): "what answers at \(host) is not an ONVIF device: \(reason)"
        case .loginNeeded(let host): "\(host) asks for a user and a password, and none is known"
        case .loginRefused(let host, let tried):
            "\(host) refuses the login: wrong password\(tried.contains(.usernameToken) ? " or wrong clock" : "") (tried: \(tried.map(\.name).joined(separator: ", ")))"
        case .forbidden(let operation): "the camera does not allow this user \(operation)"
        case .notSupported(let operation): "the camera does not know \(operation)"
        case .fault(let operation, let fault):
            "the camera refused \(operation): \(fault.reason.isEmpty ? "no reason given" : fault.reason)"
                + (fault.subcode.isEmpty ? "" : " (\(fault.subcode))")
        case .malformed(let operation, let reason): "the camera's answer to \(operation) makes no sense: \(reason)"
        case .certificateChanged(let host): "\(host) shows another certificate than the one that was accepted"
        case .certificate(let host, let reason): "no trusted TLS connection to \(host): \(reason)"
        case .invalidRequest(let reason): reason
        case .cancelled: "the request was cancelled"
        case .unavailable(let reason): "ONVIF is not available: \(reason)"
        }
    }

    /// What a person can do next.
    public var hint: String {
        switch self {
        case .unreachable: "Check power, cable, address and port of the camera."
        case .timedOut: "Try again; switch the camera off and on if it stays so."
        case .notONVIF: "Check the port, and that ONVIF is switched on in the camera's own settings."
        case .loginNeeded: "Give the user and the password of the camera."
        case .loginRefused:
            "Check user and password, and the camera's clock. Many cameras keep ONVIF users apart from those of their web pages: look there for a list "
                + "of ONVIF users. Wait some minutes if the account may be locked."
        case .forbidden: "Give the user more rights in the camera's own settings (operator or administrator)."
        case .notSupported: "Use the camera's own pages for this."
        case .fault(_, let fault):
            fault.kind == .busy
                ? "End other programs that use the camera, then try again."
                : "Check the value, or use the camera's own pages."
        case .malformed: "Look for newer firmware of the camera."
        case .certificateChanged:
            "If the certificate was renewed on purpose, accept the new one; if not, find out who answers there."
        case .certificate: "Check that the port speaks TLS, and the certificate of the camera."
        case .invalidRequest: "Correct the value."
        case .cancelled: "Nothing to do."
        case .unavailable: "Install the packages libcurl4 and libxml2."
        }
    }

    /// Whether the same call may succeed later without anybody changing a setting.
    public var isTransient: Bool {
        switch self {
        case .unreachable, .timedOut, .malformed, .notONVIF: true
        case .fault(_, let fault): fault.kind == .busy || fault.kind == .other
        case .loginNeeded, .loginRefused, .forbidden, .notSupported, .certificateChanged, .certificate, .invalidRequest,
            .cancelled, .unavailable:
            false
        }
    }
}

extension LoginScheme {
    /// For a person.
    fileprivate var name: String {
        switch self {
        case .none: "no login"
        case .usernameToken: "WS-UsernameToken"
        case .httpDigest: "HTTP Digest"
        case .plainText: "PasswordText"
        }
    }
}
