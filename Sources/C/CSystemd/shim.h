// libsystemd, reached through dlopen: linked, it costs each process 1.2 MB of resident memory on Debian 12 and 0.8 MB on
// Debian 13 (x86-64), and the camera, the relay and the KAS need none of it: sd_notify, the handed-over descriptors and
// the journal's native protocol are datagrams and environment variables, which Systemd speaks itself. The system bus
// and journal files are not; whoever uses them first loads the library.
//
// Only functions that libsystemd 252 has. sd-bus' variadic functions are not needed: values are appended one by one.

#ifndef WATCHBOX_CSYSTEMD_SHIM_H
#define WATCHBOX_CSYSTEMD_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-journal.h>

/// Loads libsystemd, once per process; 0 when it is not installed. To be called before all other functions of this
/// file but those of the last part, and ordered before them (a Swift `static let` does that).
static inline int watchbox_systemd_load(void) {
    return dlopen("libsystemd.so.0", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

// Found once per place of use. Two threads may both look: they find the same. The first argument of dlsym is
// RTLD_DEFAULT, which glibc declares with _GNU_SOURCE only.
#define WATCHBOX_SD(name)                                                                   \
    ({                                                                                      \
        static __typeof__(name) *watchbox_found;                                            \
        __typeof__(name) *watchbox_f = __atomic_load_n(&watchbox_found, __ATOMIC_RELAXED);  \
        if (watchbox_f == NULL) {                                                           \
            watchbox_f = (__typeof__(name) *)dlsym((void *)0, #name);                       \
            __atomic_store_n(&watchbox_found, watchbox_f, __ATOMIC_RELAXED);                \
        }                                                                                   \
        watchbox_f;                                                                         \
    })

// MARK: sd-bus. All return a negative errno on failure, as sd-bus does.

/// Begins to connect; what is sent before the bus has greeted waits in sd-bus' queue. There is never a prompt for a
/// password on behalf of this connection.
static inline int watchbox_bus_open(const char *address, sd_bus **result) {
    sd_bus *bus = NULL;
    int r = WATCHBOX_SD(sd_bus_new)(&bus);
    if (r < 0) return r;
    r = WATCHBOX_SD(sd_bus_set_address)(bus, address);
    if (r >= 0) r = WATCHBOX_SD(sd_bus_set_bus_client)(bus, 1);
    if (r >= 0) r = WATCHBOX_SD(sd_bus_set_allow_interactive_authorization)(bus, 0);
    if (r >= 0) r = WATCHBOX_SD(sd_bus_start)(bus);
    if (r < 0) {
        WATCHBOX_SD(sd_bus_close_unref)(bus);
        return r;
    }
    *result = bus;
    return 0;
}

static inline void watchbox_bus_close(sd_bus *bus) {
    WATCHBOX_SD(sd_bus_close_unref)(bus);
}

/// 1 when something was done, 0 when there is nothing to do now. `*message` is what sd-bus itself did not claim: replies
/// to `watchbox_bus_send`, and signals; to be given back with `watchbox_message_unref`.
static inline int watchbox_bus_process(sd_bus *bus, sd_bus_message **message) {
    *message = NULL;
    return WATCHBOX_SD(sd_bus_process)(bus, message);
}

static inline int watchbox_bus_descriptor(sd_bus *bus) {
    return WATCHBOX_SD(sd_bus_get_fd)(bus);
}

/// Events for poll(2).
static inline int watchbox_bus_events(sd_bus *bus) {
    return WATCHBOX_SD(sd_bus_get_events)(bus);
}

/// When sd-bus wants to be called at the latest: microseconds of CLOCK_MONOTONIC, UINT64_MAX for never.
static inline int watchbox_bus_timeout(sd_bus *bus, uint64_t *microseconds) {
    return WATCHBOX_SD(sd_bus_get_timeout)(bus, microseconds);
}

/// `starts`: whether the bus may start the service that is called, when it does not run.
static inline int watchbox_message_new_call(
    sd_bus *bus, const char *destination, const char *path, const char *interface, const char *member, int starts,
    sd_bus_message **result
) {
    sd_bus_message *message = NULL;
    int r = WATCHBOX_SD(sd_bus_message_new_method_call)(bus, &message, destination, path, interface, member);
    if (r < 0) return r;
    r = WATCHBOX_SD(sd_bus_message_set_auto_start)(message, starts);
    if (r < 0) {
        WATCHBOX_SD(sd_bus_message_unref)(message);
        return r;
    }
    *result = message;
    return 0;
}

static inline int watchbox_message_append_string(sd_bus_message *message, const char *value) {
    return WATCHBOX_SD(sd_bus_message_append_basic)(message, SD_BUS_TYPE_STRING, value);
}

/// An array of strings with `value` in it, empty when it is NULL.
static inline int watchbox_message_append_strings(sd_bus_message *message, const char *value) {
    char *list[2] = {(char *)value, NULL};
    return WATCHBOX_SD(sd_bus_message_append_strv)(message, list);
}

static inline int watchbox_bus_send(sd_bus *bus, sd_bus_message *message, uint64_t *cookie) {
    return WATCHBOX_SD(sd_bus_send)(bus, message, cookie);
}

static inline void watchbox_message_unref(sd_bus_message *message) {
    WATCHBOX_SD(sd_bus_message_unref)(message);
}

/// One of SD_BUS_MESSAGE_…; 0 when it has none.
static inline uint8_t watchbox_message_type(sd_bus_message *message) {
    uint8_t type = 0;
    return WATCHBOX_SD(sd_bus_message_get_type)(message, &type) < 0 ? 0 : type;
}

/// The cookie of the call that this answers; 0 when it answers none.
static inline uint64_t watchbox_message_reply_cookie(sd_bus_message *message) {
    uint64_t cookie = 0;
    return WATCHBOX_SD(sd_bus_message_get_reply_cookie)(message, &cookie) < 0 ? 0 : cookie;
}

static inline const char *watchbox_message_sender(sd_bus_message *message) {
    return WATCHBOX_SD(sd_bus_message_get_sender)(message);
}

static inline const char *watchbox_message_error_name(sd_bus_message *message) {
    const sd_bus_error *error = WATCHBOX_SD(sd_bus_message_get_error)(message);
    return error == NULL ? NULL : error->name;
}

static inline const char *watchbox_message_error_text(sd_bus_message *message) {
    const sd_bus_error *error = WATCHBOX_SD(sd_bus_message_get_error)(message);
    return error == NULL ? NULL : error->message;
}

static inline int watchbox_message_error_number(sd_bus_message *message) {
    return WATCHBOX_SD(sd_bus_message_get_errno)(message);
}

static inline int watchbox_message_is_signal(sd_bus_message *message, const char *interface, const char *member) {
    return WATCHBOX_SD(sd_bus_message_is_signal)(message, interface, member);
}

static inline int watchbox_message_read(sd_bus_message *message, char type, void *value) {
    return WATCHBOX_SD(sd_bus_message_read_basic)(message, type, value);
}

static inline int watchbox_message_read_bytes(sd_bus_message *message, const void **bytes, size_t *count) {
    return WATCHBOX_SD(sd_bus_message_read_array)(message, SD_BUS_TYPE_BYTE, bytes, count);
}

static inline int watchbox_message_enter(sd_bus_message *message, char type, const char *contents) {
    return WATCHBOX_SD(sd_bus_message_enter_container)(message, type, contents);
}

static inline int watchbox_message_exit(sd_bus_message *message) {
    return WATCHBOX_SD(sd_bus_message_exit_container)(message);
}

/// The signature inside the container that comes next; NULL when none comes.
static inline const char *watchbox_message_next_contents(sd_bus_message *message) {
    const char *contents = NULL;
    return WATCHBOX_SD(sd_bus_message_peek_type)(message, NULL, &contents) > 0 ? contents : NULL;
}

static inline int watchbox_message_skip(sd_bus_message *message, const char *types) {
    return WATCHBOX_SD(sd_bus_message_skip)(message, types);
}

// MARK: sd-journal. Same errors.

/// The system's journal on this machine, or with `directory` the files there.
static inline int watchbox_journal_open(const char *directory, sd_journal **result) {
    if (directory != NULL) return WATCHBOX_SD(sd_journal_open_directory)(result, directory, 0);
    return WATCHBOX_SD(sd_journal_open)(result, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
}

static inline void watchbox_journal_close(sd_journal *journal) {
    WATCHBOX_SD(sd_journal_close)(journal);
}

/// Whether a file was found that this process may read.
static inline int watchbox_journal_has_files(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_has_runtime_files)(journal) > 0
        || WATCHBOX_SD(sd_journal_has_persistent_files)(journal) > 0;
}

static inline int watchbox_journal_limit_field(sd_journal *journal, size_t bytes) {
    return WATCHBOX_SD(sd_journal_set_data_threshold)(journal, bytes);
}

static inline int watchbox_journal_match(sd_journal *journal, const void *match, size_t count) {
    return WATCHBOX_SD(sd_journal_add_match)(journal, match, count);
}

static inline int watchbox_journal_or(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_add_disjunction)(journal);
}

static inline int watchbox_journal_and(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_add_conjunction)(journal);
}

static inline int watchbox_journal_seek_head(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_seek_head)(journal);
}

