internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

extension DiscoveryRequest {
    /// What a search takes; networks are for those who search them.
    func check() throws(CodedError) {
        func refused(_ what: String, _ hint: String) -> CodedError { CodedError(.badRequest, what, hint: hint) }
        if let seconds = timeoutSeconds, !(1...60).contains(seconds) {
            throw refused("timeoutSeconds is \(seconds)", "Use 1 to 60 seconds")
        }
        if let ports, ports.isEmpty || ports.count > 32 || !ports.allSatisfy({ (1...65_535).contains($0) }) {
            throw refused("these are not ports to try", "Name 1 to 32 ports from 1 to 65535")
        }
        if let ranges, ranges.count > 16 || ranges.contains(where: { $0.utf8.count > 64 }) {
            throw refused("these are not networks to search", "Name at most 16, such as 192.168.1.0/24")
        }
        if let interfaces, interfaces.count > 32 || interfaces.contains(where: { !(1...15).contains($0.utf8.count) }) {
            throw refused("these are not network interfaces", "Name at most 32, such as eth0")
        }
    }
}

extension CameraTestRequest {
    var network: CameraConfiguration.Network {
        CameraConfiguration.Network(
            url: source, user: user, transport: transport ?? .tcp, allowsBasic: allowsBasic ?? false, pin: pin,
            profile: profile, rtspHost: rtspHost, rtspPort: rtspPort)
    }

    /// Quotes neither the source, which may hold a password by mistake, nor the password.
    func check() throws(CodedError) {
        do throws(ConfigurationError) {
            try network.validate()
        } catch {
            guard let problem = error.problems.first else { throw CodedError(.invalidValue, "this cannot be tested") }
            let field = problem.field == "url" ? "source" : problem.field
            throw CodedError(.invalidValue, "\(field) \(problem.reason)", hint: problem.hint)
        }
        if let problem = CameraConfiguration.Network.readable(network.transport, url: source) {
            throw CodedError(.invalidValue, "transport \(problem.reason)", hint: problem.hint)
        }
        let onvif = [("profile", profile), ("rtsp_host", rtspHost), ("rtsp_port", rtspPort.map(String.init))]
        for case (let name, _?) in onvif {
            if let problem = CameraConfiguration.Network.misplaced(name, url: source) {
                throw CodedError(.invalidValue, "\(name) \(problem.reason)", hint: problem.hint)
            }
        }
        if let password, password.utf8.count > 4096 {
            throw CodedError(
                .invalidValue, "password has more than 4096 bytes", hint: "Give the camera's password alone")
        }
    }
}
