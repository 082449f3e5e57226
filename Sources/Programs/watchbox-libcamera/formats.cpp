#include "formats.h"

using namespace libcamera;

// DRM names a pixel by its bits from the highest down, V4L2 by its bytes: DRM's RGB888 is V4L2's BGR24.
static const Format known[] = {
    {formats::NV12, V4L2_PIX_FMT_NV12, "Y/UV 4:2:0", 2, true},
    {formats::NV21, V4L2_PIX_FMT_NV21, "Y/VU 4:2:0", 2, true},
    {formats::NV16, V4L2_PIX_FMT_NV16, "Y/UV 4:2:2", 2, false},
    {formats::YUV420, V4L2_PIX_FMT_YUV420, "Planar YUV 4:2:0", 3, true},
    {formats::YVU420, V4L2_PIX_FMT_YVU420, "Planar YVU 4:2:0", 3, true},
    {formats::YUV422, V4L2_PIX_FMT_YUV422P, "Planar YUV 4:2:2", 3, false},
    {formats::YUYV, V4L2_PIX_FMT_YUYV, "YUYV 4:2:2", 1, false},
    {formats::UYVY, V4L2_PIX_FMT_UYVY, "UYVY 4:2:2", 1, false},
    {formats::YVYU, V4L2_PIX_FMT_YVYU, "YVYU 4:2:2", 1, false},
    {formats::RGB888, V4L2_PIX_FMT_BGR24, "24-bit BGR 8-8-8", 1, false},
    {formats::BGR888, V4L2_PIX_FMT_RGB24, "24-bit RGB 8-8-8", 1, false},
    {formats::MJPEG, V4L2_PIX_FMT_MJPEG, "Motion-JPEG", 1, false},
    {formats::R8, V4L2_PIX_FMT_GREY, "8-bit Greyscale", 1, false},
};

const Format *Format::of(const PixelFormat &pixelFormat) {
    for (const Format &format : known)
        if (format.pixelFormat == pixelFormat) return &format;
    return nullptr;
}

std::vector<Format::Plane> Format::layout(const StreamConfiguration &configuration) const {
    if (isCompressed()) return {{0, configuration.frameSize}};
    size_t height = configuration.size.height;
    size_t luma = configuration.stride * height;
    size_t rows = isChromaHalved ? (height + 1) / 2 : height;
    size_t chroma = (planes == 3 ? configuration.stride / 2 : configuration.stride) * rows;
    std::vector<Plane> layout{{0, luma}};
    for (unsigned plane = 1; plane < planes; plane++) layout.push_back({luma + (plane - 1) * chroma, chroma});
    return layout;
}

static v4l2_colorspace colorspace(const ColorSpace &space) {
    switch (space.primaries) {
    case ColorSpace::Primaries::Raw: return V4L2_COLORSPACE_RAW;
    case ColorSpace::Primaries::Smpte170m: return V4L2_COLORSPACE_SMPTE170M;
    case ColorSpace::Primaries::Rec709: break;
    case ColorSpace::Primaries::Rec2020: return V4L2_COLORSPACE_BT2020;
    }
    // Three have the same primaries.
    if (space.transferFunction != ColorSpace::TransferFunction::Srgb) return V4L2_COLORSPACE_REC709;
    return space.ycbcrEncoding == ColorSpace::YcbcrEncoding::Rec601 ? V4L2_COLORSPACE_JPEG : V4L2_COLORSPACE_SRGB;
}

static v4l2_ycbcr_encoding encoding(const ColorSpace &space) {
    switch (space.ycbcrEncoding) {
    case ColorSpace::YcbcrEncoding::None: break;
    case ColorSpace::YcbcrEncoding::Rec601: return V4L2_YCBCR_ENC_601;
    case ColorSpace::YcbcrEncoding::Rec709: return V4L2_YCBCR_ENC_709;
    case ColorSpace::YcbcrEncoding::Rec2020: return V4L2_YCBCR_ENC_BT2020;
    }
    return V4L2_YCBCR_ENC_DEFAULT;
}

v4l2_pix_format describe(const StreamConfiguration &configuration) {
    v4l2_pix_format pix = {};
    pix.width = configuration.size.width;
    pix.height = configuration.size.height;
    pix.pixelformat = Format::of(configuration.pixelFormat)->fourcc;
    pix.field = V4L2_FIELD_NONE;
    pix.bytesperline = configuration.stride;
    pix.sizeimage = configuration.frameSize;
    // So that the fields behind it count.
    pix.priv = V4L2_PIX_FMT_PRIV_MAGIC;
    if (configuration.colorSpace) {
        const ColorSpace &space = *configuration.colorSpace;
        pix.colorspace = colorspace(space);
        pix.ycbcr_enc = encoding(space);
        pix.quantization = space.range == ColorSpace::Range::Full ? V4L2_QUANTIZATION_FULL_RANGE : V4L2_QUANTIZATION_LIM_RANGE;
    }
    return pix;
}
