#ifndef WATCHBOX_CXML2_SHIM_H
#define WATCHBOX_CXML2_SHIM_H

// libxml2's pull reader, loaded with dlopen on first use: with ICU and libstdc++, which it brings, it takes 3 MB of
// resident memory (measured on Debian 12, x86-64), for which a process that never asks a camera must not pay.
//
// Nothing of the library's own types is named here, so that whoever imports this module needs none of its headers.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a step of the reader came to.
enum wb_xml_step {
    WB_XML_END,
    /// An element begins: see wb_xml_name, wb_xml_namespace, wb_xml_is_empty, wb_xml_next_attribute.
    WB_XML_ELEMENT,
    /// The innermost open element ends. Does not come for an element that is empty.
    WB_XML_ELEMENT_END,
    /// Character data: see wb_xml_value.
    WB_XML_TEXT,
    /// Comment, processing instruction: nothing to read.
    WB_XML_OTHER,
    /// Document type, entity reference: what no document of this house may hold.
    WB_XML_FORBIDDEN,
    /// See wb_xml_failure.
    WB_XML_FAILED,
};

/// One document being read; used by one thread.
typedef struct wb_xml_reader wb_xml_reader;

/// Loads libxml2, once per process; does nothing when it is there already. From any thread.
///
/// Returns false with a message in `failure` that names the reason and the Debian package to install.
bool wb_xml_load(char *failure, size_t size);

/// Reads `bytes`, which must stay until wb_xml_close, as UTF-8, whatever they declare. Nothing else is ever opened: no
/// DTD, no entity, no network. NULL when memory is short. Call wb_xml_load first.
wb_xml_reader *wb_xml_open(const uint8_t *bytes, int32_t count);
void wb_xml_close(wb_xml_reader *reader);

enum wb_xml_step wb_xml_next(wb_xml_reader *reader);

/// Of the element or the attribute that the reader stands on; valid until the next step. NULL for none.
const char *wb_xml_name(wb_xml_reader *reader);
const char *wb_xml_namespace(wb_xml_reader *reader);
const char *wb_xml_value(wb_xml_reader *reader);
bool wb_xml_is_empty(wb_xml_reader *reader);

/// Goes to the element's next attribute; false after the last. Namespace declarations are left out.
bool wb_xml_next_attribute(wb_xml_reader *reader);

/// Why the last step failed: line and column count from 1, 0 when they are not known; the reason is libxml2's,
/// printable ASCII, and may quote names of the document.
void wb_xml_failure(wb_xml_reader *reader, int32_t *line, int32_t *column, char *reason, size_t size);

#endif
