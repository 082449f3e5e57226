internal import Wire

/// What stands in the body of an answer.
public enum SOAPAnswer: Equatable, Sendable {
    /// The response element.
    case response(XMLElement)
    case fault(ONVIFFault)
    /// No envelope, or an empty one.
    case notSOAP(reason: String)

    public init(_ document: XMLElement) {
        guard document.name == "Envelope" else {
            self = .notSOAP(reason: "the document is \(Self.printable(document.name, 60)), not a SOAP envelope")
            return
        }
        guard let content = document.child("Body")?.children.first else {
            self = .notSOAP(reason: "the SOAP envelope has no body")
            return
        }
        self = content.name == "Fault" ? .fault(ONVIFFault(content)) : .response(content)
    }

    /// Of a device's own text.
    static func printable(_ text: String, _ limit: Int) -> String {
        ShownText.cleaned(text.trimmingSpaces, limit: limit)
    }
}

extension ONVIFFault {
    /// - Parameter element: `Fault`, of SOAP 1.2 or 1.1.
    init(_ element: XMLElement) {
        var codes: [String] = []
        var code = element.child("Code")
        // A device nests two or three; more are not intended.
        for _ in 0..<8 {
            guard let current = code else { break }
            if let value = current.text("Value") { codes.append(value) }
            code = current.child("Subcode")
        }
        if let old = element.text("faultcode") { codes.append(old) }
        // WS-BaseFaults names itself in the detail.
        codes += (element.child("Detail") ?? element.child("detail"))?.children.prefix(8).map(\.name) ?? []
        let names = codes.map { code in String(code.split(separator: ":").last ?? "") }.filter { !$0.isEmpty }
        let text =
            element.text("Reason", "Text") ?? element.text("faultstring") ?? element.text("Detail", "Text") ?? ""
        let known = names.last { Self.kind(ofSubcode: $0) != nil }
        reason = SOAPAnswer.printable(text, 128)
        subcode = SOAPAnswer.printable(known ?? names.last { !["Sender", "Receiver"].contains($0) } ?? "", 60)
        kind = known.flatMap { Self.kind(ofSubcode: $0) } ?? Self.kind(ofReason: text)
    }

    private static func kind(ofSubcode name: String) -> Kind? {
        switch name {
        case "NotAuthorized", "SenderNotAuthorized", "FailedAuthentication", "InvalidSecurity", "InvalidSecurityToken",
            "FailedCheck", "MessageExpired", "SecurityTokenUnavailable", "Unauthorized", "AuthenticationFailed":
            .notAuthorized
        case "OperationProhibited", "Forbidden": .forbidden
        case "ActionNotSupported", "OptionalActionNotImplemented", "UnknownAction", "ActionMismatch", "NoSuchService",
            "PTZNotSupported", "MethodNotFound", "NotSupported":
            .actionNotSupported
        case "ResourceUnknownFault", "ResourceUnknownFaultType", "ResourceUnknown", "ResourceUnavailableFault",
            "InvalidSubscription", "UnableToDestroySubscriptionFault", "DestinationUnreachable":
            .resourceUnknown
        case "InvalidArgVal", "InvalidArgs", "TagMismatch", "NoTag", "NoProfile", "NoConfig", "NoToken", "NoPTZProfile",
            "ConfigModify", "InvalidPosition", "InvalidVelocity", "InvalidSpeed", "InvalidTranslation", "InvalidPreset",
            "NoEntity", "NoHomePosition", "PresetExist", "InvalidPresetName", "SpaceNotSupported",
            "ConfigurationConflict",
            "UnacceptableInitialTerminationTimeFault", "UnacceptableTerminationTimeFault":
            .invalidArgument
        case "OutofMemory", "OutOfMemory", "CriticalError", "DeviceBusy", "Busy", "MaxNotifyConsumers",
            "MaximumNumberOfSubscriptions", "SubscribeCreationFailedFault", "UnableToCreatePullPointFault",
            "TooManyPresets", "MaxPullPoints":
            .busy
        default: nil
        }
    }

    /// For devices that say what it is in free text alone.
    private static func kind(ofReason text: String) -> Kind {
        let lower = text.lowercased()
        if ["not authorized", "unauthorized", "authentication failed", "authority failure"].contains(
            where: lower.contains)
        {
            return .notAuthorized
        }
        if ["not implemented", "not supported", "unknown action"].contains(where: lower.contains) {
            return .actionNotSupported
        }
        return .other
    }
}
