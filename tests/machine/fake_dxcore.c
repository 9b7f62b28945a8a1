/* A fake libdxcore.so for tests: two adapters, a hardware one and a software one, by DXCore's method tables. */
#include <stdint.h>
#include <string.h>

typedef struct object { void **methods; int index; } object;
static object factory, list, adapters[2];

static long none(void) { return 0; }
static long create_list(object *self, uint32_t count, const void *filter, const void *iid, void **to) {
    (void)self; (void)filter; (void)iid; *to = &list; return count == 1 ? 0 : 0x80070057;
}
static long get_adapter(object *self, uint32_t index, const void *iid, void **to) {
    (void)self; (void)iid; *to = &adapters[index]; return 0;
}
static uint32_t get_count(object *self) { (void)self; return 2; }
static size_t value(object *self, uint32_t which, const void **to) {
    static const uint32_t ids[2][4] = {{0x1002, 0x67df, 1, 0xc7}, {0x1414, 0x8c, 0, 0}};
    static const char *names[2] = {"Radeon RX 480", "Microsoft Basic Render Driver"};
    static const uint64_t version = (31ULL << 48) | (0ULL << 32) | (21912ULL << 16) | 14, memory = 8ULL << 30;
    static const uint8_t yes = 1, no = 0;
    switch (which) {
    case 1: *to = &version; return 8;
    case 2: *to = names[self->index]; return strlen(names[self->index]) + 1;
    case 3: *to = ids[self->index]; return 16;
    case 7: *to = &memory; return 8;
    case 11: *to = self->index ? &no : &yes; return 1;
    case 12: *to = &no; return 1;
    }
    return 0;
}
static long get_property(object *self, uint32_t which, size_t size, void *to) {
    const void *from; size_t has = value(self, which, &from);
    if (!has || has > size) return 0x80070057;
    memcpy(to, from, has);
    return 0;
}
static long get_size(object *self, uint32_t which, size_t *to) {
    const void *from; *to = value(self, which, &from); return *to ? 0 : 0x80070057;
}
static void *factory_methods[] = {none, none, none, create_list};
static void *list_methods[] = {none, none, none, get_adapter, get_count};
static void *adapter_methods[] = {none, none, none, none, none, none, get_property, get_size};

uint32_t DXCoreCreateAdapterFactory(const void *iid, void **to) {
    static const uint8_t wanted[16] =
        {0x45, 0x59, 0xee, 0x78, 0x6e, 0xc3, 0x13, 0x4b, 0xa6, 0x69, 0, 0x5d, 0xd1, 0x1c, 0x0f, 6};
    if (memcmp(iid, wanted, 16)) return 0x80004002;
    factory.methods = factory_methods; list.methods = list_methods;
    for (int n = 0; n < 2; n++) { adapters[n].methods = adapter_methods; adapters[n].index = n; }
    *to = &factory;
    return 0;
}
