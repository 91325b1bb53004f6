# Finds LibTorch as imported targets. Its TorchConfig.cmake is not used: it requires a CUDA toolkit
# even for a CPU program, and fails with C++20 on CMake 3.25.
#   ranklab::torch   headers, libc10, libtorch_cpu (the CPU part of the CUDA build)
#   ranklab::cudart  the CUDA runtime, when RANKLAB_HAS_CUDA
#   ranklab::nccl_headers  nccl.h, when RANKLAB_HAS_NCCL; the library is loaded at run time
#   (docs/adr/0005)
# RANKLAB_TORCH_ROOT is an unpacked libtorch/, a venv, or its site-packages/torch; the wheels' CUDA
# and NCCL are beside it in site-packages/nvidia.
file(GLOB _torch_of_venv "${RANKLAB_TORCH_ROOT}/lib/python3*/site-packages/torch")
if(_torch_of_venv)
  set(RANKLAB_TORCH_ROOT "${_torch_of_venv}")
endif()
set(RANKLAB_HAS_TORCH OFF)
set(RANKLAB_HAS_CUDA OFF)
set(RANKLAB_HAS_NCCL OFF)
set(RANKLAB_TORCH_TEXT "off: RANKLAB_WITH_TORCH=OFF")
set(RANKLAB_CUDA_TEXT "off: no CUDA runtime found")
set(RANKLAB_NCCL_TEXT "off: no NCCL found (set RANKLAB_NCCL_ROOT)")

get_filename_component(_site_packages "${RANKLAB_TORCH_ROOT}/.." ABSOLUTE)
# The wheels of CUDA 13 share nvidia/cu13; each of CUDA 12 has a folder, as nvidia/cuda_runtime.
file(GLOB _nvidia_includes "${_site_packages}/nvidia/*/include")
file(GLOB RANKLAB_NVIDIA_LIB_DIRS "${_site_packages}/nvidia/*/lib")
set(RANKLAB_OLDEST_TORCH 2.8)

if(RANKLAB_WITH_TORCH)
  find_path(RANKLAB_TORCH_INCLUDE torch/csrc/api/include/torch/torch.h
    PATHS "${RANKLAB_TORCH_ROOT}/include" NO_DEFAULT_PATH)
  find_library(RANKLAB_TORCH_CPU_LIBRARY torch_cpu PATHS "${RANKLAB_TORCH_ROOT}/lib"
    NO_DEFAULT_PATH)
  find_library(RANKLAB_C10_LIBRARY c10 PATHS "${RANKLAB_TORCH_ROOT}/lib" NO_DEFAULT_PATH)
  if(RANKLAB_TORCH_INCLUDE AND RANKLAB_TORCH_CPU_LIBRARY AND RANKLAB_C10_LIBRARY)
    set(RANKLAB_HAS_TORCH ON)
  elseif(RANKLAB_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR
      "RANKLAB_WITH_TORCH=ON, but RANKLAB_TORCH_ROOT='${RANKLAB_TORCH_ROOT}' holds no LibTorch. "
      "Set -DRANKLAB_TORCH_ROOT to an unpacked libtorch/ or to a Python's site-packages/torch, "
      "or run ./bootstrap build.")
  else()
    string(CONCAT RANKLAB_TORCH_TEXT
      "off: no LibTorch in RANKLAB_TORCH_ROOT='${RANKLAB_TORCH_ROOT}' "
      "(./bootstrap build provides one)")
  endif()
endif()

