#include "device.h"

#include <algorithm>
#include <cerrno>

using namespace libcamera;

static const uint32_t minBuffers = 2;
static const uint32_t maxBuffers = 32;
static const uint32_t microsecondsPerSecond = 1'000'000;

/// libcamera's results: a negative errno, or not.
static int errnoOf(int result) {
    return result < 0 ? -result : 0;
}

static bool isCapture(uint32_t type) {
    return type == V4L2_BUF_TYPE_VIDEO_CAPTURE;
}

static std::vector<const Format *> known(const StreamFormats &offered) {
    std::vector<const Format *> list;
    for (const PixelFormat &pixelFormat : offered.pixelformats())
        if (const Format *format = Format::of(pixelFormat)) list.push_back(format);
    return list;
}

Device::Device(std::shared_ptr<Camera> camera, Caller &caller) : camera_(camera), caller(caller), controls(*camera), allocator(camera) {
    camera->requestCompleted.connect(this, &Device::requestCompleted);
    camera->disconnected.connect(this, &Device::disconnected);
    if (auto offered = generateConfiguration()) {
        streamFormats = offered->at(0).formats();
        formats = known(streamFormats);
        configuration = negotiate(0, offered->at(0).size, 0);
        // Rates and exposures are known from then on: Raspberry Pi's cameras say 8 to 30 frames per second before. One that refuses says so again.
        if (configuration) camera->configure(configuration.get());
    }
}

int Device::answer(Packet &packet, int &descriptor) {
    {
        std::lock_guard lock(mutex);
        if (isGone) return ENODEV;
    }
    switch (packet.head.request) {
    case VIDIOC_QUERYCAP: return packet.answer(*this, &Device::queryCapability);
    case VIDIOC_ENUM_FMT: return packet.answer(*this, &Device::enumerateFormats);
    case VIDIOC_ENUM_FRAMESIZES: return packet.answer(*this, &Device::enumerateSizes);
    case VIDIOC_ENUM_FRAMEINTERVALS: return packet.answer(*this, &Device::enumerateIntervals);
    case VIDIOC_G_FMT: return packet.answer(*this, &Device::getFormat);
    case VIDIOC_S_FMT: return packet.answer(*this, &Device::setFormat);
    case VIDIOC_G_PARM: return packet.answer(*this, &Device::getParameters);
    case VIDIOC_S_PARM: return packet.answer(*this, &Device::setParameters);
    case VIDIOC_REQBUFS: return packet.answer(*this, &Device::requestBuffers);
    case VIDIOC_QUERYBUF: {
        int error = packet.answer(*this, &Device::queryBuffer);
        if (error == 0) descriptor = buffers[packet.read<v4l2_buffer>().index].descriptor();
        return error;
    }
    case VIDIOC_STREAMON: return packet.answer(*this, &Device::streamOn);
    case VIDIOC_STREAMOFF: return packet.answer(*this, &Device::streamOff);
    case VIDIOC_QUERY_EXT_CTRL: return packet.answer(controls, &Controls::query);
    case VIDIOC_QUERYMENU: return packet.answer(controls, &Controls::queryMenu);
    case VIDIOC_G_CTRL: return packet.answer(*this, &Device::getControl);
    case VIDIOC_S_CTRL: return packet.answer(controls, &Controls::set);
    default: return ENOTTY;
    }
}

void Device::close() {
    if (stop() == 0) camera_->release();
}

// MARK: what the camera can do

