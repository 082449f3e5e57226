// Gives watchboxd the cameras that need libcamera, in a process of its own: libcamera's C++ changes with each version, and what it has of
// the world's camera drivers may crash, but not the process that encrypts the frames. See Sources/C/CV4L2/libcamera.h for what is said.

#include "device.h"
#include "holder.h"
#include "rights.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <regex>
#include <unistd.h>

using namespace libcamera;

/// A camera that does not stop for this long is left to the kernel, in seconds.
static const unsigned stopLimit = 5;

/// From the caller's first message to its last.
class Session {
public:
    explicit Session(Caller &caller) : caller(caller) {}

    void take(Packet &packet) {
        // The one call without an answer.
        if (packet.head.request == VIDIOC_QBUF) {
            if (device) device->queueBuffer(packet.read<v4l2_buffer>());
            return;
        }
        int descriptor = -1;
        packet.head.error = answer(packet, descriptor);
        caller.send(packet, descriptor);
    }

    void close() {
        if (device) device->close();
    }

private:
    int answer(Packet &packet, int &descriptor) {
        if (packet.head.request == WATCHBOX_LIBCAMERA_HELLO) return packet.answer(*this, &Session::hello);
        if (!manager) return EPROTO;
        switch (packet.head.request) {
        case WATCHBOX_LIBCAMERA_CAMERA: return packet.answer(*this, &Session::camera);
        case WATCHBOX_LIBCAMERA_OPEN: return packet.answer(*this, &Session::open);
        default: return device ? device->answer(packet, descriptor) : ENODEV;
        }
    }

    int hello(watchbox_libcamera_hello &hello) {
        bool isSame = hello.version == WATCHBOX_LIBCAMERA_VERSION;
        hello.version = WATCHBOX_LIBCAMERA_VERSION;
        if (!isSame) return EPROTO;
        if (manager) return 0;
        manager = std::make_unique<CameraManager>();
        if (manager->start() == 0) return 0;
        manager.reset();
        return EIO;
    }

    /// Those at USB are V4L2's as well, and better there. They are known by libcamera's name for them, which ends in port, interface, vendor and product
    /// ("-1.4:1.0-046d:082d"): a location outside the box is what Raspberry Pi's sensors have, too.
    static bool isAtUSB(const Camera &camera) {
        static const std::regex name("-[0-9.]+:[0-9]+\\.[0-9]+-[0-9a-f]{4}:[0-9a-f]{4}$");
        return std::regex_search(camera.id(), name);
    }

    std::vector<std::shared_ptr<Camera>> cameras() const {
        std::vector<std::shared_ptr<Camera>> list;
        for (const std::shared_ptr<Camera> &camera : manager->cameras())
            if (!isAtUSB(*camera)) list.push_back(camera);
        return list;
    }

    int camera(watchbox_libcamera_camera &answer) {
        auto list = cameras();
        if (answer.index >= list.size()) return EINVAL;
        const Camera &camera = *list[answer.index];
        copyText(answer.id, camera.id());
        copyText(answer.model, std::string(camera.properties().get(properties::Model).value_or("camera")));
        return 0;
    }

    int open(watchbox_libcamera_open &request) {
        request.holder = 0;
        if (device) {
            request.holder = getpid();
            return EBUSY;
        }
        std::string id(request.id, strnlen(request.id, sizeof request.id));
        for (const std::shared_ptr<Camera> &camera : cameras()) {
            if (camera->id() != id) continue;
            int result = camera->acquire();
            if (result == -EBUSY) request.holder = holderOfMediaDevice();
            if (result < 0) return -result;
            device = std::make_unique<Device>(camera, caller);
            return 0;
        }
        // Some are not listed while another process has them.
        if (cameras().empty()) request.holder = holderOfMediaDevice();
        return request.holder > 0 ? EBUSY : ENODEV;
    }

    Caller &caller;
    std::unique_ptr<CameraManager> manager;
    std::unique_ptr<Device> device;
};

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--version") == 0) {
        printf("watchbox-libcamera protocol %d, libcamera %s\n", WATCHBOX_LIBCAMERA_VERSION, CameraManager::version().c_str());
        return 0;
    }
    holdBack(arguments);
    // For those who do not believe it: which of these files could be read in the middle of its work?
    if (count > 2 && strcmp(arguments[1], "--try") == 0) {
        for (int index = 2; index < count; index++)
            printf("%s: %s\n", arguments[index], open(arguments[index], O_RDONLY | O_CLOEXEC) < 0 ? strerror(errno) : "readable");
        return 0;
    }
    Caller caller;
    if (!caller.connect()) {
        fprintf(stderr, "watchbox-libcamera is a part of watchboxd, which starts it for the cameras that need libcamera.\n");
        return 2;
    }
    // A unit's stop signals all of its processes: this one goes on until its caller is done with the camera.
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", 0);
    // Without this it prints in colour, which the journal takes for bytes that are no text.
    if (getenv("LIBCAMERA_LOG_FILE") == nullptr) logSetStream(&std::cerr);

    Session session(caller);
    static Packet packet;
    while (caller.receive(packet)) session.take(packet);
    alarm(stopLimit);
    session.close();
    // The kernel frees the rest. What libcamera would do for it can only go wrong.
    std::_Exit(0);
}
