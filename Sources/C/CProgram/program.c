#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/// Relocations in segments that are not writable would be lost with their pages. No library of Debian has them.
static int has_text_relocations(const struct dl_phdr_info *object) {
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[index];
        if (header->p_type != PT_DYNAMIC) continue;
        for (const ElfW(Dyn) *entry = (const void *)(object->dlpi_addr + header->p_vaddr); entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)) return 1;
        }
        return 0;
    }
    // Nothing says how it was linked: the kernel's own page, for instance.
    return 1;
}

/// The loader's lock is held meanwhile, so that no object comes or goes.
static int release_object(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    if (has_text_relocations(object)) return 0;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[index];
        // What may be written to, RELRO included, is not the file's any more.
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W)) continue;
        const uintptr_t start = object->dlpi_addr + header->p_vaddr;
        // Whole pages of this segment alone.
        const uintptr_t first = (start + page - 1) & ~(page - 1), end = (start + header->p_memsz) & ~(page - 1);
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void wb_program_release_pages(void) {
    malloc_trim(0);
    dl_iterate_phdr(release_object, NULL);
}

void wb_program_use_one_heap(void) {
    mallopt(M_ARENA_MAX, 1);
}
