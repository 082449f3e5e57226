#include "caller.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// A caller that reads nothing for so long never will: there are never more packets for it than buffers and one answer.
static const timeval patience = {5, 0};

[[noreturn]] static void end(const char *reason) {
    fprintf(stderr, "watchbox-libcamera: %s\n", reason);
    _exit(1);
}

bool Caller::connect() {
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(0, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET) return false;
    setsockopt(0, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) & ~O_NONBLOCK);
    // libcamera starts processes of its own, and none of them must keep the socket open.
    fcntl(0, F_SETFD, FD_CLOEXEC);
    // Descriptor 1 is the same socket: what a library prints there would be a packet.
    dup2(2, 1);
    return true;
}

bool Caller::receive(Packet &packet) {
    ssize_t count;
    do count = recv(0, &packet, sizeof packet, MSG_TRUNC);
    while (count < 0 && errno == EINTR);
    if (count == 0 || (count < 0 && errno == ECONNRESET)) return false;
    if (count < 0) end("The socket cannot be read.");
    auto size = static_cast<size_t>(count);
    if (size < sizeof packet.head || size != packet.size() || packet.head.serial == 0) end("The caller sent a message that is no call.");
    return true;
}

void Caller::send(const Packet &packet, int descriptor) {
    iovec part = {const_cast<Packet *>(&packet), packet.size()};
    msghdr envelope = {};
    envelope.msg_iov = &part;
    envelope.msg_iovlen = 1;
    alignas(cmsghdr) char rights[CMSG_SPACE(sizeof descriptor)] = {};
    if (descriptor >= 0) {
        envelope.msg_control = rights;
        envelope.msg_controllen = sizeof rights;
        cmsghdr *header = CMSG_FIRSTHDR(&envelope);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t count;
    do count = sendmsg(0, &envelope, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    // That the caller is gone is found by `receive`.
    if (count >= 0 || errno == EPIPE || errno == ECONNRESET) return;
    end(errno == EAGAIN ? "The caller does not read." : "The socket cannot be written to.");
}
