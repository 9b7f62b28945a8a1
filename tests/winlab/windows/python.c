/* python.exe: the interpreter is in PYTHON_DLL, a name given at compile time. */
#include <windows.h>

int wmain(int argc, wchar_t **argv)
{
    HMODULE dll = LoadLibraryW(PYTHON_DLL);
    int (*run)(int, wchar_t **) = dll ? (void *)GetProcAddress(dll, "Py_Main") : NULL;
    return run ? run(argc, argv) : 101;
}
