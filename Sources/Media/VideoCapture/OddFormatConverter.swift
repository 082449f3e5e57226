internal import CV4L2

/// Turns frames in a vendor's own encoding into YU12, through libv4lconvert, which is loaded when it is needed.
///
/// For one thread at a time: some codings build on the frame before. The library believes its input and reads past
/// the end of frames that are cut short; so it never gets the camera's bytes themselves, but a copy with zeros behind
/// it.
public final class OddFormatConverter {
    /// Bits per pixel of those that are not compressed. Their frames are whole or refused.
    private static let bits: [FourCC: Int] = table([
        "S501": 12, "S505": 12, "S508": 12, "CITV": 12, "KONI": 12, "S920": 12, "M420": 12, "S680": 8, "RGBP": 16,
        "BGR4": 32, "RGB4": 32, "XR24": 32, "BX24": 32, "AR24": 32, "BA24": 32,
    ])

    /// What the library decodes, libav does not, and noise does no harm to (checked with valgrind, libv4l 1.22). Left
    /// out: JPGL and NV61 (read past all bounds), 905C (reads uninitialised memory), PJPG (a JPEG decoder of its
    /// own), OV511 and OV518 (decoded by another program), and sensors' samples without an image processor.
    public static let formats: Set<FourCC> = Set(bits.keys).union(
        ["S910", "S561", "P207", "M310", "SONX", "S401"].compactMap { FourCC($0) })

    private static let isLoaded = watchbox_v4lconvert_load() != 0

    /// Whether this machine has the library.
    public static var isInstalled: Bool { isLoaded }

    private let converter: OpaquePointer
    private var input: [UInt8] = []
    private var output: [UInt8] = []

    private static func table(_ names: [String: Int]) -> [FourCC: Int] {
        var table: [FourCC: Int] = [:]
        for (name, bits) in names { if let format = FourCC(name) { table[format] = bits } }
        return table
    }

    /// - Throws: `notConvertible` with the package to install.
    public init(for format: FourCC) throws(CaptureError) {
        guard Self.formats.contains(format) else {
            throw .notConvertible(format, "Nothing on this machine decodes that format.")
        }
        guard Self.isLoaded, let converter = watchbox_v4lconvert_create() else {
            throw .notConvertible(
                format, "The library libv4lconvert, which decodes it, is missing (Debian package libv4lconvert0).")
        }
        self.converter = converter
    }

    deinit {
        watchbox_v4lconvert_destroy(converter)
    }

    /// - Parameter bytes: one frame as the camera gave it.
    /// - Returns: YU12 without gaps: `width` × `height` bytes of luma, then both chroma planes.
    /// - Throws: `notConvertible` when the bytes are no such frame.
    public func convert(_ bytes: UnsafeRawBufferPointer, _ setup: CaptureSetup) throws(CaptureError) -> [UInt8] {
        let (format, width, height) = (setup.pixelFormat, setup.width, setup.height)
        // The sizes that such cameras have: below, and between these steps, the library reads outside its lines.
        guard (64...2048).contains(width), (48...2048).contains(height), width % 16 == 0, height % 8 == 0 else {
            throw .notConvertible(format, "libv4lconvert does not decode frames of \(width)x\(height) safely.")
        }
        // Of the samples that the library unpacks in between, too.
        var stride = width
        if let bits = Self.bits[format] {
            // Lines of luma alone, or of whole pixels; only the latter have gaps between them.
            stride =
                bits < 16 ? width : min(max(width * bits / 8, setup.bytesPerLine), FormatNegotiation.maxBytes / height)
            let needed = bits < 16 ? width * height * bits / 8 : stride * height
            guard bytes.count >= needed else {
                throw .notConvertible(format, "The frame has \(bytes.count) bytes, where \(needed) are needed.")
            }
        }
        guard !bytes.isEmpty, bytes.count <= 64 << 20 else {
            throw .notConvertible(format, "The frame has \(bytes.count) bytes.")
        }
        let size = width * height * 3 / 2
        let slack = 65_536
        output = [UInt8](repeating: 0, count: size + slack)
        input = [UInt8](repeating: 0, count: bytes.count + width * height * 4 + slack)
        input.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
        var from = v4l2_format()
        from.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        from.fmt.pix.width = UInt32(width)
        from.fmt.pix.height = UInt32(height)
        from.fmt.pix.pixelformat = format.rawValue
        from.fmt.pix.bytesperline = UInt32(stride)
        from.fmt.pix.sizeimage = UInt32(bytes.count)
        var to = from
        to.fmt.pix.pixelformat = FourCC.yu12.rawValue
        to.fmt.pix.bytesperline = UInt32(width)
        to.fmt.pix.sizeimage = UInt32(size)
        let count = Int32(bytes.count)
        let written = input.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { output in
                watchbox_v4lconvert_convert(
                    converter, &from, &to, input.baseAddress, count, output.baseAddress, Int32(size))
            }
        }
        guard written == size else {
            let text = watchbox_v4lconvert_message(converter).map { String(cString: $0) } ?? ""
            let reason = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "The frame is damaged."
            throw .notConvertible(format, reason)
        }
        output.removeLast(slack)
        return output
    }
}
