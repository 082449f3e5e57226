#include "buffer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace libcamera;

/// Whether the planes lie in one DMA-BUF, and there as expected.
static bool fits(const std::vector<FrameBuffer::Plane> &planes, const std::vector<Format::Plane> &layout, size_t length) {
    for (size_t index = 0; index < layout.size(); index++)
        if (planes[index].fd.get() != planes[0].fd.get() || planes[index].offset != layout[index].offset) return false;
    off_t size = lseek(planes[0].fd.get(), 0, SEEK_END);
    return size > 0 && static_cast<size_t>(size) >= length;
}

int Buffer::create(const FrameBuffer &frame, const std::vector<Format::Plane> &expected, size_t length) {
    const std::vector<FrameBuffer::Plane> &source = frame.planes();
    if (source.size() != expected.size()) return EINVAL;
    length_ = length;
    layout = expected;
    if (fits(source, expected, length)) {
        memory = source[0].fd;
        return 0;
    }
    for (const FrameBuffer::Plane &plane : source) {
        if (plane.offset == FrameBuffer::Plane::kInvalidOffset) return EINVAL;
        planes.push_back(map(plane.fd.get(), size_t(plane.offset) + plane.length, PROT_READ));
        if (planes.back() == nullptr) return errno;
    }
    UniqueFD descriptor(memfd_create("watchbox-libcamera", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!descriptor.isValid() || ftruncate(descriptor.get(), static_cast<off_t>(length)) != 0) return errno;
    // So that neither side can take memory away from under the other.
    if (fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return errno;
    copy = map(descriptor.get(), length, PROT_READ | PROT_WRITE);
    if (copy == nullptr) return errno;
    memory = SharedFD(std::move(descriptor));
    return 0;
}

/// Tells the driver when the processor reads what the camera wrote. Memory that needs no such call refuses it.
static void synchronize(const FrameBuffer &frame, uint64_t flags) {
    dma_buf_sync request = {flags | DMA_BUF_SYNC_READ};
    int last = -1;
    for (const FrameBuffer::Plane &plane : frame.planes()) {
        if (plane.fd.get() != last) ioctl(plane.fd.get(), DMA_BUF_IOCTL_SYNC, &request);
        last = plane.fd.get();
    }
}

size_t Buffer::take(const FrameBuffer &frame) const {
    const auto &filled = frame.metadata().planes();
    size_t used = 0;
    for (const auto &plane : filled) used += plane.bytesused;
    if (copy == nullptr) return used == 0 ? length_ : std::min(used, length_);

    synchronize(frame, DMA_BUF_SYNC_START);
    used = 0;
    for (size_t index = 0; index < planes.size(); index++) {
        const FrameBuffer::Plane &source = frame.planes()[index];
        size_t count = std::min<size_t>(layout[index].size, source.length);
        if (index < filled.size() && filled[index].bytesused > 0) count = std::min<size_t>(count, filled[index].bytesused);
        memcpy(copy.get() + layout[index].offset, planes[index].get() + source.offset, count);
        used = layout[index].offset + count;
    }
    synchronize(frame, DMA_BUF_SYNC_END);
    return used;
}

Buffer::Mapping Buffer::map(int descriptor, size_t length, int protection) {
    void *address = mmap(nullptr, length, protection, MAP_SHARED, descriptor, 0);
    return Mapping(address == MAP_FAILED ? nullptr : static_cast<std::byte *>(address), Unmap{length});
}

void Buffer::Unmap::operator()(std::byte *address) const {
    munmap(address, length);
}
