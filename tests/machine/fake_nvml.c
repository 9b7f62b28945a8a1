/* A fake NVML for tests: two GPUs, or whatever FAKE_NVML says: "mismatch" (no driver), "hang" or "crash". */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { char old_id[16]; unsigned domain, bus, device, ids, subsystem; char id[32]; } pci_t;
typedef struct { unsigned long long total, free, used; } memory_t;

int nvmlInit_v2(void) {
    const char *mode = getenv("FAKE_NVML");
    if (!mode) return 0;
    if (!strcmp(mode, "hang")) for (;;) pause();
    if (!strcmp(mode, "crash")) raise(SIGSEGV);
    return 18;
}
const char *nvmlErrorString(int code) { return code == 18 ? "Driver/library version mismatch" : "Unknown Error"; }
int nvmlSystemGetDriverVersion(char *to, unsigned size) { strncpy(to, "440.33.01", size); return 0; }
int nvmlSystemGetCudaDriverVersion(int *to) { *to = 10020; return 0; }
int nvmlDeviceGetCount_v2(unsigned *to) { *to = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **to) {
    *to = (void *)(long)(index + 1);
    return index == 2 ? 15 : 0; /* the third has fallen off the bus */
}
int nvmlDeviceGetName(void *gpu, char *to, unsigned size) {
    strncpy(to, gpu == (void *)1 ? "GeForce GTX 1080 Ti" : "Tesla K80", size);
    return 0;
}
int nvmlDeviceGetPciInfo_v3(void *gpu, pci_t *to) {
    memset(to, 0, sizeof *to);
    to->bus = (unsigned)(long)gpu;
    to->ids = gpu == (void *)1 ? 0x1b0610de : 0x102d10de;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *gpu, memory_t *to) { to->total = 11ULL << 30; return gpu == (void *)1 ? 0 : 3; }
int nvmlDeviceGetCudaComputeCapability(void *gpu, int *major, int *minor) {
    *major = gpu == (void *)1 ? 6 : 3; *minor = gpu == (void *)1 ? 1 : 7;
    return 0;
}
