// libasound, reached through dlopen: a camera without a microphone does not pay for it, and a box without it still runs
// its cameras.
//
// Only functions that libasound 1.2.8 has.

#ifndef WATCHBOX_CALSA_SHIM_H
#define WATCHBOX_CALSA_SHIM_H

#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/// Loads libasound, once per process; 0 when it is not installed. To be called before all other functions of this file,
/// and ordered before them (a Swift `static let` does that).
static inline int watchbox_alsa_load(void) {
    return dlopen("libasound.so.2", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

// Found once per place of use. Two threads may both look: they find the same. The first argument of dlsym is
// RTLD_DEFAULT, which glibc declares with _GNU_SOURCE only.
#define WATCHBOX_ALSA(name)                                                                 \
    ({                                                                                      \
        static __typeof__(name) *watchbox_found;                                            \
        __typeof__(name) *watchbox_f = __atomic_load_n(&watchbox_found, __ATOMIC_RELAXED);  \
        if (watchbox_f == NULL) {                                                           \
            watchbox_f = (__typeof__(name) *)dlsym((void *)0, #name);                       \
            __atomic_store_n(&watchbox_found, watchbox_f, __ATOMIC_RELAXED);                \
        }                                                                                   \
        watchbox_f;                                                                         \
    })

// MARK: what libasound says of its failures

/// libasound explains a failure in several lines, the cause first and the summary last, and would print them to stderr.
struct watchbox_alsa_note {
    char first[160];
    char last[160];
};

/// Where this thread keeps it. A function: Swift does not emit variables of a header that only its functions use.
static inline struct watchbox_alsa_note **watchbox_alsa_current(void) {
    static _Thread_local struct watchbox_alsa_note *current;
    return &current;
}

static inline void watchbox_alsa_keep(
    const char *file, int line, const char *function, int number, const char *format, va_list arguments
) {
    (void)file;
    (void)line;
    (void)function;
    (void)number;
    struct watchbox_alsa_note *note = *watchbox_alsa_current();
    if (note == NULL) return;
    vsnprintf(note->last, sizeof note->last, format, arguments);
    // Names of devices and files of other people's configuration are in it.
    for (char *c = note->last; *c != 0; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    }
    if (note->first[0] == 0) memcpy(note->first, note->last, sizeof note->first);
}

/// From here to `watchbox_alsa_unlisten`, what libasound says on this thread goes to `note` instead of stderr.
static inline void watchbox_alsa_listen(struct watchbox_alsa_note *note) {
    note->first[0] = 0;
    note->last[0] = 0;
    *watchbox_alsa_current() = note;
    // Deprecated by newer versions: without it, libasound prints.
    if (WATCHBOX_ALSA(snd_lib_error_set_local) != NULL) WATCHBOX_ALSA(snd_lib_error_set_local)(watchbox_alsa_keep);
}

static inline void watchbox_alsa_unlisten(void) {
    if (WATCHBOX_ALSA(snd_lib_error_set_local) != NULL) WATCHBOX_ALSA(snd_lib_error_set_local)(NULL);
}

static inline const char *watchbox_alsa_note_first(const struct watchbox_alsa_note *note) {
    return note->first;
}

static inline const char *watchbox_alsa_note_last(const struct watchbox_alsa_note *note) {
    return note->last;
}

// MARK: a stream for capture. All return a negative errno on failure, as libasound does.

/// Never waits for a device that another program uses: that is -EBUSY. Nor do later reads wait.
static inline int watchbox_pcm_open(const char *name, snd_pcm_t **pcm) {
    *pcm = NULL;
    return WATCHBOX_ALSA(snd_pcm_open)(pcm, name, SND_PCM_STREAM_CAPTURE, SND_PCM_NONBLOCK);
}

static inline void watchbox_pcm_close(snd_pcm_t *pcm) {
    WATCHBOX_ALSA(snd_pcm_close)(pcm);
}

static inline int watchbox_pcm_prepare(snd_pcm_t *pcm) {
    return WATCHBOX_ALSA(snd_pcm_prepare)(pcm);
}

static inline int watchbox_pcm_start(snd_pcm_t *pcm) {
    return WATCHBOX_ALSA(snd_pcm_start)(pcm);
}

/// -EAGAIN while the device is not awake yet; -ENOSYS where it must be prepared again.
static inline int watchbox_pcm_resume(snd_pcm_t *pcm) {
    return WATCHBOX_ALSA(snd_pcm_resume)(pcm);
}

static inline int watchbox_pcm_drop(snd_pcm_t *pcm) {
    return WATCHBOX_ALSA(snd_pcm_drop)(pcm);
}

/// 1: samples are there; 0: not in time.
static inline int watchbox_pcm_wait(snd_pcm_t *pcm, int milliseconds) {
    return WATCHBOX_ALSA(snd_pcm_wait)(pcm, milliseconds);
}

static inline long watchbox_pcm_read(snd_pcm_t *pcm, void *bytes, unsigned long frames) {
    return WATCHBOX_ALSA(snd_pcm_readi)(pcm, bytes, frames);
}

/// Frames that can be read.
static inline long watchbox_pcm_available(snd_pcm_t *pcm) {
    return WATCHBOX_ALSA(snd_pcm_avail_update)(pcm);
}

/// Frames that can be read, and how many frames ago the first of them was sampled.
static inline int watchbox_pcm_delay(snd_pcm_t *pcm, long *available, long *delay) {
    return WATCHBOX_ALSA(snd_pcm_avail_delay)(pcm, available, delay);
}

/// Frames that can be read, and the driver's instant at which that count was right; 0 where it has none.
static inline int watchbox_pcm_stamp(snd_pcm_t *pcm, unsigned long *available, int64_t *seconds, int64_t *nanoseconds) {
    snd_htimestamp_t stamp = {0, 0};
    int r = WATCHBOX_ALSA(snd_pcm_htimestamp)(pcm, available, &stamp);
    *seconds = stamp.tv_sec;
    *nanoseconds = stamp.tv_nsec;
    return r;
}

// MARK: hardware parameters: a space of what is possible, narrowed step by step

static inline int watchbox_hw_new(snd_pcm_hw_params_t **parameters) {
    *parameters = NULL;
    return WATCHBOX_ALSA(snd_pcm_hw_params_malloc)(parameters);
}

static inline void watchbox_hw_free(snd_pcm_hw_params_t *parameters) {
    WATCHBOX_ALSA(snd_pcm_hw_params_free)(parameters);
}

/// All that the device can, without libasound's own change of the sample rate.
static inline int watchbox_hw_any(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters) {
    int r = WATCHBOX_ALSA(snd_pcm_hw_params_any)(pcm, parameters);
    if (r < 0) return r;
    // Refused by devices that have no such stage: they change no rate anyway.
    (void)WATCHBOX_ALSA(snd_pcm_hw_params_set_rate_resample)(pcm, parameters, 0);
    return 0;
}

/// The channels of one instant side by side.
static inline int watchbox_hw_set_interleaved(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters) {
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_access)(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED);
}

static inline int watchbox_hw_has_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, int format) {
    return WATCHBOX_ALSA(snd_pcm_hw_params_test_format)(pcm, parameters, (snd_pcm_format_t)format) == 0;
}

static inline int watchbox_hw_set_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, int format) {
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_format)(pcm, parameters, (snd_pcm_format_t)format);
}

