internal import CameraModel
internal import Settings
internal import TDFCryptography
internal import Wire

/// Why a value does not fit its key.
struct Finding: Error, Equatable {
    /// Follows the key: `is out of range`. Never quotes the value.
    var reason: String
    var hint: String

    init(_ reason: String, _ hint: String) {
        self.reason = reason
        self.hint = hint
    }
}

extension KeyDefinition {
    /// The value as the settings keep it. Throws what is wrong with it.
    func check(_ node: WrittenValue, of object: String) throws(Finding) -> SettingValue {
        switch (kind, node) {
        case (.boolean, .boolean): break
        case (.integer(let range), .integer(let value)):
            guard range.contains(value) else {
                throw Finding("is out of range", "Use \(range.lowerBound) to \(range.upperBound)")
            }
        case (.integer(let range), .real(let value)) where Int64(exactly: value).map(range.contains) == true:
            return .integer(Int64(value))
        case (.real(let range), .integer(let value)):
            guard range.contains(Double(value)) else { throw outOfRange(range) }
            return .real(Double(value))
        case (.real(let range), .real(let value)): guard range.contains(value) else { throw outOfRange(range) }
        case (.numbers(let numbers), .integer(let value)):
            guard numbers.contains(where: { Int64($0) == value }) else {
                throw Finding("is not one of its values", kind.hint)
            }
        case (let kind, .array(let elements)) where kind.isList: try check(elements)
        case (.boolean, _), (.integer, _), (.real, _), (.numbers, _), (.strings, _), (.choices, _), (.masks, _),
            (.controls, _), (.networks, _), (.hosts, _), (.weekSpans, _):
            throw Finding("is \(node.kind), but must be \(kind.expected)", kind.hint)
        case (.rsaPublicKey, .string(let text)): return .string(try recoveryKey(text))
        case (_, .string(let text)): if let finding = self.text(text, of: object) { throw finding }
        default: throw Finding("is \(node.kind), but must be \(kind.expected)", kind.hint)
        }
        guard let value = node.value else { throw Finding("has the wrong type", kind.hint) }
        return value
    }

    private func outOfRange(_ range: ClosedRange<Double>) -> Finding {
        Finding("is out of range", "Use \(range.lowerBound.plain) to \(range.upperBound.plain)")
    }

    private func text(_ text: String, of object: String) -> Finding? {
        switch kind {
        case .text(let limit):
            // A character can have any number of bytes; a family's emoji has 25.
            guard !text.isEmpty, text.utf8.count <= limit * 32, text.count <= limit else {
                return Finding("is empty or has more than \(limit) characters", "Use 1 to \(limit) characters")
            }
            guard ShownText.isPrintable(text) else {
                return Finding("has control characters", "Write it in one line, without tabs and escapes")
            }
            return nil
        case .identifier:
            return Names.isHyphenated(text, limit: 24) ? nil : Finding("is not a name", kind.hint)
        case .secretName:
            return Names.isHyphenated(text, limit: 32)
                ? nil : Finding("is not the name of a secret; the secret itself does not belong here", kind.hint)
        case .streamName: return Names.isStreamName(text) ? nil : Finding("is not a stream name", kind.hint)
        case .source: return source(text, of: object)
        case .relayURL: return Location.relay(text)
        case .keyAccessURL: return Location.keyAccess(text)
        case .hookURL: return Location.hook(text)
        case .listenAddress: return ListenAddress(text) == nil ? Finding("is not an address", kind.hint) : nil
        case .path:
            let isPath =
                text.hasPrefix("/") && !text.hasSuffix("/") && text.utf8.count <= 1024
                && ShownText.isPrintable(text)
            return isPath ? nil : Finding("is not the absolute path of a file", kind.hint)
        case .size: return FrameSize(text: text) == nil ? Finding("is not a size", kind.hint) : nil
        case .choice(let choices):
            guard !choices.contains(text) else { return nil }
            let meant = NearestName.nearest(text, in: choices).map { ", did you mean \"\($0)\"?" }
            return Finding("is not one of its values\(meant ?? "")", kind.hint)
        case .audioDevice:
            return CameraConfiguration.Device.isAudioDevice(text)
                ? nil : Finding("is not the name of an audio device", kind.hint)
        case .host:
            return CameraConfiguration.Network.isHost(text)
                ? nil : Finding("is neither a name nor an IP address", kind.hint)
        case .certificatePin:
            return CameraConfiguration.Network.isPin(text)
                ? nil : Finding("is not the pin of a certificate's key", kind.hint)
        case .macAddress:
            return CameraConfiguration.Network.isMAC(text) ? nil : Finding("is not a MAC address", kind.hint)
        case .integer, .real, .boolean, .numbers, .strings, .choices, .masks, .controls, .networks, .hosts, .weekSpans,
            .rsaPublicKey:
            return nil
        }
    }

    private func recoveryKey(_ text: String) throws(Finding) -> String {
        do throws(RecoveryKey.Fault) { return try RecoveryKey(text).text } catch {
            throw Finding(
                "\(error)",
                error == .isPrivate
                    ? "Take the public half, openssl pkey -in FILE -pubout; whoever has seen this one has the key"
                    : kind.hint)
        }
    }

