internal import Wire

extension DeviceURL {
    /// The address as it may be shown and logged: without user and password before the host, with `***` in place of what
    /// stands behind login-like keys (user, password, pwd, psw, token and their like) in path and query, also where they
    /// are joined as in `user=admin_password=X_channel=1`; printable, and of 512 characters at most.
    public static func shown(_ url: String) -> String {
        var text = url
        if let parsed = DeviceURL(url) {
            text = parsed.text
        } else if let scheme = url.utf8.firstIndex(ofText: "://"), let at = url.utf8.lastIndex(of: UInt8(ascii: "@")),
            at >= scheme
        {
            text = String(url[..<scheme]) + "://" + String(url[url.utf8.index(after: at)...])
        }
        return SOAPAnswer.printable(masked(text), 512)
    }

    private static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var key: [UInt8] = []
        var isQuery = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            result.append(byte)
            index += 1
            if byte == UInt8(ascii: "?") { isQuery = true }
            guard byte == UInt8(ascii: "=") else {
                if isKeyByte(byte) { key.append(byte) } else { key = [] }
                continue
            }
            let isSecret = isLogin(key)
            key = []
            guard isSecret else { continue }
            result += Array("***".utf8)
            while index < bytes.count, !endsValue(bytes, index, isQuery: isQuery) { index += 1 }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Rather too late than too early: a password may hold any character.
    private static func endsValue(_ bytes: [UInt8], _ index: Int, isQuery: Bool) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "&"): return true
        case UInt8(ascii: "/"), UInt8(ascii: "?"): return !isQuery
        case UInt8(ascii: "_"):
            let key = bytes[(index + 1)...].prefix(32).prefix { isKeyByte($0) }
            let end = index + 1 + key.count
            guard end < bytes.count, bytes[end] == UInt8(ascii: "=") else { return false }
            return isLogin(Array(key)) || ["channel", "stream", "onvif", "subtype"].contains(plain(Array(key)))
        default: return false
        }
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || [0x25, 0x2D, 0x2E].contains(byte)
    }

    private static func isLogin(_ key: [UInt8]) -> Bool {
        let name = plain(key)
        return ["user", "usr", "pass", "pwd", "psw", "token"].contains { name.utf8.firstIndex(ofText: $0) != nil }
    }

    /// In lower case, percent-decoded.
    private static func plain(_ key: [UInt8]) -> String {
        PercentEncoding.decodeLeniently(String(decoding: key, as: UTF8.self)).lowercased()
    }
}

extension String.UTF8View {
    /// Where these bytes begin for the first time.
    fileprivate func firstIndex(ofText text: String) -> Index? {
        var begin = startIndex
        while begin != endIndex {
            if self[begin...].starts(with: text.utf8) { return begin }
            begin = index(after: begin)
        }
        return nil
    }
}
