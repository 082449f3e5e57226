// The kernel's V4L2, in forms that Swift imports; and libv4lconvert, reached through dlopen, because only cameras with a
// vendor's own coding need it, and a machine without it has lost nothing else.

#ifndef WATCHBOX_CV4L2_SHIM_H
#define WATCHBOX_CV4L2_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <linux/usb/video.h>
#include <linux/uvcvideo.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libcamera.h"

// MARK: what Swift cannot call or read

/// Request numbers are made by macros with sizeof in them.
#define WATCHBOX_REQUEST(name) static const unsigned long watchbox_##name = name
WATCHBOX_REQUEST(VIDIOC_QUERYCAP);
WATCHBOX_REQUEST(VIDIOC_ENUM_FMT);
WATCHBOX_REQUEST(VIDIOC_G_FMT);
WATCHBOX_REQUEST(VIDIOC_S_FMT);
WATCHBOX_REQUEST(VIDIOC_G_PARM);
WATCHBOX_REQUEST(VIDIOC_S_PARM);
WATCHBOX_REQUEST(VIDIOC_REQBUFS);
WATCHBOX_REQUEST(VIDIOC_QUERYBUF);
WATCHBOX_REQUEST(VIDIOC_QBUF);
WATCHBOX_REQUEST(VIDIOC_DQBUF);
WATCHBOX_REQUEST(VIDIOC_EXPBUF);
WATCHBOX_REQUEST(VIDIOC_STREAMON);
WATCHBOX_REQUEST(VIDIOC_STREAMOFF);
WATCHBOX_REQUEST(VIDIOC_ENUM_FRAMESIZES);
WATCHBOX_REQUEST(VIDIOC_ENUM_FRAMEINTERVALS);
WATCHBOX_REQUEST(VIDIOC_QUERYCTRL);
WATCHBOX_REQUEST(VIDIOC_QUERY_EXT_CTRL);
WATCHBOX_REQUEST(VIDIOC_QUERYMENU);
WATCHBOX_REQUEST(VIDIOC_G_CTRL);
WATCHBOX_REQUEST(VIDIOC_S_CTRL);
WATCHBOX_REQUEST(VIDIOC_G_EXT_CTRLS);
WATCHBOX_REQUEST(VIDIOC_S_EXT_CTRLS);
WATCHBOX_REQUEST(VIDIOC_SUBSCRIBE_EVENT);
WATCHBOX_REQUEST(VIDIOC_UNSUBSCRIBE_EVENT);
WATCHBOX_REQUEST(VIDIOC_DQEVENT);
WATCHBOX_REQUEST(VIDIOC_QUERY_DV_TIMINGS);
WATCHBOX_REQUEST(VIDIOC_S_DV_TIMINGS);
WATCHBOX_REQUEST(VIDIOC_G_EDID);
WATCHBOX_REQUEST(VIDIOC_S_EDID);
WATCHBOX_REQUEST(UVCIOC_CTRL_QUERY);
WATCHBOX_REQUEST(WATCHBOX_LIBCAMERA_HELLO);
WATCHBOX_REQUEST(WATCHBOX_LIBCAMERA_CAMERA);
WATCHBOX_REQUEST(WATCHBOX_LIBCAMERA_OPEN);
#undef WATCHBOX_REQUEST

/// ioctl(2), not variadic, and repeated when a signal came between; 0 or an errno.
static inline int watchbox_v4l2_ioctl(int descriptor, unsigned long request, void *argument) {
    int result;
    do result = ioctl(descriptor, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

/// A descriptor for reading, writing and mapping, never waited for; or a negative errno.
static inline int watchbox_v4l2_open(const char *path) {
    int descriptor;
    do descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR);
    return descriptor < 0 ? -errno : descriptor;
}

/// Events of one descriptor; -errno on failure. A signal ends the wait early, as if nothing had come.
static inline int watchbox_v4l2_poll(int descriptor, short events, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = events};
    int count = poll(&entry, 1, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    return count == 0 ? 0 : (unsigned short)entry.revents;
}

/// The processor reads what a device wrote, or has done so; other memory needs neither.
static inline void watchbox_begin_reading(int memory) {
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
    watchbox_v4l2_ioctl(memory, DMA_BUF_IOCTL_SYNC, &sync);
}
static inline void watchbox_end_reading(int memory) {
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW};
    watchbox_v4l2_ioctl(memory, DMA_BUF_IOCTL_SYNC, &sync);
}

