#pragma once

#include "buffer.h"
#include "caller.h"
#include "controls.h"

#include <mutex>

/// The camera that is open, as a driver would answer for it. Each request returns a positive errno, or 0.
///
/// Two threads come here. The program's own calls all but `requestCompleted` and `disconnected`, which are libcamera's thread. Frames are
/// sent under `mutex`, so that none is after `isStreaming` became false; what else it protects stands behind it. Nobody who holds it waits
/// for the other thread: starting, stopping and configuring a camera do, queueing a request does not.
class Device {
public:
    /// - Parameter camera: acquired.
    Device(std::shared_ptr<libcamera::Camera> camera, Caller &);

    const libcamera::Camera &camera() const { return *camera_; }
    /// - Parameter descriptor: what the answer carries.
    int answer(Packet &, int &descriptor);
    /// Takes no answer: a buffer that cannot be queued ends the stream, and what is no buffer is ignored.
    void queueBuffer(const v4l2_buffer &);
    /// Stops and releases the camera. The last call.
    void close();

private:
    int queryCapability(v4l2_capability &);
    int enumerateFormats(v4l2_fmtdesc &);
    int enumerateSizes(v4l2_frmsizeenum &);
    int enumerateIntervals(v4l2_frmivalenum &);
    int getFormat(v4l2_format &);
    int setFormat(v4l2_format &);
    int getParameters(v4l2_streamparm &);
    int setParameters(v4l2_streamparm &);
    int requestBuffers(v4l2_requestbuffers &);
    int queryBuffer(v4l2_buffer &);
    int streamOn(int &type);
    int streamOff(int &type);
    int getControl(v4l2_control &);

    std::unique_ptr<libcamera::CameraConfiguration> generateConfiguration() const;
    std::unique_ptr<libcamera::CameraConfiguration> negotiate(uint32_t fourcc, libcamera::Size, unsigned stride) const;
    const Format *format(uint32_t fourcc) const;
    int allocate(unsigned count);
    void freeBuffers();
    int queue(size_t index);
    int stop();
    void breakOff(int error);

    void requestCompleted(libcamera::Request *);
    void disconnected();

    std::shared_ptr<libcamera::Camera> camera_;
    Caller &caller;
    Controls controls;
    /// What libcamera offers of what the caller knows.
    std::vector<const Format *> formats;
    libcamera::StreamFormats streamFormats;
    /// What is negotiated; nothing for a camera without such formats.
    std::unique_ptr<libcamera::CameraConfiguration> configuration;
    /// The time from frame to frame; nothing was set where it is 0.
    v4l2_fract interval = {};
    libcamera::FrameBufferAllocator allocator;
    libcamera::Stream *stream = nullptr;
    /// By index. They change only while no stream runs.
    std::vector<Buffer> buffers;
    std::vector<std::unique_ptr<libcamera::Request>> requests;
    /// The camera was started. A stream that broke off still runs.
    bool isRunning = false;

    /// Protects what follows, and `Buffer::isQueued`.
    std::mutex mutex;
    bool isStreaming = false;
    bool isGone = false;
    /// Of the last frame.
    libcamera::ControlList reported;
};
