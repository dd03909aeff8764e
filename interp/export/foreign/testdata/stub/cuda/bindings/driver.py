"""The functions of cuda.bindings.driver that symm_torch.py calls. A launch is printed, with the bytes that the driver would copy."""

import ctypes
import enum
import json

launching = None  # the name of the kernel and the sizes of its parameters, which the driver knows from the machine code
abi = [1, 40, 1808, 72]  # symm_abi of every module


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_NOT_FOUND = 500


class CUfunction_attribute(enum.IntEnum):
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


def cuModuleLoadData(image):
    assert isinstance(image, bytes)
    return CUresult.CUDA_SUCCESS, image


def cuModuleGetGlobal(module, name):
    assert name == b"symm_abi"
    return CUresult.CUDA_SUCCESS, 4096, 16


def cuMemcpyDtoH(to, source, n):
    ctypes.memmove(to, bytes((ctypes.c_uint32 * 4)(*abi)), n)
    return (CUresult.CUDA_SUCCESS,)


def cuModuleGetFunction(module, name):
    assert isinstance(name, bytes)
    return CUresult.CUDA_SUCCESS, name.decode()


def cuFuncSetAttribute(function, attribute, value):
    return (CUresult.CUDA_SUCCESS,)


def cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra):
    name, sizes = launching
    addresses = (ctypes.c_void_p * len(sizes)).from_address(params)
    args = [ctypes.string_at(a, n).hex() for a, n in zip(addresses, sizes)]
    print("LAUNCH " + json.dumps({"Kernel": name, "Function": function, "Grid": [gx, gy, gz], "Block": [bx, by, bz], "Shared": shared, "Args": args}), flush=True)
    return (CUresult.CUDA_SUCCESS,)