/// Of this thread's last call.
static inline int watchbox_errno(void) { return errno; }

/// CLOCK_MONOTONIC in nanoseconds: the clock of a driver's time stamps.
static inline uint64_t watchbox_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// "Make a key frame": a macro of many parts.
static const uint32_t watchbox_force_key_frame = V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME;

/// struct v4l2_querymenu is packed; its value is copied out of it.
static inline int64_t watchbox_querymenu_value(const struct v4l2_querymenu *menu) {
    int64_t value;
    memcpy(&value, &menu->value, sizeof value);
    return value;
}

// MARK: libv4lconvert

/// Loads the library; 0 when it is not installed. Before all functions below, and ordered before them.
static inline int watchbox_v4lconvert_load(void) {
    return dlopen("libv4lconvert.so.0", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

// The first argument of dlsym is RTLD_DEFAULT, which glibc declares with _GNU_SOURCE only.
#define WATCHBOX_V4L(name)                                                                  \
    ({                                                                                      \
        static __typeof__(name) *watchbox_found;                                            \
        __typeof__(name) *watchbox_f = __atomic_load_n(&watchbox_found, __ATOMIC_RELAXED);  \
        if (watchbox_f == NULL) {                                                           \
            watchbox_f = (__typeof__(name) *)dlsym((void *)0, #name);                       \
            __atomic_store_n(&watchbox_found, watchbox_f, __ATOMIC_RELAXED);                \
        }                                                                                   \
        watchbox_f;                                                                         \
    })

// The converter wants a device to ask. It is given one that is there, gives YU12 and can nothing else: then it converts
// what it is handed, touches neither the camera nor its controls, and keeps no controls of its own in shared memory.
static inline void *watchbox_no_device_init(int descriptor) {
    (void)descriptor;
    return NULL;
}
static inline void watchbox_no_device_close(void *device) { (void)device; }
static inline int watchbox_no_device_ioctl(void *device, int descriptor, unsigned long request, void *argument) {
    (void)device;
    (void)descriptor;
    if (request == VIDIOC_QUERYCAP) {
        memset(argument, 0, sizeof(struct v4l2_capability));
        return 0;
    }
    if (request == VIDIOC_ENUM_FMT && ((struct v4l2_fmtdesc *)argument)->index == 0) {
        ((struct v4l2_fmtdesc *)argument)->pixelformat = V4L2_PIX_FMT_YUV420;
        return 0;
    }
    errno = request == VIDIOC_ENUM_FMT ? EINVAL : ENOTTY;
    return -1;
}

static inline struct v4lconvert_data *watchbox_v4lconvert_create(void) {
    static const struct libv4l_dev_ops operations = {
        .init = watchbox_no_device_init, .close = watchbox_no_device_close, .ioctl = watchbox_no_device_ioctl};
    return WATCHBOX_V4L(v4lconvert_create_with_dev_ops)(-1, NULL, &operations);
}

static inline void watchbox_v4lconvert_destroy(struct v4lconvert_data *converter) {
    WATCHBOX_V4L(v4lconvert_destroy)(converter);
}

/// The bytes written, or a negative number.
static inline int watchbox_v4lconvert_convert(
    struct v4lconvert_data *converter, const struct v4l2_format *from, const struct v4l2_format *to,
    const void *bytes, int count, void *output, int capacity
) {
    return WATCHBOX_V4L(v4lconvert_convert)(
        converter, from, to, (unsigned char *)bytes, count, (unsigned char *)output, capacity);
}

static inline const char *watchbox_v4lconvert_message(struct v4lconvert_data *converter) {
    return WATCHBOX_V4L(v4lconvert_get_error_message)(converter);
}

#undef WATCHBOX_V4L

#endif