if(RANKLAB_HAS_TORCH)
  file(GLOB _version_headers "${RANKLAB_TORCH_INCLUDE}/torch/headeronly/version.h"
    "${RANKLAB_TORCH_INCLUDE}/torch/csrc/api/include/torch/version.h")
  set(RANKLAB_TORCH_VERSION "unknown")
  foreach(_header IN LISTS _version_headers)
    foreach(_part MAJOR MINOR PATCH)
      file(STRINGS "${_header}" _line REGEX "#define TORCH_VERSION_${_part} [0-9]+")
      string(REGEX MATCH "[0-9]+$" _${_part} "${_line}")
    endforeach()
    if(NOT "${_MAJOR}" STREQUAL "")
      set(RANKLAB_TORCH_VERSION "${_MAJOR}.${_MINOR}.${_PATCH}")
      break()
    endif()
  endforeach()
  if(RANKLAB_TORCH_VERSION VERSION_LESS RANKLAB_OLDEST_TORCH)
    message(FATAL_ERROR "RANKLAB_TORCH_ROOT='${RANKLAB_TORCH_ROOT}' is LibTorch "
      "${RANKLAB_TORCH_VERSION}; ranklab needs ${RANKLAB_OLDEST_TORCH} or newer.")
  endif()
  add_library(ranklab_torch INTERFACE)
  add_library(ranklab::torch ALIAS ranklab_torch)
  # LibTorch has its own fmt headers: searched last, so that they do not shadow the linked fmt's.
  target_compile_options(ranklab_torch INTERFACE
    "SHELL:-idirafter \"${RANKLAB_TORCH_INCLUDE}/torch/csrc/api/include\""
      "SHELL:-idirafter \"${RANKLAB_TORCH_INCLUDE}\"")
  # at::parallel_for is a header: without OpenMP in our compiler flags it runs serially.
  target_compile_options(ranklab_torch INTERFACE -fopenmp)
  target_link_libraries(ranklab_torch INTERFACE "${RANKLAB_TORCH_CPU_LIBRARY}"
    "${RANKLAB_C10_LIBRARY}" gomp)
  get_filename_component(RANKLAB_TORCH_LIB_DIR "${RANKLAB_TORCH_CPU_LIBRARY}" DIRECTORY)
  # libtorch_cpu of the CUDA build needs libcudart and libcupti from the wheels beside it.
  foreach(_folder IN LISTS RANKLAB_NVIDIA_LIB_DIRS)
    target_link_options(ranklab_torch INTERFACE "-Wl,-rpath-link,${_folder}")
  endforeach()
  set(RANKLAB_TORCH_TEXT "${RANKLAB_TORCH_VERSION} in ${RANKLAB_TORCH_ROOT}")
endif()

# Networks in Python need libpython of the version whose package LibTorch is, as in
# torch/_C.cpython-311-x86_64-linux-gnu.so.
set(RANKLAB_HAS_PYTHON OFF)
if(RANKLAB_HAS_TORCH AND RANKLAB_WITH_PYTHON)
  file(GLOB _extension "${RANKLAB_TORCH_ROOT}/_C.cpython-*.so")
  string(REGEX REPLACE ".*cpython-([0-9])([0-9]+)-.*" "\\1.\\2" _python "${_extension}")
  find_path(RANKLAB_PYTHON_INCLUDE Python.h HINTS "${RANKLAB_PYTHON_ROOT}/include"
    PATH_SUFFIXES python${_python})
  find_library(RANKLAB_PYTHON_LIBRARY python${_python} HINTS "${RANKLAB_PYTHON_ROOT}/lib")
  find_library(RANKLAB_TORCH_PYTHON_LIBRARY torch_python PATHS "${RANKLAB_TORCH_ROOT}/lib"
    NO_DEFAULT_PATH)
  if(RANKLAB_PYTHON_INCLUDE AND RANKLAB_PYTHON_LIBRARY AND RANKLAB_TORCH_PYTHON_LIBRARY)
    set(RANKLAB_HAS_PYTHON ON)
    set(RANKLAB_PYTHON_TEXT "${_python}, loaded at run time: ${RANKLAB_PYTHON_LIBRARY}")
    add_library(ranklab_torch_python INTERFACE)
    add_library(ranklab::torch_python ALIAS ranklab_torch_python)
    target_include_directories(ranklab_torch_python SYSTEM INTERFACE "${RANKLAB_PYTHON_INCLUDE}")
    target_link_libraries(ranklab_torch_python INTERFACE "${RANKLAB_TORCH_PYTHON_LIBRARY}"
      "${RANKLAB_PYTHON_LIBRARY}")
    target_link_options(ranklab_torch_python INTERFACE -Wl,--allow-shlib-undefined)
  elseif(RANKLAB_WITH_PYTHON STREQUAL "ON")
    message(FATAL_ERROR
      "RANKLAB_WITH_PYTHON=ON, but Python.h and libpython of Python ${_python}, or LibTorch's "
      "Python part, were not found. Set -DRANKLAB_PYTHON_ROOT, or install libpython${_python}-dev.")
  else()
    set(RANKLAB_PYTHON_TEXT
      "off: no Python.h and libpython of Python ${_python} (install libpython${_python}-dev)")
  endif()
else()
  set(RANKLAB_PYTHON_TEXT "off: RANKLAB_WITH_PYTHON=OFF, or no LibTorch")
endif()