static inline int watchbox_journal_seek_tail(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_seek_tail)(journal);
}

static inline int watchbox_journal_seek_cursor(sd_journal *journal, const char *cursor) {
    return WATCHBOX_SD(sd_journal_seek_cursor)(journal, cursor);
}

static inline int watchbox_journal_is_at(sd_journal *journal, const char *cursor) {
    return WATCHBOX_SD(sd_journal_test_cursor)(journal, cursor);
}

static inline int watchbox_journal_next(sd_journal *journal) {
    return WATCHBOX_SD(sd_journal_next)(journal);
}

static inline int watchbox_journal_back(sd_journal *journal, uint64_t entries) {
    return WATCHBOX_SD(sd_journal_previous_skip)(journal, entries);
}

/// To be freed with free(3).
static inline int watchbox_journal_cursor(sd_journal *journal, char **cursor) {
    return WATCHBOX_SD(sd_journal_get_cursor)(journal, cursor);
}

static inline int watchbox_journal_realtime(sd_journal *journal, uint64_t *microseconds) {
    return WATCHBOX_SD(sd_journal_get_realtime_usec)(journal, microseconds);
}

/// The next field of the entry as "NAME=value", valid until the next call; 0 after the last.
static inline int watchbox_journal_field(sd_journal *journal, const void **bytes, size_t *count) {
    return WATCHBOX_SD(sd_journal_enumerate_available_data)(journal, bytes, count);
}

static inline int watchbox_journal_wait(sd_journal *journal, uint64_t microseconds) {
    return WATCHBOX_SD(sd_journal_wait)(journal, microseconds);
}

#undef WATCHBOX_SD

// MARK: the C library alone

/// What wakes a thread out of poll(2); -1 and errno on failure.
static inline int watchbox_bell_new(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void watchbox_bell_ring(int bell) {
    (void)!eventfd_write(bell, 1);
}

static inline void watchbox_bell_silence(int bell) {
    eventfd_t rings;
    (void)!eventfd_read(bell, &rings);
}

/// One datagram, with a descriptor when `passed` is not negative; 0 or an errno. The CMSG macros are not for Swift.
static inline int watchbox_send_datagram(
    int socket, const struct sockaddr *address, socklen_t length, const void *bytes, size_t count, int passed, int flags
) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &passed, sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

#endif
