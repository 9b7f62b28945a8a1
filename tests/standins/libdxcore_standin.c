/* Stands in for WSL's libdxcore.so: a machine without a GPU. The factory makes lists, and every list is empty. */
#include <stddef.h>
#include <stdint.h>

enum { S_OK = 0, E_INVALIDARG = (int)0x80070057, E_NOTIMPL = (int)0x80004001 };

typedef struct { void *const *methods; } object;
static object factory, list;

static int give(object *o, void **out)
{
    if (!out) return E_INVALIDARG;
    *out = o;
    return S_OK;
}

static int query(object *self, const void *interface, void **out) { (void)interface; return give(self, out); }
static uint32_t count_reference(object *self) { (void)self; return 1; }
static int ok(void) { return S_OK; }
static int not_implemented(void) { return E_NOTIMPL; }
static int no_adapter(void) { return E_INVALIDARG; }
static uint8_t no(void) { return 0; }
static uint32_t none(void) { return 0; }
static int get_factory(object *self, const void *interface, void **out) { (void)self; (void)interface; return give(&factory, out); }
static int create_list(object *self, uint32_t n, const void *attributes, const void *interface, void **out)
{
    (void)self; (void)n; (void)attributes; (void)interface;
    return give(&list, out);
}

static void *const factory_methods[] = {
    query, count_reference, count_reference, create_list,
    no_adapter, /* GetAdapterByLuid */ no, /* IsNotificationEventSupported */ not_implemented, ok,
};
static void *const list_methods[] = {
    query, count_reference, count_reference, no_adapter, /* GetAdapter */ none, /* GetAdapterCount */
    no, /* IsStale */ get_factory, ok, /* Sort */ no, /* IsAdapterPreferenceSupported */
};
static object factory = {factory_methods}, list = {list_methods};

int DXCoreCreateAdapterFactory(const void *interface, void **out) { (void)interface; return give(&factory, out); }
