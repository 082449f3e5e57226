internal import CV4L2

/// Sets one format and one rate, and checks every number of the driver's answer before anything relies on it.
struct FormatNegotiation {
    /// A frame of 4096 × 4096 in 8 bytes per pixel; more is a fault of the driver.
    static let maxBytes = 128 << 20

    let calls: any DeviceCalls
    let descriptor: Int32
    let path: String
    let isMultiplanar: Bool
    let lineAlignment: Int

    /// Nil when the driver has another format, or refuses this one.
    func attempt(_ candidate: CaptureChoice.Candidate) throws(CaptureError) -> CaptureSetup? {
        var format = request(candidate)
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_S_FMT, &format)
        } catch {
            if error.errno == EINVAL { return nil }
            throw .call("VIDIOC_S_FMT", error, path: path)
        }
        var answer = Answer(format, isMultiplanar: isMultiplanar)
        guard answer.pixelFormat == candidate.pixelFormat, answer.isUsable else { return nil }
        try check(&answer)
        let rate = try setRate(candidate.rate)
        return CaptureSetup(
            pixelFormat: answer.pixelFormat, width: answer.width, height: answer.height,
            bytesPerLine: answer.bytesPerLine, imageBytes: answer.imageBytes, rate: rate,
            isFullRange: answer.isFullRange, colorSpace: answer.colorSpace, isMultiplanar: isMultiplanar)
    }

    private func request(_ candidate: CaptureChoice.Candidate) -> v4l2_format {
        var stride = 0
        if let layout = FrameLayout(candidate.pixelFormat), layout.isPlanar, lineAlignment > 1 {
            let line = layout.bytesPerLine(width: candidate.size.width)
            stride = (line + lineAlignment - 1) / lineAlignment * lineAlignment
        }
        var format = v4l2_format()
        format.type = BufferCall.type(isMultiplanar: isMultiplanar)
        if isMultiplanar {
            format.fmt.pix_mp.width = UInt32(candidate.size.width)
            format.fmt.pix_mp.height = UInt32(candidate.size.height)
            format.fmt.pix_mp.pixelformat = candidate.pixelFormat.rawValue
            format.fmt.pix_mp.field = V4L2_FIELD_NONE.rawValue
            format.fmt.pix_mp.num_planes = 1
            format.fmt.pix_mp.plane_fmt.0.bytesperline = UInt32(stride)
        } else {
            format.fmt.pix.width = UInt32(candidate.size.width)
            format.fmt.pix.height = UInt32(candidate.size.height)
            format.fmt.pix.pixelformat = candidate.pixelFormat.rawValue
            format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
            format.fmt.pix.bytesperline = UInt32(stride)
            // Without it the kernel forgets the fields behind it: matrix and range.
            format.fmt.pix.priv = UInt32(V4L2_PIX_FMT_PRIV_MAGIC)
        }
        return format
    }

    private func check(_ answer: inout Answer) throws(CaptureError) {
        let sides = 1...ModeListing.maxSide
        guard sides.contains(answer.width), sides.contains(answer.height) else {
            throw .badAnswer("VIDIOC_S_FMT agreed to a size of \(answer.width)x\(answer.height).")
        }
        guard (1...Self.maxBytes).contains(answer.imageBytes) else {
            throw .badAnswer("VIDIOC_S_FMT named frames of \(answer.imageBytes) bytes.")
        }
        guard let layout = FrameLayout(answer.pixelFormat) else {
            // A number here means nothing for access units.
            if answer.pixelFormat.isCompressed { answer.bytesPerLine = 0 }
            return
        }
        let least = layout.bytesPerLine(width: answer.width)
        guard answer.bytesPerLine >= least, answer.bytesPerLine <= Self.maxBytes / answer.height else {
            throw .badAnswer(
                "VIDIOC_S_FMT named lines of \(answer.bytesPerLine) bytes for \(answer.width) pixels in "
                    + "\(answer.pixelFormat), which need \(least).")
        }
        let needed = layout.bytes(bytesPerLine: answer.bytesPerLine, height: answer.height)
        guard answer.imageBytes >= needed else {
            throw .badAnswer(
                "VIDIOC_S_FMT named frames of \(answer.imageBytes) bytes, where \(answer.height) lines of "
                    + "\(answer.bytesPerLine) bytes in \(answer.pixelFormat) need \(needed).")
        }
    }

    /// - Returns: What the driver agreed to, or `rate` when it does not say, or says less than `Fraction.lowestRate`.
    private func setRate(_ rate: Fraction) throws(CaptureError) -> Double {
        var parameters = v4l2_streamparm()
        parameters.type = BufferCall.type(isMultiplanar: isMultiplanar)
        parameters.parm.capture.timeperframe = rate.interval
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_S_PARM, &parameters)
        } catch {
            // Bridges and simple sensors have one rate and no such call.
            if error.errno == ENOTTY || error.errno == EINVAL { return rate.value }
            throw .call("VIDIOC_S_PARM", error, path: path)
        }
        return Fraction(interval: parameters.parm.capture.timeperframe)?.value ?? rate.value
    }

    /// VIDIOC_S_FMT's answer in either interface.
    private struct Answer {
        var pixelFormat: FourCC
        var width: Int
        var height: Int
        var bytesPerLine: Int
        var imageBytes: Int
        private var field: UInt32
        private var planes: Int
        private var colorspace: UInt32
        private var encoding: UInt32
        private var quantization: UInt32

        init(_ format: v4l2_format, isMultiplanar: Bool) {
            if isMultiplanar {
                let pix = format.fmt.pix_mp
                pixelFormat = FourCC(rawValue: pix.pixelformat)
                (width, height) = (Int(pix.width), Int(pix.height))
                bytesPerLine = Int(pix.plane_fmt.0.bytesperline)
                imageBytes = Int(pix.plane_fmt.0.sizeimage)
                (field, planes) = (pix.field, Int(pix.num_planes))
                (colorspace, encoding) = (pix.colorspace, UInt32(pix.ycbcr_enc))
                quantization = UInt32(pix.quantization)
            } else {
                let pix = format.fmt.pix
                pixelFormat = FourCC(rawValue: pix.pixelformat)
                (width, height) = (Int(pix.width), Int(pix.height))
                (bytesPerLine, imageBytes) = (Int(pix.bytesperline), Int(pix.sizeimage))
                (field, planes) = (pix.field, 1)
                (colorspace, encoding, quantization) = (pix.colorspace, pix.ycbcr_enc, pix.quantization)
            }
        }

        /// One plane of whole frames; single fields in turn are not.
        var isUsable: Bool {
            let fields = [V4L2_FIELD_ALTERNATE, V4L2_FIELD_TOP, V4L2_FIELD_BOTTOM].map(\.rawValue)
            return planes == 1 && !fields.contains(field)
        }

        /// V4L2_MAP_QUANTIZATION_DEFAULT, where the driver leaves it open.
        var isFullRange: Bool {
            if quantization == V4L2_QUANTIZATION_FULL_RANGE.rawValue { return true }
            if quantization == V4L2_QUANTIZATION_LIM_RANGE.rawValue { return false }
            let isRGB = pixelFormat == .rgb3 || pixelFormat == .bgr3
            return isRGB || colorspace == V4L2_COLORSPACE_JPEG.rawValue
        }

        /// V4L2_MAP_YCBCR_ENC_DEFAULT, where the driver leaves it open.
        var colorSpace: CaptureSetup.ColorSpace {
            switch encoding {
            case V4L2_YCBCR_ENC_601.rawValue, V4L2_YCBCR_ENC_XV601.rawValue: return .bt601
            case V4L2_YCBCR_ENC_709.rawValue, V4L2_YCBCR_ENC_XV709.rawValue: return .bt709
            case V4L2_YCBCR_ENC_DEFAULT.rawValue: break
            default: return .unspecified
            }
            switch colorspace {
            case V4L2_COLORSPACE_REC709.rawValue: return .bt709
            case V4L2_COLORSPACE_SMPTE170M.rawValue, V4L2_COLORSPACE_SRGB.rawValue, V4L2_COLORSPACE_JPEG.rawValue,
                V4L2_COLORSPACE_470_SYSTEM_M.rawValue, V4L2_COLORSPACE_470_SYSTEM_BG.rawValue:
                return .bt601
            default: return .unspecified
            }
        }
    }
}
