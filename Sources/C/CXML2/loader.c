#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlreader.h>

// All that is called of libxml2. These functions work on opaque pointers, and no structure of the library is touched:
// layouts differ between libxml2.so.2 and libxml2.so.16, these functions do not.
#define WB_XML2_FUNCTIONS(F) \
    F(xmlInitParser) \
    F(xmlReaderForMemory) \
    F(xmlFreeTextReader) \
    F(xmlTextReaderSetErrorHandler) \
    F(xmlTextReaderLocatorLineNumber) \
    F(xmlTextReaderGetParserLineNumber) \
    F(xmlTextReaderGetParserColumnNumber) \
    F(xmlTextReaderRead) \
    F(xmlTextReaderNodeType) \
    F(xmlTextReaderIsEmptyElement) \
    F(xmlTextReaderMoveToNextAttribute) \
    F(xmlTextReaderIsNamespaceDecl) \
    F(xmlTextReaderConstLocalName) \
    F(xmlTextReaderConstNamespaceUri) \
    F(xmlTextReaderConstValue)

#define POINTER(name) __typeof__(name) *name;
static struct {
    WB_XML2_FUNCTIONS(POINTER)
} wb_xml2;
#undef POINTER

struct wb_xml_reader {
    xmlTextReaderPtr reader;
    int32_t line;
    int32_t column;
    char reason[200];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

// The first function that the library lacks, or NULL.
static const char *resolve(void *handle) {
#define RESOLVE(name) \
    if ((wb_xml2.name = (__typeof__(wb_xml2.name))dlsym(handle, #name)) == NULL) return #name;
    WB_XML2_FUNCTIONS(RESOLVE)
#undef RESOLVE
    return NULL;
}

static bool load(char *failure, size_t size) {
    // Debian 12 and 13; then what came with libxml2 2.14.
    static const char *const names[] = {"libxml2.so.2", "libxml2.so.16"};
    char reason[160] = "unknown reason";
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        void *handle = dlopen(names[index], RTLD_LAZY | RTLD_LOCAL);
        if (handle == NULL) {
            const char *message = dlerror();
            // The first name is the one to report.
            if (index == 0 && message != NULL) snprintf(reason, sizeof reason, "%s", message);
            continue;
        }
        const char *missing = resolve(handle);
        if (missing == NULL) {
            wb_xml2.xmlInitParser();
            return true;
        }
        snprintf(reason, sizeof reason, "%s lacks the function %s", names[index], missing);
        dlclose(handle);
        break;
    }
    snprintf(failure, size, "cannot load libxml2: %s. Install the Debian package libxml2", reason);
    return false;
}

bool wb_xml_load(char *failure, size_t size) {
    pthread_mutex_lock(&lock);
    if (!is_loaded) is_loaded = load(failure, size);
    bool loaded = is_loaded;
    pthread_mutex_unlock(&lock);
    return loaded;
}

// Called for warnings as well, and for errors that end nothing, as an undeclared prefix. After one that does, libxml2
// reports no more: the last one is the cause.
static void keep_error(
    void *context, const char *message, xmlParserSeverities severity, xmlTextReaderLocatorPtr locator) {
    wb_xml_reader *reader = context;
    bool is_warning = severity == XML_PARSER_SEVERITY_WARNING || severity == XML_PARSER_SEVERITY_VALIDITY_WARNING;
    if (is_warning || message == NULL) return;
    reader->line = locator != NULL ? wb_xml2.xmlTextReaderLocatorLineNumber(locator) : 0;
    reader->column = reader->reader != NULL ? wb_xml2.xmlTextReaderGetParserColumnNumber(reader->reader) : 0;
    size_t length = 0;
    for (; message[length] != 0 && length + 1 < sizeof reader->reason; length++) {
        unsigned char character = (unsigned char)message[length];
        reader->reason[length] = character < 0x20 || character >= 0x7f ? ' ' : (char)character;
    }
    while (length > 0 && reader->reason[length - 1] == ' ') length--;
    reader->reason[length] = 0;
}

wb_xml_reader *wb_xml_open(const uint8_t *bytes, int32_t count) {
    wb_xml_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    // NOENT: without it, "&amp;" in an attribute would come as "&#38;". There are no other entities to replace, because
    // there is no document type.
    int options = XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET
        | XML_PARSE_NOCDATA | XML_PARSE_NOXINCNODE | XML_PARSE_IGNORE_ENC;
    reader->reader = wb_xml2.xmlReaderForMemory((const char *)bytes, count, NULL, "UTF-8", options);
    if (reader->reader == NULL) {
        free(reader);
        return NULL;
    }
    wb_xml2.xmlTextReaderSetErrorHandler(reader->reader, keep_error, reader);
    return reader;
}

void wb_xml_close(wb_xml_reader *reader) {
    wb_xml2.xmlFreeTextReader(reader->reader);
    free(reader);
}

enum wb_xml_step wb_xml_next(wb_xml_reader *reader) {
    int result = wb_xml2.xmlTextReaderRead(reader->reader);
    if (result == 0) return WB_XML_END;
    if (result != 1) return WB_XML_FAILED;
    switch (wb_xml2.xmlTextReaderNodeType(reader->reader)) {
    case XML_READER_TYPE_ELEMENT:
        return WB_XML_ELEMENT;
    case XML_READER_TYPE_END_ELEMENT:
        return WB_XML_ELEMENT_END;
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        return WB_XML_TEXT;
    case XML_READER_TYPE_ENTITY_REFERENCE:
    case XML_READER_TYPE_ENTITY:
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_NOTATION:
    case XML_READER_TYPE_END_ENTITY:
        return WB_XML_FORBIDDEN;
    default:
        return WB_XML_OTHER;
    }
}

const char *wb_xml_name(wb_xml_reader *reader) {
    return (const char *)wb_xml2.xmlTextReaderConstLocalName(reader->reader);
}

const char *wb_xml_namespace(wb_xml_reader *reader) {
    return (const char *)wb_xml2.xmlTextReaderConstNamespaceUri(reader->reader);
}

const char *wb_xml_value(wb_xml_reader *reader) {
    return (const char *)wb_xml2.xmlTextReaderConstValue(reader->reader);
}

bool wb_xml_is_empty(wb_xml_reader *reader) {
    return wb_xml2.xmlTextReaderIsEmptyElement(reader->reader) == 1;
}

bool wb_xml_next_attribute(wb_xml_reader *reader) {
    while (wb_xml2.xmlTextReaderMoveToNextAttribute(reader->reader) == 1) {
        if (wb_xml2.xmlTextReaderIsNamespaceDecl(reader->reader) != 1) return true;
    }
    return false;
}

void wb_xml_failure(wb_xml_reader *reader, int32_t *line, int32_t *column, char *reason, size_t size) {
    bool is_known = reader->reason[0] != 0;
    *line = is_known ? reader->line : wb_xml2.xmlTextReaderGetParserLineNumber(reader->reader);
    *column = is_known ? reader->column : wb_xml2.xmlTextReaderGetParserColumnNumber(reader->reader);
    snprintf(reason, size, "%s", is_known ? reader->reason : "not well-formed");
}
