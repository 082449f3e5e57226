internal import FoundationEssentials
internal import Glibc

/// What systemd-creds answers to `Encrypt` and `Decrypt`.
struct CredentialAnswer: Decodable {
    enum Method: String {
        case encrypt = "io.systemd.Credentials.Encrypt"
        case decrypt = "io.systemd.Credentials.Decrypt"
    }

    /// What was asked, for errors.
    struct Call {
        var method: Method
        /// Of the credential.
        var name: String

        var purpose: String { "\(method == .encrypt ? "encrypting" : "decrypting") credential \(name)" }
    }

    struct Parameters: Decodable {
        var blob: String?
        var data: String?
        var errno: Int32?
    }
    var parameters: Parameters?
    var error: String?

    /// The sealed credential in an answer to `Encrypt`.
    static func blob(in json: [UInt8], _ call: Call) throws(SystemdError) -> [UInt8] {
        guard let blob = try parameters(in: json, call)?.blob, Base64.isValid(blob) else {
            throw .invalid("systemd-creds' answer for credential \(call.name) has no Base64 blob")
        }
        return Array(blob.utf8)
    }

    /// The secret in an answer to `Decrypt`.
    static func data(in json: [UInt8], _ call: Call) throws(SystemdError) -> [UInt8] {
        guard let data = try parameters(in: json, call)?.data, let secret = Base64.decode(data) else {
            throw .invalid("systemd-creds' answer for credential \(call.name) has no Base64 data")
        }
        return secret
    }

    private static func parameters(in json: [UInt8], _ call: Call) throws(SystemdError) -> Parameters? {
        guard let answer = try? JSONDecoder().decode(CredentialAnswer.self, from: Data(json)) else {
            throw .invalid("systemd-creds' answer for credential \(call.name) is not what its interface says")
        }
        if let error = answer.error { throw failure(error, answer.parameters?.errno, call) }
        return answer.parameters
    }

    private static func failure(_ error: String, _ number: Int32?, _ call: Call) -> SystemdError {
        switch error {
        case "org.varlink.service.PermissionDenied", "io.systemd.InteractiveAuthenticationRequired":
            .denied(call.purpose)
        case "org.varlink.service.MethodNotFound", "org.varlink.service.InterfaceNotFound",
            "org.varlink.service.MethodNotImplemented", "io.systemd.Disconnected":
            .unavailable("\(call.purpose): \(error)")
        case "io.systemd.TimedOut": .timedOut(call.purpose)
        case "io.systemd.System": .failed(call.method.rawValue, number ?? EIO, call.purpose)
        default: .invalid("\(call.purpose): \(error.oneLine(limit: 128))")
        }
    }
}
