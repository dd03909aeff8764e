// imports.c: replaces functions that a library imports, in the library's own table of them, which the
// loader fills. Nothing else in the process changes.
#define _GNU_SOURCE
#include "imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#else
#error "imports.c knows the relocations of x86-64 and arm64 only"
#endif

// replace changes the entries of a table of relocations that refer to one of the imports. It returns 1
// if an entry cannot be written.
static int replace(const struct link_map *map, const ElfW(Rela) * table, size_t bytes, const ElfW(Sym) * symbols, const char *strings, import *imports, size_t n) {
	uintptr_t page = sysconf(_SC_PAGESIZE);
	for (size_t k = 0; table && k < bytes / sizeof *table; k++) {
		unsigned long type = ELF64_R_TYPE(table[k].r_info);
		if (type != JUMP_SLOT && type != GLOBAL_DATA) continue;
		const char *name = strings + symbols[ELF64_R_SYM(table[k].r_info)].st_name;
		for (size_t e = 0; e < n; e++) {
			if (strcmp(name, imports[e].name)) continue;
			void **slot = (void **)(map->l_addr + table[k].r_offset);
			void *at = (void *)((uintptr_t)slot & ~(page - 1));
			// the loader may have made it read-only
			if (mprotect(at, page, PROT_READ | PROT_WRITE)) return 1;
			__atomic_store_n(slot, imports[e].by, __ATOMIC_RELEASE);
			imports[e].found = 1;
		}
	}
	return 0;
}

const char *imports_replace(void *inside, import *imports, size_t n) {
	Dl_info info;
	struct link_map *map = NULL;
	if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return "the library is not found";
	const ElfW(Rela) *calls = NULL, *others = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	size_t calls_bytes = 0, others_bytes = 0;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		// some loaders do not relocate it
		uintptr_t at = d->d_un.d_ptr < map->l_addr ? d->d_un.d_ptr + map->l_addr : d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_JMPREL: calls = (void *)at; break;
		case DT_PLTRELSZ: calls_bytes = d->d_un.d_val; break;
		case DT_RELA: others = (void *)at; break;
		case DT_RELASZ: others_bytes = d->d_un.d_val; break;
		case DT_SYMTAB: symbols = (void *)at; break;
		case DT_STRTAB: strings = (void *)at; break;
		}
	}
	if (!symbols || !strings || replace(map, calls, calls_bytes, symbols, strings, imports, n) || replace(map, others, others_bytes, symbols, strings, imports, n))
		return "its table of calls is not found or closed";
	return NULL;
}
