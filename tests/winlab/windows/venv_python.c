/* Scripts\python.exe of an environment made by `python -m venv`: starts the interpreter in the folder
   that pyvenv.cfg names as `home`, with __PYVENV_LAUNCHER__ set, as CPython's own redirector does. */
#include <windows.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { LENGTH = 4096, NO_FOLDER = 105, NO_CONFIGURATION, NOT_STARTED, NO_EXIT_CODE };

/* Read the value of `home` from the file at `path`, in UTF-8, into `out`. */
static BOOL read_home(const wchar_t *path, wchar_t *out)
{
    static char line[LENGTH];
    FILE *file = _wfopen(path, L"rb");
    BOOL found = FALSE;
    if (!file) return FALSE;
    while (!found && fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        if (!value || strncmp(line, "home", 4)) continue;
        do value++; while (*value == ' ');
        for (size_t n = strlen(value); n && strchr("\r\n ", value[n - 1]);) value[--n] = 0;
        found = MultiByteToWideChar(CP_UTF8, 0, value, -1, out, LENGTH) > 0;
    }
    fclose(file);
    return found;
}

static HANDLE inherited(DWORD which)
{
    HANDLE handle = GetStdHandle(which);
    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    return handle;
}

int wmain(void)
{
    static wchar_t self[LENGTH], config[LENGTH + 16], home[LENGTH + 16];
    GetModuleFileNameW(NULL, self, LENGTH);
    wcscpy(config, self);
    for (int up = 0; up < 2; up++) {
        wchar_t *slash = wcsrchr(config, L'\\');
        if (!slash) return NO_FOLDER;
        *slash = 0;
    }
    wcscat(config, L"\\pyvenv.cfg");
    if (!read_home(config, home)) return NO_CONFIGURATION;
    wcscat(home, L"\\python.exe");
    SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", self);

    PROCESS_INFORMATION process;
    STARTUPINFOW start = {sizeof start};
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = inherited(STD_INPUT_HANDLE);
    start.hStdOutput = inherited(STD_OUTPUT_HANDLE);
    start.hStdError = inherited(STD_ERROR_HANDLE);
    if (!CreateProcessW(home, GetCommandLineW(), NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) return NOT_STARTED;
    WaitForSingleObject(process.hProcess, INFINITE);
    DWORD code = NO_EXIT_CODE;
    GetExitCodeProcess(process.hProcess, &code);
    return (int)code;
}
