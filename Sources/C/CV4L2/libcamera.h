// What watchboxd and watchbox-libcamera say to each other, in both languages: V4L2's calls and structures, as messages. So what checks a
// driver's answers checks the helper's as well, and a CSI camera waits, stalls and comes back as any camera of V4L2 does.
//
// The helper's descriptor 0 is one end of a pair of SOCK_SEQPACKET. A message is this head, and behind it the structure of its request,
// whole: linux/videodev2.h's, or one of those below. Both ends are programs of one machine, so numbers are as that machine has them.
//
// watchboxd calls, one call at a time. The helper answers each with the same request and serial, `error` set, and the structure filled in;
// VIDIOC_QUERYBUF's answer also carries the buffer's descriptor (SCM_RIGHTS): a DMA-BUF, or sealed memory (memfd) into which frames are copied.
// Three things are different from a driver's:
//   VIDIOC_QBUF has no answer.
//   VIDIOC_DQBUF is not called. The helper sends it with serial 0 when a frame is there; `reserved2` says how often it has copied the frame, 0 or 1.
//   VIDIOC_STREAMOFF with serial 0 and an error comes from the helper when the stream broke by itself; ENODEV, also after another: the camera is gone.
// After VIDIOC_STREAMOFF's answer no frame of that stream comes any more.
//
// The end of the socket is the end of the helper, and it is done with its camera then.

#ifndef WATCHBOX_LIBCAMERA_H
#define WATCHBOX_LIBCAMERA_H

#include <linux/videodev2.h>
#include <stdint.h>

/// Grows with every change that the other side has to know.
#define WATCHBOX_LIBCAMERA_VERSION 1

struct watchbox_libcamera_head {
    /// VIDIOC_…, or one of those below.
    uint32_t request;
    /// The caller's number of the call, not 0.
    uint32_t serial;
    /// An errno, or 0. In a call 0.
    int32_t error;
    uint32_t reserved;
};

/// Comes first; any other call before it is answered with EPROTO. `version` is the caller's, then the helper's.
struct watchbox_libcamera_hello {
    uint32_t version;
};

/// One camera that libcamera lists, but those at USB. EINVAL: `index` is behind the last.
struct watchbox_libcamera_camera {
    uint32_t index;
    /// "/base/soc/i2c0mux/i2c@1/imx708@1a": connector and sensor, from the device tree, so the same after each start.
    char id[248];
    /// "imx708"
    char model[64];
};

/// Takes the camera `id` for this helper alone. ENODEV: there is none; EBUSY: another process has it, `holder`, or 0 where that cannot be
/// found out.
struct watchbox_libcamera_open {
    int32_t holder;
    char id[248];
};

#define WATCHBOX_LIBCAMERA_HELLO _IOWR('w', 0, struct watchbox_libcamera_hello)
#define WATCHBOX_LIBCAMERA_CAMERA _IOWR('w', 1, struct watchbox_libcamera_camera)
#define WATCHBOX_LIBCAMERA_OPEN _IOWR('w', 2, struct watchbox_libcamera_open)

#endif
