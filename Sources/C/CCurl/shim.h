// libcurl, reached through dlopen: it brings 25 libraries and 4.4 MB of resident memory (measured on Debian 12,
// x86-64) into each process that links it, and most processes of this house never send an HTTP request. So nothing
// here makes a program need the library at start; the first request loads it.
//
// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call: one wrapper per argument type.

#ifndef WATCHBOX_CCURL_SHIM_H
#define WATCHBOX_CCURL_SHIM_H

#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/// Loads libcurl, once per process; 0 when it is not installed. To be called before all other functions of this
/// file, and ordered before them (a Swift `static let` does that).
static inline int watchbox_curl_load(void) {
    return dlopen("libcurl.so.4", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

// The first argument is RTLD_DEFAULT, which glibc declares with _GNU_SOURCE only.
#define WATCHBOX_CURL(name) ((__typeof__(name) *)dlsym((void *)0, #name))

static inline CURLcode watchbox_curl_global_init(void) {
    return WATCHBOX_CURL(curl_global_init)(CURL_GLOBAL_ALL);
}

static inline const char *watchbox_curl_version(void) {
    return WATCHBOX_CURL(curl_version_info)(CURLVERSION_NOW)->version;
}

static inline CURL *watchbox_curl_easy_init(void) {
    return WATCHBOX_CURL(curl_easy_init)();
}

static inline void watchbox_curl_easy_cleanup(CURL *handle) {
    WATCHBOX_CURL(curl_easy_cleanup)(handle);
}

/// Goes on with a transfer that its write callback has paused.
static inline CURLcode watchbox_curl_easy_resume(CURL *handle) {
    return WATCHBOX_CURL(curl_easy_pause)(handle, CURLPAUSE_CONT);
}

static inline CURLcode watchbox_curl_set_long(CURL *handle, CURLoption option, long value) {
    return (WATCHBOX_CURL(curl_easy_setopt))(handle, option, value);
}

static inline CURLcode watchbox_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return (WATCHBOX_CURL(curl_easy_setopt))(handle, option, value);
}

static inline CURLcode watchbox_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return (WATCHBOX_CURL(curl_easy_setopt))(handle, option, value);
}

static inline CURLcode watchbox_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return (WATCHBOX_CURL(curl_easy_setopt))(handle, option, value);
}

/// CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION share this signature.
typedef size_t (*watchbox_curl_sink)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode watchbox_curl_set_sink(CURL *handle, CURLoption option, watchbox_curl_sink value) {
    return (WATCHBOX_CURL(curl_easy_setopt))(handle, option, value);
}

// CURLOPT_HTTPAUTH's bits are casts, which Swift cannot read.

static inline long watchbox_curl_auth_digest(void) { return (long)CURLAUTH_DIGEST; }
static inline long watchbox_curl_auth_basic(void) { return (long)CURLAUTH_BASIC; }
/// A scheme that no server can ask for, and that does nothing without a key of its own option.
static inline long watchbox_curl_auth_never(void) { return (long)CURLAUTH_AWS_SIGV4; }

static inline CURLcode watchbox_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return (WATCHBOX_CURL(curl_easy_getinfo))(handle, info, value);
}

/// CURLINFO_…_TIME_T, in microseconds.
static inline CURLcode watchbox_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return (WATCHBOX_CURL(curl_easy_getinfo))(handle, info, value);
}

/// Text that the handle keeps; NULL when it is not known.
static inline const char *watchbox_curl_get_string(CURL *handle, CURLINFO info) {
    char *value = NULL;
    return (WATCHBOX_CURL(curl_easy_getinfo))(handle, info, &value) == CURLE_OK ? value : NULL;
}

/// The socket of the handle's connection; -1 when it has none.
static inline int watchbox_curl_get_socket(CURL *handle) {
    curl_socket_t value = CURL_SOCKET_BAD;
    CURLcode result = (WATCHBOX_CURL(curl_easy_getinfo))(handle, CURLINFO_ACTIVESOCKET, &value);
    return result == CURLE_OK ? value : -1;
}

