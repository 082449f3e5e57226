#pragma once

#include "../../C/CV4L2/libcamera.h"

#include <cstddef>
#include <cstring>
#include <string>

/// A call or its answer: the head, and behind it the structure of the request.
struct Packet {
    watchbox_libcamera_head head;
    /// As long as a request can say (_IOC_SIZEBITS).
    std::byte structure[1 << 14];

    size_t size() const { return sizeof head + _IOC_SIZE(head.request); }

    /// The structure; a copy, because a packet is not aligned for it.
    template <typename Structure>
    Structure read() const {
        Structure value;
        memcpy(&value, structure, sizeof value);
        return value;
    }
    template <typename Structure>
    void write(const Structure &value) {
        memcpy(structure, &value, sizeof value);
    }

    /// Answers with what `handler` makes of the structure.
    template <typename Owner, typename Structure>
    int answer(Owner &owner, int (Owner::*handler)(Structure &)) {
        auto value = read<Structure>();
        int error = (owner.*handler)(value);
        write(value);
        return error;
    }
};

/// Cuts a text that is too long for its field.
template <size_t Size, typename Character>
void copyText(Character (&field)[Size], const std::string &text) {
    memset(field, 0, Size);
    text.copy(reinterpret_cast<char *>(field), Size - 1);
}

/// The process that started this one, at the other end of descriptor 0. Any thread may send: a packet goes out whole or not at all.
class Caller {
public:
    /// False when descriptor 0 is no socket of this kind.
    bool connect();
    /// Waits for the next call; false at the end of the socket. What is no call ends the process.
    bool receive(Packet &);
    /// - Parameter descriptor: goes along, where it is not -1.
    void send(const Packet &, int descriptor = -1);

    /// Says what was not asked for.
    template <typename Structure>
    void tell(unsigned long request, const Structure &structure, int error) {
        Packet packet;
        packet.head = {static_cast<uint32_t>(request), 0, error, 0};
        packet.write(structure);
        send(packet);
    }
};
