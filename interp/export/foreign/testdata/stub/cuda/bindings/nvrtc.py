"""The functions of cuda.bindings.nvrtc that symm_torch.py calls: those of the library that SYMM_STUB_NVRTC names, or ones that compile nothing."""

import ctypes
import enum
import os

_library = os.environ.get("SYMM_STUB_NVRTC")
_lib = ctypes.CDLL(_library) if _library else None


class nvrtcResult(enum.IntEnum):
    NVRTC_SUCCESS = 0
    NVRTC_ERROR_COMPILATION = 6


def _status(code):
    return nvrtcResult(code) if code in (0, 6) else nvrtcResult.NVRTC_ERROR_COMPILATION


def nvrtcCreateProgram(src, name, count, headers, names):
    program = ctypes.c_void_p()
    code = _lib.nvrtcCreateProgram(ctypes.byref(program), src, name, 0, None, None) if _lib else 0
    return _status(code), program


def nvrtcAddNameExpression(program, name):
    return (_status(_lib.nvrtcAddNameExpression(program, name) if _lib else 0),)


def nvrtcCompileProgram(program, n, options):
    return (_status(_lib.nvrtcCompileProgram(program, n, (ctypes.c_char_p * n)(*options)) if _lib else 0),)


def _sized(function):
    def size(program):
        n = ctypes.c_size_t(8)
        code = getattr(_lib, function)(program, ctypes.byref(n)) if _lib else 0
        return _status(code), n.value

    return size


def _filled(function):
    def fill(program, buffer):
        return (_status(getattr(_lib, function)(program, buffer) if _lib else 0),)

    return fill


nvrtcGetProgramLogSize, nvrtcGetProgramLog = _sized("nvrtcGetProgramLogSize"), _filled("nvrtcGetProgramLog")
nvrtcGetCUBINSize, nvrtcGetCUBIN = _sized("nvrtcGetCUBINSize"), _filled("nvrtcGetCUBIN")


def nvrtcGetLoweredName(program, name):
    if not _lib:
        return nvrtcResult.NVRTC_SUCCESS, name
    lowered = ctypes.c_char_p()
    code = _lib.nvrtcGetLoweredName(program, name, ctypes.byref(lowered))
    return _status(code), lowered.value


def nvrtcDestroyProgram(program):
    return (_status(_lib.nvrtcDestroyProgram(ctypes.byref(program)) if _lib else 0),)
