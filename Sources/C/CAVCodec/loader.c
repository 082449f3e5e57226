#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef int (*wb_avio_read)(void *opaque, uint8_t *bytes, int count);
typedef int64_t (*wb_avio_seek)(void *opaque, int64_t offset, int whence);
#if LIBAVFORMAT_VERSION_MAJOR >= 61
typedef int (*wb_avio_write)(void *opaque, const uint8_t *bytes, int count);
#else
typedef int (*wb_avio_write)(void *opaque, uint8_t *bytes, int count);
#endif

// Called from here only, where the type of the write callback differs between versions.
#define WB_AVFORMAT_PRIVATE_FUNCTIONS(F) \
    F(AVIOContext *, avio_alloc_context, \
      (unsigned char *buffer, int size, int writes, void *opaque, wb_avio_read read, wb_avio_write write, \
       wb_avio_seek seek), \
      (buffer, size, writes, opaque, read, write, seek))

#define POINTER(result, name, parameters, arguments) __typeof__(name) *name;
static struct {
    WB_AVUTIL_FUNCTIONS(POINTER)
    WB_SWRESAMPLE_FUNCTIONS(POINTER)
    WB_AVCODEC_FUNCTIONS(POINTER)
    WB_SWSCALE_FUNCTIONS(POINTER)
    WB_AVFORMAT_FUNCTIONS(POINTER)
    WB_AVFORMAT_PRIVATE_FUNCTIONS(POINTER)
} wb_libav;
#undef POINTER

#define DEFINITION(result, name, parameters, arguments) \
    result wb_##name parameters { return wb_libav.name arguments; }
WB_AVUTIL_FUNCTIONS(DEFINITION)
WB_SWRESAMPLE_FUNCTIONS(DEFINITION)
WB_AVCODEC_FUNCTIONS(DEFINITION)
WB_SWSCALE_FUNCTIONS(DEFINITION)
WB_AVFORMAT_FUNCTIONS(DEFINITION)
#undef DEFINITION

#define LIBRARY_COUNT 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *handles[LIBRARY_COUNT];
static _Thread_local char last_log[256];

static const struct {
    const char *name;
    int major;
} libraries[LIBRARY_COUNT] = {
    [WB_LIBRARY_AVUTIL] = {"avutil", LIBAVUTIL_VERSION_MAJOR},
    [WB_LIBRARY_SWRESAMPLE] = {"swresample", LIBSWRESAMPLE_VERSION_MAJOR},
    [WB_LIBRARY_AVCODEC] = {"avcodec", LIBAVCODEC_VERSION_MAJOR},
    [WB_LIBRARY_SWSCALE] = {"swscale", LIBSWSCALE_VERSION_MAJOR},
    [WB_LIBRARY_AVFORMAT] = {"avformat", LIBAVFORMAT_VERSION_MAJOR},
};

// Keeps errors, and nothing else, for the message that the caller will write.
static void keep_log(void *object, int level, const char *format, va_list arguments) {
    (void)object;
    if ((level & 0xff) > AV_LOG_ERROR) return;
    char line[sizeof last_log];
    vsnprintf(line, sizeof line, format, arguments);
    size_t length = 0;
    for (; line[length] != 0; length++) {
        // A file can put anything into its own error message.
        if ((unsigned char)line[length] < 0x20 || line[length] == 0x7f) line[length] = ' ';
    }
    while (length > 0 && line[length - 1] == ' ') line[--length] = 0;
    if (length > 0) memcpy(last_log, line, length + 1);
    // libav is about to abort the process: the only witness of why.
    if ((level & 0xff) <= AV_LOG_PANIC) fprintf(stderr, "libav: %s\n", line);
}

void wb_libav_take_log(char *text, size_t size) {
    snprintf(text, size, "%s", last_log);
    last_log[0] = 0;
}

// The first function that `library` lacks, or NULL.
static const char *resolve(enum wb_library library, void *handle) {
#define RESOLVE(result, name, parameters, arguments) \
    if ((wb_libav.name = (__typeof__(wb_libav.name))dlsym(handle, #name)) == NULL) return #name;
    switch (library) {
    case WB_LIBRARY_AVUTIL:
        WB_AVUTIL_FUNCTIONS(RESOLVE)
        break;
    case WB_LIBRARY_SWRESAMPLE:
        WB_SWRESAMPLE_FUNCTIONS(RESOLVE)
        break;
    case WB_LIBRARY_AVCODEC:
        WB_AVCODEC_FUNCTIONS(RESOLVE)
        break;
    case WB_LIBRARY_SWSCALE:
        WB_SWSCALE_FUNCTIONS(RESOLVE)
        break;
    case WB_LIBRARY_AVFORMAT:
        WB_AVFORMAT_FUNCTIONS(RESOLVE)
        WB_AVFORMAT_PRIVATE_FUNCTIONS(RESOLVE)
        break;
    }
    return NULL;
#undef RESOLVE
}

static bool load(enum wb_library library, char *failure, size_t size) {
    if (handles[library] != NULL) return true;
    if (library != WB_LIBRARY_AVUTIL && !load(WB_LIBRARY_AVUTIL, failure, size)) return false;
    // Demuxing and muxing hand packets about, which are libavcodec's.
    if (library == WB_LIBRARY_AVFORMAT && !load(WB_LIBRARY_AVCODEC, failure, size)) return false;

    const char *name = libraries[library].name;
    int major = libraries[library].major;
    char file[64];
    snprintf(file, sizeof file, "lib%s.so.%d", name, major);
    void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(failure, size, "cannot load %s: %s. Install the Debian package lib%s%d", file,
                 reason != NULL ? reason : "unknown reason", name, major);
        return false;
    }
    const char *missing = resolve(library, handle);
    if (missing != NULL) {
        snprintf(failure, size, "%s lacks the function %s. Install the Debian package lib%s%d", file, missing, name,
                 major);
        dlclose(handle);
        return false;
    }
    if (library == WB_LIBRARY_AVUTIL) wb_libav.av_log_set_callback(keep_log);
    handles[library] = handle;
    return true;
}

bool wb_libav_load(enum wb_library library, char *failure, size_t size) {
    pthread_mutex_lock(&lock);
    bool loaded = load(library, failure, size);
    pthread_mutex_unlock(&lock);
    return loaded;
}

AVIOContext *wb_avio_alloc_writer(
    unsigned char *buffer, int size, void *opaque, int (*write)(void *opaque, const uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence)) {
    return wb_libav.avio_alloc_context(buffer, size, 1, opaque, NULL, (wb_avio_write)write, seek);
}

AVIOContext *wb_avio_alloc_reader(
    unsigned char *buffer, int size, void *opaque, int (*read)(void *opaque, uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence)) {
    return wb_libav.avio_alloc_context(buffer, size, 0, opaque, read, NULL, seek);
}
