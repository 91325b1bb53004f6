/* An injection library of NVTX 3 (nvtxInitialize.h): writes the name of each range that is pushed, a line each, to the file that
   NVTX_COUNTER names. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* out;

static int NVTX_API range_push(const char* name) {
    fprintf(out, "%s\n", name);
    return 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const NvtxExportTableCallbacks* const callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = 0;
    unsigned size = 0;
    if (callbacks == NULL || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
    out = fopen(getenv("NVTX_COUNTER"), "w");
    if (out == NULL || size <= NVTX_CBID_CORE_RangePushA) return 0;
    setvbuf(out, NULL, _IOLBF, 0);
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)range_push;
    return 1;
}