int Device::queryCapability(v4l2_capability &answer) {
    answer = {};
    copyText(answer.driver, "libcamera");
    copyText(answer.card, camera_->properties().get(properties::Model).value_or("camera"));
    copyText(answer.bus_info, camera_->id());
    answer.version = LIBCAMERA_VERSION_MAJOR << 16 | LIBCAMERA_VERSION_MINOR << 8 | LIBCAMERA_VERSION_PATCH;
    answer.device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    answer.capabilities = answer.device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

/// Nullptr where the camera does not have it.
const Format *Device::format(uint32_t fourcc) const {
    for (const Format *format : formats)
        if (format->fourcc == fourcc) return format;
    return nullptr;
}

int Device::enumerateFormats(v4l2_fmtdesc &query) {
    if (!isCapture(query.type) || query.index >= formats.size()) return EINVAL;
    const Format &format = *formats[query.index];
    uint32_t index = query.index;
    query = {};
    query.index = index;
    query.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    query.flags = format.isCompressed() ? V4L2_FMT_FLAG_COMPRESSED : 0;
    query.pixelformat = format.fourcc;
    copyText(query.description, format.description);
    return 0;
}

int Device::enumerateSizes(v4l2_frmsizeenum &query) {
    const Format *format = this->format(query.pixel_format);
    if (format == nullptr) return EINVAL;
    SizeRange range = streamFormats.range(format->pixelFormat);
    if (range.min != range.max && range.hStep > 0 && range.vStep > 0) {
        if (query.index > 0) return EINVAL;
        query.type = V4L2_FRMSIZE_TYPE_STEPWISE;
        query.stepwise = {range.min.width, range.max.width, range.hStep, range.min.height, range.max.height, range.vStep};
    } else {
        std::vector<Size> sizes = streamFormats.sizes(format->pixelFormat);
        if (query.index >= sizes.size()) return EINVAL;
        query.type = V4L2_FRMSIZE_TYPE_DISCRETE;
        query.discrete = {sizes[query.index].width, sizes[query.index].height};
    }
    return 0;
}

int Device::getControl(v4l2_control &answer) {
    std::lock_guard lock(mutex);
    return controls.get(answer, reported);
}

// MARK: format and rate

/// Nullptr for a camera without formats that the caller knows.
std::unique_ptr<CameraConfiguration> Device::generateConfiguration() const {
    for (StreamRole role : {StreamRole::VideoRecording, StreamRole::Viewfinder}) {
        auto generated = camera_->generateConfiguration({role});
        if (generated && !generated->empty() && !known(generated->at(0).formats()).empty()) return generated;
    }
    return nullptr;
}

/// What libcamera makes of a format and a size; nullptr when nothing.
std::unique_ptr<CameraConfiguration> Device::negotiate(uint32_t fourcc, Size size, unsigned stride) const {
    auto asked = generateConfiguration();
    if (!asked || formats.empty()) return nullptr;
    StreamConfiguration &stream = asked->at(0);
    // As drivers do: for what they do not know they choose something else.
    const Format *format = this->format(fourcc);
    if (format == nullptr) {
        auto usual = std::find(formats.begin(), formats.end(), Format::of(stream.pixelFormat));
        format = usual == formats.end() ? formats.front() : *usual;
    }
    stream.pixelFormat = format->pixelFormat;
    SizeRange range = stream.formats().range(format->pixelFormat);
    stream.size = size.expandedTo(range.min).boundedTo(range.max);
    // That of the format before would be taken for a wish.
    stream.stride = stride;
    if (asked->validate() == CameraConfiguration::Invalid || asked->size() != 1) return nullptr;
    return Format::of(asked->at(0).pixelFormat) == nullptr ? nullptr : std::move(asked);
}

int Device::getFormat(v4l2_format &answer) {
    if (!isCapture(answer.type) || !configuration) return EINVAL;
    answer.fmt = {};
    answer.fmt.pix = describe(configuration->at(0));
    return 0;
}

int Device::setFormat(v4l2_format &request) {
    if (!isCapture(request.type)) return EINVAL;
    if (!buffers.empty()) return EBUSY;
    const v4l2_pix_format &pix = request.fmt.pix;
    auto negotiated = negotiate(pix.pixelformat, {pix.width, pix.height}, pix.bytesperline);
    if (!negotiated) return EINVAL;
    // Already now, because which rates and exposures there are depends on it.
    if (int error = errnoOf(camera_->configure(negotiated.get()))) return error;
    configuration = std::move(negotiated);
    return getFormat(request);
}

/// The shortest and the longest time from frame to frame in microseconds; nullopt where it cannot be set.
static std::optional<std::pair<uint32_t, uint32_t>> frameDurations(const ControlInfoMap &infos) {
    auto found = infos.find(&controls::FrameDurationLimits);
    if (found == infos.end()) return std::nullopt;
    const ControlValue &shortest = found->second.min(), &longest = found->second.max();
    for (const ControlValue *value : {&shortest, &longest})
        if (value->type() != ControlTypeInteger64 || value->isArray()) return std::nullopt;
    auto bounded = [](int64_t number) { return static_cast<uint32_t>(std::clamp<int64_t>(number, 1, UINT32_MAX)); };
    auto durations = std::pair(bounded(shortest.get<int64_t>()), bounded(longest.get<int64_t>()));
    if (durations.first > durations.second) return std::nullopt;
    return durations;
}

int Device::enumerateIntervals(v4l2_frmivalenum &query) {
    auto durations = frameDurations(camera_->controls());
    if (!durations || query.index > 0 || format(query.pixel_format) == nullptr) return EINVAL;
    query.type = V4L2_FRMIVAL_TYPE_STEPWISE;
    query.stepwise.min = {durations->first, microsecondsPerSecond};
    query.stepwise.max = {durations->second, microsecondsPerSecond};
    query.stepwise.step = {1, microsecondsPerSecond};
    return 0;
}

/// The nearest time that there is; nullopt for none.
static std::optional<uint32_t> nearest(const v4l2_fract &interval, std::pair<uint32_t, uint32_t> durations) {
    if (interval.numerator == 0 || interval.denominator == 0) return std::nullopt;
    // 32 bits and a million fit.
    uint64_t exact = (uint64_t(interval.numerator) * microsecondsPerSecond + interval.denominator / 2) / interval.denominator;
    return static_cast<uint32_t>(std::clamp<uint64_t>(exact, durations.first, durations.second));
}

int Device::getParameters(v4l2_streamparm &answer) {
    if (!isCapture(answer.type)) return EINVAL;
    auto durations = frameDurations(camera_->controls());
    if (!durations) return ENOTTY;
    answer.parm = {};
    answer.parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
    // What a camera chooses itself it does not tell.
    answer.parm.capture.timeperframe = interval.denominator != 0 ? interval : v4l2_fract{durations->first, microsecondsPerSecond};
    return 0;
}

int Device::setParameters(v4l2_streamparm &request) {
    if (!isCapture(request.type)) return EINVAL;
    auto durations = frameDurations(camera_->controls());
    if (!durations) return ENOTTY;
    if (isRunning) return EBUSY;
    interval = request.parm.capture.timeperframe;
    auto microseconds = nearest(interval, *durations);
    if (!microseconds) interval = {};
    // 1/30 stays 1/30, and does not become 33333 microseconds.
    if (microseconds != nearest(interval, {1, UINT32_MAX})) interval = {*microseconds, microsecondsPerSecond};
    return getParameters(request);
}

// MARK: buffers and stream

int Device::requestBuffers(v4l2_requestbuffers &request) {
    if (!isCapture(request.type) || request.memory != V4L2_MEMORY_MMAP) return EINVAL;
    if (isRunning) return EBUSY;
    freeBuffers();
    if (request.count > 0) {
        if (int error = allocate(std::clamp(request.count, minBuffers, maxBuffers))) {
            freeBuffers();
            return error;
        }
    }
    request.count = static_cast<uint32_t>(buffers.size());
    request.capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP;
    request.flags = 0;
    return 0;
}

int Device::allocate(unsigned count) {
    if (!configuration) return EINVAL;
    StreamConfiguration &negotiated = configuration->at(0);
    negotiated.bufferCount = count;
    // The camera may want another count, and nothing else: the rest was agreed on.
    v4l2_pix_format agreed = describe(negotiated);
    if (configuration->validate() == CameraConfiguration::Invalid || Format::of(negotiated.pixelFormat) == nullptr) return EINVAL;
    v4l2_pix_format now = describe(negotiated);
    if (now.width != agreed.width || now.height != agreed.height || now.pixelformat != agreed.pixelformat || now.bytesperline != agreed.bytesperline) return EINVAL;
    if (int error = errnoOf(camera_->configure(configuration.get()))) return error;
    stream = negotiated.stream();
    if (int error = errnoOf(allocator.allocate(stream))) return error;
    const auto &frames = allocator.buffers(stream);
    if (frames.size() < minBuffers || frames.size() > maxBuffers) return ENOMEM;

    auto layout = Format::of(negotiated.pixelFormat)->layout(negotiated);
    size_t length = std::max<size_t>(negotiated.frameSize, layout.back().offset + layout.back().size);
    buffers.resize(frames.size());
    for (size_t index = 0; index < frames.size(); index++) {
        if (int error = buffers[index].create(*frames[index], layout, length)) return error;
        requests.push_back(camera_->createRequest(index));
        if (requests[index] == nullptr || requests[index]->addBuffer(stream, frames[index].get()) < 0) return ENOMEM;
    }
    return 0;
}

void Device::freeBuffers() {
    requests.clear();
    buffers.clear();
    if (stream != nullptr) allocator.free(stream);
    stream = nullptr;
}

int Device::queryBuffer(v4l2_buffer &answer) {
    if (!isCapture(answer.type) || answer.index >= buffers.size()) return EINVAL;
    const Buffer &buffer = buffers[answer.index];
    uint32_t index = answer.index;
    answer = {};
    answer.index = index;
    answer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    answer.memory = V4L2_MEMORY_MMAP;
    answer.length = static_cast<uint32_t>(buffer.length());
    answer.field = V4L2_FIELD_NONE;
    std::lock_guard lock(mutex);
    answer.flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | (buffer.isQueued ? V4L2_BUF_FLAG_QUEUED : 0);
    return 0;
}

void Device::queueBuffer(const v4l2_buffer &request) {
    if (!isCapture(request.type) || request.memory != V4L2_MEMORY_MMAP || request.index >= buffers.size()) return;
    std::lock_guard lock(mutex);
    if (isGone || buffers[request.index].isQueued) return;
    buffers[request.index].isQueued = true;
    if (!isStreaming) return;
    if (int error = queue(request.index)) breakOff(error);
}

/// Gives a buffer to the camera.
int Device::queue(size_t index) {
    requests[index]->reuse(Request::ReuseBuffers);
    controls.takeChanges(requests[index]->controls());
    return errnoOf(camera_->queueRequest(requests[index].get()));
}

int Device::streamOn(int &type) {
    if (!isCapture(static_cast<uint32_t>(type)) || buffers.empty()) return EINVAL;
    if (isRunning) return 0;
    // The range may be another one since the rate was set.
    auto durations = frameDurations(camera_->controls());
    controls.setFrameDuration(durations ? nearest(interval, *durations) : std::nullopt);
    ControlList settings(camera_->controls());
    controls.takeAll(settings);
    if (int error = errnoOf(camera_->start(&settings))) return error;
    isRunning = true;
    int error = 0;
    {
        std::lock_guard lock(mutex);
        for (size_t index = 0; index < buffers.size() && error == 0; index++)
            if (buffers[index].isQueued) error = queue(index);
        isStreaming = error == 0 && !isGone;
    }
    if (error != 0) stop();
    return error;
}

int Device::streamOff(int &type) {
    if (!isCapture(static_cast<uint32_t>(type))) return EINVAL;
    return stop();
}

int Device::stop() {
    {
        std::lock_guard lock(mutex);
        isStreaming = false;
    }
    // The camera's thread completes all requests before this returns.
    if (isRunning) {
        if (int error = errnoOf(camera_->stop())) return error;
    }
    isRunning = false;
    std::lock_guard lock(mutex);
    for (Buffer &buffer : buffers) buffer.isQueued = false;
    return 0;
}

/// Under the lock. Says that the stream ended by itself.
void Device::breakOff(int error) {
    isStreaming = false;
    caller.tell(VIDIOC_STREAMOFF, int(V4L2_BUF_TYPE_VIDEO_CAPTURE), error);
}

// MARK: libcamera's thread

void Device::requestCompleted(Request *request) {
    Buffer &buffer = buffers[request->cookie()];
    const FrameBuffer &frame = *request->buffers().begin()->second;
    const FrameMetadata &metadata = frame.metadata();
    // When the stream is stopped, or a camera failed.
    bool isCancelled = request->status() == Request::RequestCancelled;
    v4l2_buffer answer = {};
    answer.index = static_cast<uint32_t>(request->cookie());
    answer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    answer.memory = V4L2_MEMORY_MMAP;
    answer.length = static_cast<uint32_t>(buffer.length());
    answer.field = V4L2_FIELD_NONE;
    if (metadata.timestamp != 0) answer.flags |= V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    if (metadata.status == FrameMetadata::FrameError) answer.flags |= V4L2_BUF_FLAG_ERROR;
    answer.sequence = metadata.sequence;
    answer.timestamp.tv_sec = static_cast<time_t>(metadata.timestamp / 1'000'000'000);
    answer.timestamp.tv_usec = static_cast<suseconds_t>(metadata.timestamp / 1000 % microsecondsPerSecond);
    answer.reserved2 = buffer.copies();
    // Not under the lock: it may take milliseconds, and a buffer that completes is nobody else's.
    if (!isCancelled) answer.bytesused = static_cast<uint32_t>(buffer.take(frame));

    std::lock_guard lock(mutex);
    buffer.isQueued = false;
    if (!isStreaming) return;
    if (isCancelled) return breakOff(EIO);
    reported = request->metadata();
    caller.tell(VIDIOC_DQBUF, answer, 0);
}

void Device::disconnected() {
    std::lock_guard lock(mutex);
    isGone = true;
    breakOff(ENODEV);
}
