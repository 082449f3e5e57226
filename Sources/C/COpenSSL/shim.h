#ifndef WATCHBOX_COPENSSL_SHIM_H
#define WATCHBOX_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "WatchBox needs OpenSSL 3.0 or newer (Debian package libssl-dev)"
#endif

/* Function-like macros and macros whose form differs between 3.0 and 3.5: Swift can't import the former and should not
 * depend on the latter. */

static inline long watchbox_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

static inline void watchbox_free(void *memory) { OPENSSL_free(memory); }

/* Names of parameters: an OSSL_PARAM keeps the pointer, and that of a Swift string literal does not live that long. */
static inline const char *watchbox_param_digest(void) { return OSSL_KDF_PARAM_DIGEST; }
static inline const char *watchbox_param_key(void) { return OSSL_KDF_PARAM_KEY; }
static inline const char *watchbox_param_salt(void) { return OSSL_KDF_PARAM_SALT; }
static inline const char *watchbox_param_info(void) { return OSSL_KDF_PARAM_INFO; }
static inline const char *watchbox_param_group_name(void) { return OSSL_PKEY_PARAM_GROUP_NAME; }
static inline const char *watchbox_param_public_key(void) { return OSSL_PKEY_PARAM_PUB_KEY; }
static inline const char *watchbox_param_encoded_public_key(void) { return OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY; }
static inline const char *watchbox_param_public_x(void) { return OSSL_PKEY_PARAM_EC_PUB_X; }
static inline const char *watchbox_param_public_y(void) { return OSSL_PKEY_PARAM_EC_PUB_Y; }
static inline const char *watchbox_param_private_key(void) { return OSSL_PKEY_PARAM_PRIV_KEY; }
static inline const char *watchbox_param_rsa_n(void) { return OSSL_PKEY_PARAM_RSA_N; }
static inline const char *watchbox_param_rsa_e(void) { return OSSL_PKEY_PARAM_RSA_E; }

static inline int watchbox_selection_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }

static inline int watchbox_gcm_set_iv_length(EVP_CIPHER_CTX *context, int length) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, length, NULL);
}
static inline int watchbox_gcm_get_tag(EVP_CIPHER_CTX *context, int length, void *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, length, tag);
}
/* The control takes a non-const pointer but only reads the tag. */
static inline int watchbox_gcm_set_tag(EVP_CIPHER_CTX *context, int length, const void *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, length, (void *)tag);
}

#endif