    private func source(_ text: String, of object: String) -> Finding? {
        let id = object.hasPrefix("camera.") ? String(object.dropFirst(7)) : "ID"
        do {
            _ = try CameraSource(text)
            return nil
        } catch {
            return switch error {
            case .address(.credentials):
                Finding(
                    "carries a user or a password",
                    "Take it out, set `user`, and store the password with: watchboxctl camera password \(id)")
            case .address(let fault): Finding(fault.reason, fault.hint)
            case .unknownScheme:
                Finding(
                    "is not of a kind that WatchBox knows",
                    "Use test:, file:/path, v4l2:/dev/…, csi:, rtsp://…, rtsps://…, onvif://… or http://…")
            case .relativePath: Finding("has no absolute path of a file", "Use file:/path")
            case .notADevice:
                Finding(
                    "names no camera of this machine",
                    "Use v4l2:/dev/v4l/by-id/… or csi:/base/…, as watchboxctl discover shows it, or v4l2:/dev/video0")
            case .noAddress: Finding("has no address", "Use rtsp://address/path, or onvif://address")
            case .testPatternHasMore:
                Finding("goes on behind test:", "Use test: alone, and set size, rate and bitrate separately")
            case .controlCharacter:
                Finding("has control characters, or white space in an address", "Write it in one piece")
            case .length: Finding("is empty or longer than 2048 bytes", "Use test:, file:/path or a URL")
            }
        }
    }
}

extension KeyDefinition.Kind {
    /// With an article, after "must be".
    var expected: String {
        switch self {
        case .text: "a string"
        case .identifier, .secretName, .streamName: "a name in quotes"
        case .source: "a source in quotes"
        case .relayURL, .keyAccessURL, .hookURL: "a URL in quotes"
        case .listenAddress: "an address in quotes"
        case .path: "a path in quotes"
        case .size: "a size in quotes"
        case .choice: "one of its values in quotes"
        case .integer: "an integer"
        case .real: "a number"
        case .boolean: "true or false"
        case .numbers: "an integer"
        case .strings, .choices, .masks, .controls, .networks, .hosts, .weekSpans: "a list of strings"
        case .audioDevice, .host: "a name in quotes"
        case .certificatePin: "a pin in quotes"
        case .rsaPublicKey: "a public key in quotes"
        case .macAddress: "a MAC address in quotes"
        }
    }

    /// What to write, as a sentence without a full stop.
    var hint: String {
        switch self {
        case .text(let limit): "Use 1 to \(limit) characters in quotes"
        case .identifier: "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as \"main\""
        case .secretName: "Use 1 to 32 of a-z, 0-9 and hyphens, such as \"relay-main\""
        case .streamName: "Use 1 to 128 of letters, digits, and . _ -"
        case .source:
            "Use \"rtsp://host/path\", \"onvif://host\", \"v4l2:/dev/…\", \"csi:\", \"file:/path\" or \"test:\""
        case .relayURL: "Use \"rtmps://host/application\", or \"rtmp://…\""
        case .keyAccessURL: "Use \"https://host/kas\""
        case .hookURL: "Use \"https://host/path\", or \"http://…\""
        case .listenAddress: "Use \"address:port\", such as \"127.0.0.1:9464\" or \"[::]:1935\""
        case .path: "Use an absolute path, such as \"/etc/watchbox/ca.pem\""
        case .size: "Use \"1280x720\": even numbers from 64 to 7680"
        case .choice(let choices): "Use " + choices.map { "\"\($0)\"" }.joined(separator: " or ")
        case .integer(let range): "Use \(range.lowerBound) to \(range.upperBound), without quotes"
        case .real(let range): "Use \(range.lowerBound.plain) to \(range.upperBound.plain), without quotes"
        case .boolean: "Use true or false, without quotes"
        case .numbers(let numbers): "Use " + numbers.map(String.init).joined(separator: " or ") + ", without quotes"
        case .strings: "Use [\"one\", \"two\"]"
        case .choices(let choices):
            "Use any of [" + choices.map { "\"\($0)\"" }.joined(separator: ", ") + "], each once"
        case .masks:
            "Use [\"x,y,width,height\"]: parts of the image, from its top left corner, such as [\"0,0,0.25,0.1\"]"
        case .controls: "Use [\"brightness=128\"]; watchboxctl camera controls shows names and values"
        case .networks: "Use [\"192.0.2.0/24\", \"2001:db8::/32\"]"
        case .hosts: "Use [\"relay2.example.net\", \"relay3.example.net:1936\"]"
        case .weekSpans: "Use days, hours or both, such as [\"mon-fri 18:00-07:00\", \"sat-sun\", \"22:00-06:00\"]"
        case .host: "Use a name or an IP address, without scheme and port, such as \"192.168.1.70\""
        case .audioDevice: "Use ALSA's name in quotes, such as \"hw:CARD=C920\"; watchboxctl discover shows them"
        case .certificatePin: "Use \"sha256//…\" and 44 characters; watchboxctl camera test shows that of a camera"
        case .rsaPublicKey:
            "Use all of the .pem file of a public RSA key of 2048 to 4096 bits, between \"\"\" and \"\"\""
        case .macAddress: "Use six pairs of digits in lower case, such as \"00:11:22:aa:bb:cc\""
        }
    }
}

extension Double {
    /// `60` for 60.0.
    var plain: String { Int64(exactly: self).map(String.init) ?? String(self) }
}