if(RANKLAB_WITH_CUDA AND NOT RANKLAB_WITH_ROCM STREQUAL "ON")
  find_path(RANKLAB_CUDA_INCLUDE cuda_runtime.h PATHS ${_nvidia_includes} NO_DEFAULT_PATH)
  find_path(RANKLAB_CUDA_INCLUDE cuda_runtime.h PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    PATH_SUFFIXES include)
  # cuda_runtime.h includes it. CUDA 12 has it in another wheel, that of nvcc.
  find_path(RANKLAB_CUDA_CRT_INCLUDE crt/host_config.h HINTS "${RANKLAB_CUDA_INCLUDE}"
    ${_nvidia_includes})
  find_library(RANKLAB_CUDART_LIBRARY NAMES libcudart.so.13 libcudart.so.12 PATHS
    ${RANKLAB_NVIDIA_LIB_DIRS} NO_DEFAULT_PATH)
  find_library(RANKLAB_CUDART_LIBRARY NAMES cudart PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    PATH_SUFFIXES lib64 lib)
  if(RANKLAB_CUDA_INCLUDE AND RANKLAB_CUDA_CRT_INCLUDE AND RANKLAB_CUDART_LIBRARY)
    set(RANKLAB_HAS_CUDA ON)
    set(RANKLAB_CUDA_TEXT "${RANKLAB_CUDART_LIBRARY}")
    add_library(ranklab_cudart INTERFACE)
    add_library(ranklab::cudart ALIAS ranklab_cudart)
    target_include_directories(ranklab_cudart SYSTEM INTERFACE "${RANKLAB_CUDA_INCLUDE}"
      "${RANKLAB_CUDA_CRT_INCLUDE}")
    target_link_libraries(ranklab_cudart INTERFACE "${RANKLAB_CUDART_LIBRARY}")
  elseif(RANKLAB_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR
      "RANKLAB_WITH_CUDA=ON, but cuda_runtime.h, crt/host_config.h and libcudart were not all "
      "found. Set CUDA_HOME.")
  endif()
endif()

# Without CUDA, AMD's runtime takes its place, under its names (device/runtime.hpp) and those of its
# types that device/gpus.hpp declares. Compiled, not run; LibTorch's part for ROCm is not in use.
set(RANKLAB_HAS_ROCM OFF)
if(RANKLAB_WITH_ROCM AND NOT RANKLAB_HAS_CUDA)
  find_path(RANKLAB_HIP_INCLUDE hip/hip_runtime_api.h HINTS ENV ROCM_PATH PATHS /opt/rocm
    PATH_SUFFIXES include)
  find_library(RANKLAB_HIP_LIBRARY amdhip64 HINTS ENV ROCM_PATH PATHS /opt/rocm
    PATH_SUFFIXES lib lib64)
  if(RANKLAB_HIP_INCLUDE AND RANKLAB_HIP_LIBRARY)
    set(RANKLAB_HAS_CUDA ON)
    set(RANKLAB_HAS_ROCM ON)
    set(RANKLAB_CUDA_TEXT "ROCm's in its place: ${RANKLAB_HIP_LIBRARY} (compiled, never run)")
    set(RANKLAB_CUDA_INCLUDE "${RANKLAB_HIP_INCLUDE}")
    add_library(ranklab_cudart INTERFACE)
    add_library(ranklab::cudart ALIAS ranklab_cudart)
    target_include_directories(ranklab_cudart SYSTEM INTERFACE "${RANKLAB_HIP_INCLUDE}")
    target_compile_definitions(ranklab_cudart INTERFACE RANKLAB_ROCM __HIP_PLATFORM_AMD__
      CUstream_st=ihipStream_t CUevent_st=ihipEvent_t)
    # HIP deprecates the calls that start and stop its profiler.
    target_compile_options(ranklab_cudart INTERFACE -Wno-deprecated-declarations)
    target_link_libraries(ranklab_cudart INTERFACE "${RANKLAB_HIP_LIBRARY}")
  elseif(RANKLAB_WITH_ROCM STREQUAL "ON")
    message(FATAL_ERROR "RANKLAB_WITH_ROCM=ON, but hip/hip_runtime_api.h and libamdhip64 were not "
      "both found. Set ROCM_PATH.")
  endif()
endif()

