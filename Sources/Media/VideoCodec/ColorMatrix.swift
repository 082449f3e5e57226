package import CAVCodec

/// How red, green and blue became Y, U and V (ITU-T H.273, matrix coefficients).
public enum ColorMatrix: Equatable, Sendable {
    /// Unspecified; players then take BT.709 for 720 rows and more, BT.601 below.
    case unspecified
    /// Standard definition, and every JPEG.
    case bt601
    /// High definition.
    case bt709

    package init(_ colorSpace: AVColorSpace) {
        switch colorSpace {
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
        case AVCOL_SPC_BT709: self = .bt709
        default: self = .unspecified
        }
    }

    package var colorSpace: AVColorSpace {
        switch self {
        case .unspecified: AVCOL_SPC_UNSPECIFIED
        case .bt601: AVCOL_SPC_SMPTE170M
        case .bt709: AVCOL_SPC_BT709
        }
    }

    /// What players take for `unspecified`, of a frame of so many rows.
    public func resolved(height: Int) -> ColorMatrix {
        self == .unspecified ? (height >= 720 ? .bt709 : .bt601) : self
    }
}
