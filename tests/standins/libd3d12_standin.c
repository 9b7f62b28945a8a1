/* Stands in for WSL's libd3d12.so, which makes devices of adapters: it makes none. */
enum { DXGI_ERROR_UNSUPPORTED = (int)0x887A0004 };

int D3D12CreateDevice(void *adapter, int feature_level, const void *interface, void **device)
{
    (void)adapter; (void)feature_level; (void)interface;
    if (device) *device = 0;
    return DXGI_ERROR_UNSUPPORTED;
}

int D3D12SerializeVersionedRootSignature(const void *description, void **blob, void **error)
{
    (void)description;
    if (blob) *blob = 0;
    if (error) *error = 0;
    return DXGI_ERROR_UNSUPPORTED;
}