/// The certificate that the server showed for itself, as PEM that the handle keeps. Needs CURLOPT_CERTINFO; NULL when
/// there was no TLS handshake, as on a connection that is used again.
static inline const char *watchbox_curl_get_certificate(CURL *handle) {
    struct curl_certinfo *chain = NULL;
    if ((WATCHBOX_CURL(curl_easy_getinfo))(handle, CURLINFO_CERTINFO, &chain) != CURLE_OK) return NULL;
    if (chain == NULL || chain->num_of_certs < 1) return NULL;
    static const char name[] = "Cert:";
    for (struct curl_slist *field = chain->certinfo[0]; field != NULL; field = field->next) {
        if (strncmp(field->data, name, sizeof name - 1) == 0) return field->data + sizeof name - 1;
    }
    return NULL;
}

/// For a handle that is connected with CURLOPT_CONNECT_ONLY. Called for each packet of a camera, so the function is
/// looked up once.
static inline CURLcode watchbox_curl_easy_receive(CURL *handle, void *buffer, size_t size, size_t *count) {
    static __typeof__(curl_easy_recv) *known;
    __typeof__(curl_easy_recv) *function = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = WATCHBOX_CURL(curl_easy_recv);
        __atomic_store_n(&known, function, __ATOMIC_RELAXED);
    }
    return function(handle, buffer, size, count);
}

/// For a handle that is connected with CURLOPT_CONNECT_ONLY.
static inline CURLcode watchbox_curl_easy_send(CURL *handle, const void *bytes, size_t size, size_t *count) {
    return WATCHBOX_CURL(curl_easy_send)(handle, bytes, size, count);
}

static inline CURLM *watchbox_curl_multi_init(void) {
    return WATCHBOX_CURL(curl_multi_init)();
}

static inline CURLMcode watchbox_curl_multi_cleanup(CURLM *multi) {
    return WATCHBOX_CURL(curl_multi_cleanup)(multi);
}

static inline CURLMcode watchbox_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (WATCHBOX_CURL(curl_multi_setopt))(multi, option, value);
}

static inline CURLMcode watchbox_curl_multi_add(CURLM *multi, CURL *handle) {
    return WATCHBOX_CURL(curl_multi_add_handle)(multi, handle);
}

static inline CURLMcode watchbox_curl_multi_remove(CURLM *multi, CURL *handle) {
    return WATCHBOX_CURL(curl_multi_remove_handle)(multi, handle);
}

static inline CURLMcode watchbox_curl_multi_perform(CURLM *multi, int *running) {
    return WATCHBOX_CURL(curl_multi_perform)(multi, running);
}

static inline CURLMcode watchbox_curl_multi_poll(CURLM *multi, int milliseconds) {
    return WATCHBOX_CURL(curl_multi_poll)(multi, NULL, 0, milliseconds, NULL);
}

/// Thread-safe, the only such function of a multi handle.
static inline CURLMcode watchbox_curl_multi_wakeup(CURLM *multi) {
    return WATCHBOX_CURL(curl_multi_wakeup)(multi);
}

/// The next finished transfer and its result; NULL when there is none.
static inline CURL *watchbox_curl_multi_next_finished(CURLM *multi, CURLcode *result) {
    int waiting = 0;
    CURLMsg *message;
    while ((message = WATCHBOX_CURL(curl_multi_info_read)(multi, &waiting)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

static inline struct curl_slist *watchbox_curl_slist_append(struct curl_slist *list, const char *text) {
    return WATCHBOX_CURL(curl_slist_append)(list, text);
}

static inline void watchbox_curl_slist_free(struct curl_slist *list) {
    WATCHBOX_CURL(curl_slist_free_all)(list);
}

static inline CURLU *watchbox_curl_url(void) {
    return WATCHBOX_CURL(curl_url)();
}

static inline void watchbox_curl_url_cleanup(CURLU *url) {
    WATCHBOX_CURL(curl_url_cleanup)(url);
}

static inline CURLUcode watchbox_curl_url_set(CURLU *url, CURLUPart part, const char *text) {
    return WATCHBOX_CURL(curl_url_set)(url, part, text, 0);
}

/// The part as text to be freed with `watchbox_curl_free`; NULL when the URL has none.
static inline char *watchbox_curl_url_get(CURLU *url, CURLUPart part) {
    char *text = NULL;
    return WATCHBOX_CURL(curl_url_get)(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

static inline void watchbox_curl_free(void *memory) {
    WATCHBOX_CURL(curl_free)(memory);
}

static inline const char *watchbox_curl_text(CURLcode code) {
    return WATCHBOX_CURL(curl_easy_strerror)(code);
}

#undef WATCHBOX_CURL
#endif
