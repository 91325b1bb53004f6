# Features of the machine. Each RANKLAB_WITH_* is AUTO (used if found), ON (an error if missing) or
# OFF. RANKLAB_HAS_* has the outcome, which RanklabSummary prints.
set(RANKLAB_WITH_TORCH AUTO CACHE STRING "Build the training programs on LibTorch: AUTO, ON or OFF")
set(RANKLAB_WITH_CUDA AUTO CACHE STRING "GPUs through the CUDA runtime: AUTO, ON or OFF")
set(RANKLAB_WITH_ROCM OFF CACHE STRING
  "AMD's GPUs through HIP's runtime, in place of CUDA: ON (compiled, never run) or OFF")
set(RANKLAB_WITH_NCCL AUTO CACHE STRING "Build the communication backend nccl: AUTO, ON or OFF")
set(RANKLAB_WITH_PYTHON AUTO CACHE STRING "Networks in Python files: AUTO, ON or OFF")
set_property(CACHE RANKLAB_WITH_TORCH RANKLAB_WITH_CUDA RANKLAB_WITH_ROCM RANKLAB_WITH_NCCL
  RANKLAB_WITH_PYTHON PROPERTY STRINGS AUTO ON OFF)
set(RANKLAB_TORCH_ROOT "$ENV{RANKLAB_TORCH_ROOT}" CACHE PATH
  "LibTorch: an unpacked libtorch/ or a site-packages/torch")
set(RANKLAB_PYTHON_ROOT "$ENV{RANKLAB_PYTHON_ROOT}" CACHE PATH
  "Python: a folder with include/python3.11/Python.h and lib/libpython3.11.so")
set(RANKLAB_NCCL_ROOT "$ENV{RANKLAB_NCCL_ROOT}" CACHE PATH
  "NCCL: a folder with include/nccl.h and lib/")

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.70 REQUIRED COMPONENTS program_options)

include(FindRanklabMpi)
include(FindRanklabHdf5)
include(RanklabFetch)
include(FindRanklabTorch)
