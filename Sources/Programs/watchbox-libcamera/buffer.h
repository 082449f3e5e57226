#pragma once

#include "formats.h"

#include <memory>

/// The memory of one frame as the caller gets it: the camera's own (DMA-BUF) where its planes lie as the caller expects, else a copy.
class Buffer {
public:
    /// - Parameter layout: where the caller expects the planes.
    /// - Returns: an errno, or 0.
    int create(const libcamera::FrameBuffer &, const std::vector<Format::Plane> &layout, size_t length);

    /// The caller maps it from its first byte.
    int descriptor() const { return memory.get(); }
    size_t length() const { return length_; }
    /// Of each frame: 0 or 1.
    unsigned copies() const { return copy == nullptr ? 0 : 1; }
    /// Bytes of the frame that the camera has filled, once they are in this memory.
    size_t take(const libcamera::FrameBuffer &) const;

    /// The camera has it, or gets it when the stream begins.
    bool isQueued = false;

private:
    struct Unmap {
        size_t length;
        void operator()(std::byte *) const;
    };
    using Mapping = std::unique_ptr<std::byte, Unmap>;
    static Mapping map(int descriptor, size_t length, int protection);

    libcamera::SharedFD memory;
    size_t length_ = 0;
    /// From where to where is copied.
    std::vector<Mapping> planes;
    std::vector<Format::Plane> layout;
    Mapping copy;
};
