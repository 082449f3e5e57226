internal import FoundationEssentials
internal import Glibc

/// What systemd-creds answers to `Encrypt`.
struct CredentialAnswer: Decodable {
    struct Parameters: Decodable {
        var blob: String?
        var errno: Int32?
    }
    var parameters: Parameters?
    var error: String?

    /// The sealed credential in an answer.
    static func blob(in json: [UInt8], name: String) throws(SystemdError) -> [UInt8] {
        guard let answer = try? JSONDecoder().decode(CredentialAnswer.self, from: Data(json)) else {
            throw .invalid("systemd-creds' answer for credential \(name) is not what its interface says")
        }
        if let error = answer.error { throw failure(error, answer.parameters?.errno, name) }
        guard let blob = answer.parameters?.blob, Base64.isValid(blob) else {
            throw .invalid("systemd-creds' answer for credential \(name) has no Base64 blob")
        }
        return Array(blob.utf8)
    }

    private static func failure(_ error: String, _ number: Int32?, _ name: String) -> SystemdError {
        let purpose = "encrypting credential \(name)"
        return switch error {
        case "org.varlink.service.PermissionDenied", "io.systemd.InteractiveAuthenticationRequired":
            .denied(purpose)
        case "org.varlink.service.MethodNotFound", "org.varlink.service.InterfaceNotFound",
            "org.varlink.service.MethodNotImplemented", "io.systemd.Disconnected":
            .unavailable("\(purpose): \(error)")
        case "io.systemd.TimedOut": .timedOut(purpose)
        case "io.systemd.System": .failed("io.systemd.Credentials.Encrypt", number ?? EIO, purpose)
        default: .invalid("\(purpose): \(error.oneLine(limit: 128))")
        }
    }
}
