#ifndef WATCHBOX_CZLIB_SHIM_H
#define WATCHBOX_CZLIB_SHIM_H

#include <zlib.h>

// inflateInit2 and deflateInit2 are function-like macros, which Swift does not import.
static inline int watchbox_inflateInit2(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}

static inline int watchbox_deflateInit2(z_stream *stream, int level, int windowBits) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}

#endif
