#ifndef WATCHBOX_CSQLITE_SHIM_H
#define WATCHBOX_CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast of -1 to a function, which Swift does not import: SQLite copies what is bound. An empty buffer may
// have a null address, which SQLite would bind as NULL.
static inline int watchbox_sqlite3_bind_text(sqlite3_stmt *statement, int index, const void *text, long bytes) {
    return sqlite3_bind_text64(statement, index, text ? text : "", (sqlite3_uint64)bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int watchbox_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *blob, long bytes) {
    return sqlite3_bind_blob64(statement, index, blob ? blob : "", (sqlite3_uint64)bytes, SQLITE_TRANSIENT);
}

// sqlite3_db_config is variadic. A file may have been written by somebody else: its schema calls no function that acts
// outside of it, and no statement makes the file inconsistent. "x" is a column and never a string.
static inline int watchbox_sqlite3_harden(sqlite3 *database) {
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL};
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    for (unsigned at = 0; code == SQLITE_OK && at < sizeof off / sizeof *off; at++) {
        code = sqlite3_db_config(database, off[at], 0, (int *)0);
    }
    return code;
}

#endif
