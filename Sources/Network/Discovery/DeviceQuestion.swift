internal import ONVIF
internal import Platform
internal import RTSP

/// What one connection asks, without credentials.
enum DeviceQuestion: Equatable {
    /// OPTIONS: does RTSP answer here?
    case rtsp
    /// GetSystemDateAndTime, which needs no login: does ONVIF answer here?
    case onvif
    /// GetDeviceInformation: who is it, and does it need a login?
    case information(path: String)

    enum Verdict: Equatable {
        /// More bytes are needed.
        case undecided
        /// Something else answers here.
        case other
        /// - status: nil when the answer broke off after its first bytes.
        case rtsp(status: Int?)
        case onvif
        case information(DeviceInformation)
        case loginNeeded
    }

    /// Bytes of an answer that are read.
    var limit: Int {
        switch self {
        case .rtsp: 64
        case .onvif, .information: 64 * 1024
        }
    }

    /// Nil for an address that no request can be written to.
    func request(to address: SocketAddress) -> [UInt8]? {
        let host = DiscoveryAddress.written(host: address.host)
        switch self {
        case .rtsp:
            guard let url = try? RTSPURL("rtsp://\(host):\(address.port)/") else { return nil }
            return RTSPRequest.optionsProbe(url)
        case .onvif:
            return Self.call(
                "GetSystemDateAndTime", host: host, port: address.port, path: DiscoveryAddress.standardPath)
        case .information(let path):
            return Self.call("GetDeviceInformation", host: host, port: address.port, path: path)
        }
    }

    private static func call(_ operation: String, host: String, port: UInt16, path: String) -> [UInt8] {
        let namespace = "http://www.onvif.org/ver10/device/wsdl"
        let body =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\">"
            + "<s:Body><\(operation) xmlns=\"\(namespace)\"/></s:Body></s:Envelope>"
        let head =
            "POST \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\nUser-Agent: WatchBox\r\nConnection: close\r\n"
            + "Content-Type: application/soap+xml; charset=utf-8; action=\"\(namespace)/\(operation)\"\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }

    /// What the answer says so far.
    ///
    /// - Parameter isComplete: nothing will follow.
    func verdict(_ answer: [UInt8], isComplete: Bool) -> Verdict {
        switch self {
        case .rtsp: Self.rtspVerdict(answer, isComplete: isComplete)
        case .onvif: Self.onvifVerdict(answer, isComplete: isComplete)
        case .information: Self.informationVerdict(answer, isComplete: isComplete)
        }
    }

    private static func rtspVerdict(_ answer: [UInt8], isComplete: Bool) -> Verdict {
        switch RTSPRequest.isRTSPAnswer(answer[...]) {
        case false: return .other
        case nil: return isComplete ? .other : .undecided
        case true:
            // "RTSP/1.0 401 "
            let words = answer.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
            guard words.count > 1, words[1].count >= 3,
                let status = Int(String(decoding: words[1].prefix(3), as: UTF8.self))
            else { return isComplete || answer.count > 32 ? .rtsp(status: nil) : .undecided }
            return .rtsp(status: status)
        }
    }

    private static func onvifVerdict(_ answer: [UInt8], isComplete: Bool) -> Verdict {
        switch HTTPAnswer.parse(answer, isComplete: isComplete) {
        case .notHTTP: .other
        case .incomplete: .undecided
        // A web server answers all kinds of pages to a path that it does not know.
        case .complete(let http):
            switch SOAPBody.answer(of: http.body) {
            case .response, .fault: .onvif
            case .notSOAP, nil: .other
            }
        }
    }

    private static func informationVerdict(_ answer: [UInt8], isComplete: Bool) -> Verdict {
        let http: HTTPAnswer
        switch HTTPAnswer.parse(answer, isComplete: isComplete) {
        case .notHTTP: return .other
        case .incomplete: return .undecided
        case .complete(let answer): http = answer
        }
        switch SOAPBody.answer(of: http.body) {
        case .response(let content) where content.name == "GetDeviceInformationResponse":
            return .information(DeviceInformation(content))
        case .fault(let fault) where fault.kind == .notAuthorized: return .loginNeeded
        default: return http.status == 401 || http.status == 403 ? .loginNeeded : .other
        }
    }
}
