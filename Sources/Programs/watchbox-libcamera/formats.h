#pragma once

#include <libcamera/libcamera.h>
#include <linux/videodev2.h>
#include <vector>

/// A pixel format that both libcamera and the caller know. Raw sensor data and pixels with padding are left out.
struct Format {
    libcamera::PixelFormat pixelFormat;
    /// V4L2_PIX_FMT_…
    uint32_t fourcc;
    const char *description;
    unsigned planes;
    /// Of formats with several planes: one row of chroma for two of luma.
    bool isChromaHalved;

    bool isCompressed() const { return fourcc == V4L2_PIX_FMT_MJPEG; }

    struct Plane {
        size_t offset;
        size_t size;
    };
    /// Where V4L2 has the planes in one stretch of memory.
    std::vector<Plane> layout(const libcamera::StreamConfiguration &) const;

    /// Nullptr for a format that the caller does not know.
    static const Format *of(const libcamera::PixelFormat &);
};

/// As VIDIOC_G_FMT has it.
v4l2_pix_format describe(const libcamera::StreamConfiguration &);