# LibTorch's CUDA part, for the module that runs with a GPU load.
if(RANKLAB_HAS_TORCH AND RANKLAB_HAS_CUDA AND NOT RANKLAB_HAS_ROCM)
  find_library(RANKLAB_TORCH_CUDA_LIBRARY torch_cuda PATHS "${RANKLAB_TORCH_ROOT}/lib"
    NO_DEFAULT_PATH)
  find_library(RANKLAB_C10_CUDA_LIBRARY c10_cuda PATHS "${RANKLAB_TORCH_ROOT}/lib" NO_DEFAULT_PATH)
  if(RANKLAB_TORCH_CUDA_LIBRARY AND RANKLAB_C10_CUDA_LIBRARY)
    add_library(ranklab_torch_cuda_part INTERFACE)
    add_library(ranklab::torch_cuda ALIAS ranklab_torch_cuda_part)
    # Linked without a visible use, too: its static objects register the kernels.
    target_link_libraries(ranklab_torch_cuda_part INTERFACE ranklab::cudart
      -Wl,--no-as-needed "${RANKLAB_TORCH_CUDA_LIBRARY}" "${RANKLAB_C10_CUDA_LIBRARY}"
        -Wl,--as-needed)
    target_link_options(ranklab_torch_cuda_part INTERFACE -Wl,--allow-shlib-undefined)
    string(APPEND RANKLAB_CUDA_TEXT ", and LibTorch's CUDA part")
  endif()
endif()

# RCCL has NCCL's functions; its header takes the place of nccl.h.
if(RANKLAB_WITH_NCCL AND RANKLAB_HAS_ROCM)
  find_path(RANKLAB_RCCL_INCLUDE rccl/rccl.h HINTS "${RANKLAB_NCCL_ROOT}" ENV ROCM_PATH
    PATHS /opt/rocm PATH_SUFFIXES include)
  if(RANKLAB_RCCL_INCLUDE)
    set(RANKLAB_NCCL_INCLUDE "${PROJECT_BINARY_DIR}/generated/rccl")
    configure_file("${RANKLAB_RCCL_INCLUDE}/rccl/rccl.h" "${RANKLAB_NCCL_INCLUDE}/nccl.h" COPYONLY)
  endif()
endif()

if(RANKLAB_WITH_NCCL AND NOT (RANKLAB_HAS_ROCM AND NOT RANKLAB_RCCL_INCLUDE))
  # Search order: the user's, the wheel that LibTorch would load, the system's. The library is
  # beside the header.
  find_path(RANKLAB_NCCL_INCLUDE nccl.h HINTS "${RANKLAB_NCCL_ROOT}" "${_site_packages}/nvidia/nccl"
    PATH_SUFFIXES include)
  find_library(RANKLAB_NCCL_LIBRARY NAMES libnccl.so.2 nccl librccl.so.1 rccl
    HINTS "${RANKLAB_NCCL_INCLUDE}/.." "${RANKLAB_RCCL_INCLUDE}/.." PATH_SUFFIXES lib lib64)
  if(RANKLAB_NCCL_INCLUDE AND RANKLAB_HAS_CUDA)
    set(RANKLAB_HAS_NCCL ON)
    set(RANKLAB_NCCL_RUNTIME "")
    if(RANKLAB_NCCL_LIBRARY)
      set(RANKLAB_NCCL_RUNTIME "${RANKLAB_NCCL_LIBRARY}")
    endif()
    add_library(ranklab_nccl_headers INTERFACE)
    add_library(ranklab::nccl_headers ALIAS ranklab_nccl_headers)
    target_include_directories(ranklab_nccl_headers SYSTEM INTERFACE "${RANKLAB_NCCL_INCLUDE}"
      "${RANKLAB_CUDA_INCLUDE}")
    file(STRINGS "${RANKLAB_NCCL_INCLUDE}/nccl.h" _nccl REGEX
      "#define NCCL_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX MATCHALL "[0-9]+" _nccl "${_nccl}")
    string(REPLACE ";" "." RANKLAB_NCCL_VERSION "${_nccl}")
    set(RANKLAB_NCCL_TEXT
      "${RANKLAB_NCCL_VERSION}, loaded at run time: ${RANKLAB_NCCL_RUNTIME} or the loader's")
  elseif(RANKLAB_NCCL_INCLUDE AND NOT RANKLAB_WITH_NCCL STREQUAL "ON")
    set(RANKLAB_NCCL_TEXT "off: nccl.h is there, but it needs the CUDA runtime")
  elseif(RANKLAB_WITH_NCCL STREQUAL "ON")
    message(FATAL_ERROR
      "RANKLAB_WITH_NCCL=ON, but nccl.h or the CUDA runtime was not found. "
      "Set -DRANKLAB_NCCL_ROOT, CUDA_HOME.")
  endif()
endif()
