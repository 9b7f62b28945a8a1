/* dxcore.dll of the lab: a factory, a list and an adapter, the one that DXGI shows.
   Wine 10's own DXCore is a stub, and torch-directml counts its devices with it. */
#define COBJMACROS
#include <windows.h>
#include <dxgi.h>
#include <string.h>

static const GUID iid_factory = {0x78ee5945, 0xc36e, 0x4b13, {0xa6, 0x69, 0x00, 0x5d, 0xd1, 0x1c, 0x0f, 0x06}};
static const GUID iid_list = {0x526c7776, 0x40e9, 0x459b, {0xb7, 0x11, 0xf3, 0x2a, 0xd7, 0x6d, 0xfc, 0x28}};
static const GUID iid_adapter = {0xf0db4c7f, 0xfe5a, 0x42a2, {0xbd, 0x62, 0xf2, 0xa6, 0xcf, 0x6f, 0xc8, 0x3e}};
static const GUID iid_unknown = {0x00000000, 0x0000, 0x0000, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
static const GUID iid_dxgi_factory1 = {0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};

typedef struct { void **table; const GUID *iid; } object; /* all three live as long as the process does */
static object factory, list, adapter;

/* Fill in DXGI's description of its first adapter; FALSE when it has none. Asked once. */
static BOOL describe(DXGI_ADAPTER_DESC *out)
{
    static enum { unknown, found, none } state;
    static DXGI_ADAPTER_DESC seen;
    if (state == unknown) {
        typedef HRESULT (WINAPI *function)(REFIID, void **);
        function create = (function)(void *)GetProcAddress(LoadLibraryW(L"dxgi.dll"), "CreateDXGIFactory1");
        IDXGIFactory1 *dxgi;
        IDXGIAdapter1 *first;
        state = none;
        if (create && SUCCEEDED(create(&iid_dxgi_factory1, (void **)&dxgi))) {
            if (SUCCEEDED(IDXGIFactory1_EnumAdapters1(dxgi, 0, &first))) {
                if (SUCCEEDED(IDXGIAdapter1_GetDesc(first, &seen))) state = found;
                IDXGIAdapter1_Release(first);
            }
            IDXGIFactory1_Release(dxgi);
        }
    }
    *out = seen;
    return state == found;
}

static BOOL exists(void) { DXGI_ADAPTER_DESC d; return describe(&d); }

static HRESULT give(object *o, REFIID iid, void **out)
{
    if (!out) return E_POINTER;
    *out = IsEqualGUID(iid, o->iid) || IsEqualGUID(iid, &iid_unknown) ? o : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

/* Methods that several of the three share. */
static HRESULT WINAPI query(object *self, REFIID iid, void **out) { return give(self, iid, out); }
static ULONG WINAPI count_reference(object *self) { (void)self; return 1; }
static BYTE WINAPI yes(void) { return 1; }
static BYTE WINAPI no(void) { return 0; }
static HRESULT WINAPI ok(void) { return S_OK; }
static HRESULT WINAPI not_implemented(void) { return E_NOTIMPL; }
static HRESULT WINAPI get_factory(object *self, REFIID iid, void **out) { (void)self; return give(&factory, iid, out); }

static HRESULT WINAPI create_list(object *self, UINT n, const GUID *attributes, REFIID iid, void **out)
{
    (void)self; (void)n; (void)attributes;
    return give(&list, iid, out);
}

static HRESULT WINAPI adapter_by_luid(object *self, const LUID *luid, REFIID iid, void **out)
{
    (void)self; (void)luid;
    return exists() ? give(&adapter, iid, out) : E_INVALIDARG;
}

static HRESULT WINAPI list_get(object *self, UINT index, REFIID iid, void **out)
{
    (void)self;
    return index == 0 && exists() ? give(&adapter, iid, out) : E_INVALIDARG;
}

static UINT WINAPI list_count(object *self) { (void)self; return exists(); }

/* Write DXCoreAdapterProperty `id` to `to` (unless NULL) and return its size in bytes; 0: no such property. */
static SIZE_T property(UINT id, BYTE *to)
{
    DXGI_ADAPTER_DESC d;
    UINT64 number = 0;
    UINT ids[5];
    char text[128];
    const void *from = &number;
    SIZE_T size = sizeof number;
    if (!describe(&d)) return 0;
    switch (id) {
    case 0: from = &d.AdapterLuid; size = sizeof d.AdapterLuid; break;
    case 1: number = (UINT64)31 << 48 | (UINT64)14051 << 16 | 5006; break; /* driver version 31.0.14051.5006 */
    case 2:
        size = (SIZE_T)WideCharToMultiByte(CP_UTF8, 0, d.Description, -1, text, sizeof text, NULL, NULL);
        from = text;
        break;
    case 3: case 14: /* HardwareID, and HardwareIDParts with one number more */
        ids[0] = d.VendorId; ids[1] = d.DeviceId; ids[2] = d.SubSysId;
        ids[3] = id == 3 ? d.Revision : 0; ids[4] = d.Revision;
        from = ids; size = (id == 3 ? 4 : 5) * sizeof *ids;
        break;
    case 7: number = d.DedicatedVideoMemory; break;
    case 8: number = d.DedicatedSystemMemory; break;
    case 9: number = d.SharedSystemMemory; break;
    case 10: case 11: number = 1; size = 1; break; /* AcgCompatible; IsHardware, in name only */
    case 12: case 13: size = 1; break;             /* IsIntegrated, IsDetachable: no */
    default: return 0;
    }
    if (to) memcpy(to, from, size);
    return size;
}

static BYTE WINAPI has_property(object *self, UINT id) { (void)self; return property(id, NULL) != 0; }

static HRESULT WINAPI get_property(object *self, UINT id, SIZE_T room, void *to)
{
    BYTE value[128];
    SIZE_T size = property(id, value);
    (void)self;
    if (!size || room < size || !to) return E_INVALIDARG;
    memcpy(to, value, size);
    return S_OK;
}

static HRESULT WINAPI get_property_size(object *self, UINT id, SIZE_T *size)
{
    (void)self;
    *size = property(id, NULL);
    return *size ? S_OK : E_INVALIDARG;
}

static void *factory_table[] = {query, count_reference, count_reference, create_list, adapter_by_luid, no, not_implemented, ok};
static void *list_table[] = {query, count_reference, count_reference, list_get, list_count, no, get_factory, ok, yes};
static void *adapter_table[] = {query, count_reference, count_reference, yes, yes, has_property, get_property,
                                get_property_size, no, not_implemented, no, not_implemented, get_factory};
static object factory = {factory_table, &iid_factory};
static object list = {list_table, &iid_list};
static object adapter = {adapter_table, &iid_adapter};

HRESULT WINAPI DXCoreCreateAdapterFactory(REFIID iid, void **out) { return give(&factory, iid, out); }
