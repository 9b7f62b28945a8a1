/* d3d12.dll of the lab. Everything is Wine's own (C:\winlab\d3d12w.dll), but for two methods that
   Wine 10 leaves unimplemented and that machine-learning runtimes call first:
     ID3D12Device5::EnumerateMetaCommands  answers "none" (DirectML refuses the device otherwise);
     ID3D12Device9::CreateCommandQueue1    is CreateCommandQueue (for tensorflow-directml).
   An adapter that isn't DXGI's comes from dxcore.c; there is only one, so the default is meant. */
#define COBJMACROS
#include <windows.h>

enum { CREATE_COMMAND_QUEUE = 8, ENUMERATE_META_COMMANDS = 59, CREATE_COMMAND_QUEUE1 = 75 }; /* slots */

static const GUID iid_dxgi_adapter = {0x2411e7e1, 0x12ac, 0x4ccf, {0xbd, 0x14, 0x97, 0x98, 0xe8, 0x53, 0x4d, 0xc0}};
static const GUID iid_device5 = {0x8b4f173b, 0x2fea, 0x4b80, {0x8f, 0x58, 0x43, 0x07, 0x19, 0x1a, 0xb9, 0x5d}};
static const GUID iid_device9 = {0x4c80e962, 0xf032, 0x4f60, {0xbc, 0x9e, 0xeb, 0xc2, 0xcf, 0xa1, 0xd8, 0x3c}};

static FARPROC wines(const char *name)
{
    static HMODULE dll;
    if (!dll) dll = LoadLibraryW(L"C:\\winlab\\d3d12w.dll");
    return GetProcAddress(dll, name);
}

static HRESULT WINAPI no_meta_commands(void *device, UINT *count, void *descriptions)
{
    (void)device; (void)descriptions;
    if (!count) return E_INVALIDARG;
    *count = 0;
    return S_OK;
}

static HRESULT WINAPI create_command_queue1(void *device, const void *desc, REFIID creator, REFIID iid, void **queue)
{
    typedef HRESULT (WINAPI *method)(void *, const void *, REFIID, void **);
    (void)creator;
    return ((method)(*(void ***)device)[CREATE_COMMAND_QUEUE])(device, desc, iid, queue);
}

/* Put `method` into a slot of the method table that all devices share, if the device has the interface. */
static void replace(IUnknown *device, const GUID *iid, int slot, void *method)
{
    IUnknown *face;
    DWORD old;
    if (FAILED(IUnknown_QueryInterface(device, iid, (void **)&face))) return;
    void **table = *(void ***)face;
    if (table[slot] != method && VirtualProtect(&table[slot], sizeof(void *), PAGE_READWRITE, &old))
        table[slot] = method;
    IUnknown_Release(face);
}

HRESULT WINAPI D3D12CreateDevice(IUnknown *adapter, int level, REFIID iid, void **device)
{
    typedef HRESULT (WINAPI *function)(IUnknown *, int, REFIID, void **);
    IUnknown *known = NULL;
    if (adapter && FAILED(IUnknown_QueryInterface(adapter, &iid_dxgi_adapter, (void **)&known))) adapter = NULL;
    if (known) IUnknown_Release(known);
    HRESULT result = ((function)(void *)wines("D3D12CreateDevice"))(adapter, level, iid, device);
    if (SUCCEEDED(result) && device && *device) {
        replace(*device, &iid_device5, ENUMERATE_META_COMMANDS, (void *)no_meta_commands);
        replace(*device, &iid_device9, CREATE_COMMAND_QUEUE1, (void *)create_command_queue1);
    }
    return result;
}

/* The rest is handed on: NAME(parameters) calls Wine's NAME(arguments). */
#define HAND_ON(name, parameters, arguments)                                     \
    HRESULT WINAPI name parameters                                               \
    {                                                                            \
        HRESULT (WINAPI *function) parameters = (void *)wines(#name);            \
        return function ? function arguments : E_NOINTERFACE;                    \
    }

HAND_ON(D3D12SerializeRootSignature, (const void *desc, int version, void **blob, void **error), (desc, version, blob, error))
HAND_ON(D3D12SerializeVersionedRootSignature, (const void *desc, void **blob, void **error), (desc, blob, error))
HAND_ON(D3D12CreateRootSignatureDeserializer, (const void *data, SIZE_T size, REFIID iid, void **out), (data, size, iid, out))
HAND_ON(D3D12CreateVersionedRootSignatureDeserializer, (const void *data, SIZE_T size, REFIID iid, void **out), (data, size, iid, out))
HAND_ON(D3D12GetDebugInterface, (REFIID iid, void **out), (iid, out))
HAND_ON(D3D12EnableExperimentalFeatures, (UINT n, const void *iids, void *configs, UINT *sizes), (n, iids, configs, sizes))
HAND_ON(D3D12GetInterface, (REFIID clsid, REFIID iid, void **out), (clsid, iid, out))
