internal import Wire

// What the parts of a device's settings may look like; for those who read them from text, too.

extension CameraConfiguration.Device {
    public static let rotations = [0, 90, 180, 270]
    public static let maskLimit = 32
    public static let controlLimit = 64

    /// Longer is no identifier of libcamera's that the helper takes.
    private static let csiNameLimit = 247

    /// Absolute, below `/dev`, without detours; or `csi:`, alone or with an identifier of libcamera's.
    public static func isDevicePath(_ path: String) -> Bool {
        guard path.utf8.count <= 1024, ShownText.isPrintable(path) else { return false }
        if path.hasPrefix(csiScheme) { return path.utf8.count - csiScheme.utf8.count <= csiNameLimit }
        guard path.hasPrefix("/dev/") else { return false }
        return path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            !$0.isEmpty && $0 != "." && $0 != ".."
        }
    }

    /// `[a-z0-9_]{1,64}`, as "White Balance, Automatic" becomes `white_balance_automatic`.
    public static func isControlName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { isLowerCase($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// A name that ALSA gives to a device: 1 to 128 letters, digits, and `: , = . _ - +`.
    ///
    /// Nothing else: ALSA takes whole configurations in braces for a name, and its `file` and `tee` write what they
    /// hear into a file, unencrypted, or give it to a program.
    public static func isAudioDevice(_ name: String) -> Bool {
        guard Names.isPlain(name, limit: 128, signs: ":,=._-+") else { return false }
        return !["file", "tee"].contains { name == $0 || name.hasPrefix("\($0):") }
    }

    private static func isLowerCase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension CameraConfiguration.Device.Mask {
    /// It begins inside the image and covers something, and nothing beyond the edges: what a person meant to hide there
    /// would show.
    public var isInsideImage: Bool {
        // Ends are sums, which are rounded.
        let edge = 1 + 1e-6
        return x >= 0 && x < 1 && y >= 0 && y < 1 && width > 0 && height > 0 && x + width <= edge
            && y + height <= edge
    }
}