static inline int watchbox_hw_set_channels(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, unsigned int *channels) {
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_channels_near)(pcm, parameters, channels);
}

/// Hertz.
static inline int watchbox_hw_set_rate(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, unsigned int *rate) {
    int direction = 0;
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_rate_near)(pcm, parameters, rate, &direction);
}

/// Frames.
static inline int watchbox_hw_set_buffer(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, unsigned long frames) {
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_buffer_size_near)(pcm, parameters, &frames);
}

/// Frames.
static inline int watchbox_hw_set_period(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters, unsigned long frames) {
    int direction = 0;
    return WATCHBOX_ALSA(snd_pcm_hw_params_set_period_size_near)(pcm, parameters, &frames, &direction);
}

/// Chooses one point of the space and sets the device up with it; the device is prepared then.
static inline int watchbox_hw_install(snd_pcm_t *pcm, snd_pcm_hw_params_t *parameters) {
    return WATCHBOX_ALSA(snd_pcm_hw_params)(pcm, parameters);
}

/// What was installed, in hertz, channels and frames.
static inline int watchbox_hw_chosen(
    snd_pcm_hw_params_t *parameters, unsigned int *rate, unsigned int *channels, unsigned long *period,
    unsigned long *buffer
) {
    int direction = 0;
    int r = WATCHBOX_ALSA(snd_pcm_hw_params_get_rate)(parameters, rate, &direction);
    if (r >= 0) r = WATCHBOX_ALSA(snd_pcm_hw_params_get_channels)(parameters, channels);
    if (r >= 0) r = WATCHBOX_ALSA(snd_pcm_hw_params_get_period_size)(parameters, period, &direction);
    if (r >= 0) r = WATCHBOX_ALSA(snd_pcm_hw_params_get_buffer_size)(parameters, buffer);
    return r;
}

/// Wakes readers after `period` frames, and stamps with CLOCK_MONOTONIC. A device without such stamps is not a failure.
static inline int watchbox_sw_install(snd_pcm_t *pcm, unsigned long period) {
    snd_pcm_sw_params_t *parameters = NULL;
    int r = WATCHBOX_ALSA(snd_pcm_sw_params_malloc)(&parameters);
    if (r < 0) return r;
    r = WATCHBOX_ALSA(snd_pcm_sw_params_current)(pcm, parameters);
    if (r >= 0) r = WATCHBOX_ALSA(snd_pcm_sw_params_set_avail_min)(pcm, parameters, period);
    if (r >= 0) {
        (void)WATCHBOX_ALSA(snd_pcm_sw_params_set_tstamp_mode)(pcm, parameters, SND_PCM_TSTAMP_ENABLE);
        (void)WATCHBOX_ALSA(snd_pcm_sw_params_set_tstamp_type)(pcm, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC);
        r = WATCHBOX_ALSA(snd_pcm_sw_params)(pcm, parameters);
    }
    WATCHBOX_ALSA(snd_pcm_sw_params_free)(parameters);
    return r;
}

// MARK: names

/// Ended by NULL, to be given back with `watchbox_names_free`.
static inline int watchbox_names(void ***hints) {
    *hints = NULL;
    return WATCHBOX_ALSA(snd_device_name_hint)(-1, "pcm", hints);
}

static inline void watchbox_names_free(void **hints) {
    WATCHBOX_ALSA(snd_device_name_free_hint)(hints);
}

/// "NAME", "DESC" or "IOID" of a hint; to be freed with free(3); NULL when it has none.
static inline char *watchbox_name_field(const void *hint, const char *field) {
    return WATCHBOX_ALSA(snd_device_name_get_hint)(hint, field);
}

#undef WATCHBOX_ALSA

#endif
