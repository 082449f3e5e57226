/// Makes the addresses that a device gives usable: of its services, streams, snapshots and subscriptions
/// (docs/ref/camera-notes.md, "Addresses").
///
/// A device often names an address that only it can reach, or one that it had before. Whatever it names, we talk to the
/// host that the operator named: a login goes nowhere else. Where a stream is at another one, the operator says so
/// (`CameraConfiguration.Network.rtspHost`).
public struct AddressRepair: Equatable, Sendable {
    /// The device service as it was reached.
    public var reached: DeviceURL

    public init(reached: DeviceURL) {
        self.reached = reached
    }

    /// Of a stream: the port stays as given.
    public func stream(_ given: String) -> String? {
        guard var url = Self.parsed(given), ["rtsp", "rtsps"].contains(url.scheme) else { return nil }
        url.host = reached.host
        return Self.bounded(url.text)
    }

    /// Of a service, a snapshot or a subscription.
    ///
    /// The scheme is the one by which the device was reached, so that nothing that began with TLS goes on without. The
    /// port stays as given, except for a device that stands behind another address at a port that was named: then the
    /// given one is known on its own side only.
    public func service(_ given: String) -> String? {
        guard var url = Self.parsed(given) else {
            // Some give a path and nothing else.
            let path = given.trimmingSpaces
            guard path.hasPrefix("/"), !path.hasPrefix("//"),
                let url = DeviceURL(
                    DeviceURL(scheme: reached.scheme, host: reached.host, port: reached.port, rest: path).text)
            else { return nil }
            return Self.bounded(url.text)
        }
        guard ["http", "https"].contains(url.scheme) else { return nil }
        if url.scheme != reached.scheme {
            url.scheme = reached.scheme
            url.port = reached.port
        }
        let isElsewhere = url.host.lowercased() != reached.host.lowercased() && !IPAddress.isUseless(url.host)
        if isElsewhere, reached.port != nil { url.port = reached.port }
        url.host = reached.host
        return Self.bounded(url.text)
    }

    private static func bounded(_ url: String) -> String? { url.utf8.count <= DeviceURL.maxBytes ? url : nil }

    /// Trimmed, and unescaped where a device escaped once too often.
    private static func parsed(_ given: String) -> DeviceURL? {
        DeviceURL(unescaped(given.trimmingSpaces))
    }

    static func unescaped(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[ampersand...]
            let entity = [
                ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#38;", "&"),
            ]
            .first { rest.hasPrefix($0.0) }
            result += entity?.1 ?? "&"
            rest = rest.dropFirst(entity?.0.count ?? 1)
        }
        return result + rest
    }
}
