#ifndef WATCHBOX_CAVCODEC_SHIM_H
#define WATCHBOX_CAVCODEC_SHIM_H

// libavutil, libswresample, libavcodec, libswscale and libavformat, loaded with dlopen on first use.
//
// They are not linked because they bring 136 shared objects and 28 MB of resident memory into the process (FFmpeg 5.1
// of Debian 12), which a relay, a key access server and the pass-through of an FLV file must not pay for. Call
// wb_libav_load for a library before the first wb_ function of it; the functions themselves do not check.

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/buffer.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#include "functions.h"

enum wb_library {
    WB_LIBRARY_AVUTIL,
    WB_LIBRARY_SWRESAMPLE,
    WB_LIBRARY_AVCODEC,
    WB_LIBRARY_SWSCALE,
    WB_LIBRARY_AVFORMAT,
};

/// Loads a library and what it needs; does nothing when it is there already. From any thread.
///
/// Returns false with a message in `failure` that names the library, the reason and the Debian package to install.
bool wb_libav_load(enum wb_library library, char *failure, size_t size);

/// Moves the last error line that libav logged on this thread to `text`; empty when there was none. libav's own output
/// to stderr is off: an error belongs in the message that the caller reports.
void wb_libav_take_log(char *text, size_t size);

#define WB_DECLARATION(result, name, parameters, arguments) result wb_##name parameters;
WB_AVUTIL_FUNCTIONS(WB_DECLARATION)
WB_SWRESAMPLE_FUNCTIONS(WB_DECLARATION)
WB_AVCODEC_FUNCTIONS(WB_DECLARATION)
WB_SWSCALE_FUNCTIONS(WB_DECLARATION)
WB_AVFORMAT_FUNCTIONS(WB_DECLARATION)
#undef WB_DECLARATION

/// avio_alloc_context for writing. The bytes are const since libavformat 61, and not before; the callback must not
/// change them in either case.
AVIOContext *wb_avio_alloc_writer(
    unsigned char *buffer, int size, void *opaque, int (*write)(void *opaque, const uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence));

/// avio_alloc_context for reading.
AVIOContext *wb_avio_alloc_reader(
    unsigned char *buffer, int size, void *opaque, int (*read)(void *opaque, uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence));

// Macros that Swift cannot read.

static inline int wb_averror(int code) { return AVERROR(code); }
static inline int wb_averror_eof(void) { return AVERROR_EOF; }
static inline int wb_averror_exit(void) { return AVERROR_EXIT; }
static inline int64_t wb_nopts(void) { return AV_NOPTS_VALUE; }
/// "hvc1", the sample entry of H.265 whose parameter sets are all in the configuration record.
static inline uint32_t wb_tag_hvc1(void) { return MKTAG('h', 'v', 'c', '1'); }

/// Whether the decoder says of a frame that parts of it are missing or invented.
static inline bool wb_frame_is_damaged(const AVFrame *frame) {
    return frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}

#endif
