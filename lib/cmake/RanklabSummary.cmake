# Prints the features of this configuration: found, off, and the reasons.
message(STATUS "")
message(STATUS "ranklab ${PROJECT_VERSION}")
message(STATUS
  "  build type   ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  MPI          ${MPI_C_VERSION} (${MPI_C_COMPILER})")
message(STATUS "  HDF5         ${RANKLAB_HDF5_TEXT}: ${RANKLAB_HDF5_LIBRARY}")
message(STATUS "  ... no MPI   ${RANKLAB_HDF5_SERIAL_TEXT}")
message(STATUS "  Boost        ${Boost_VERSION_STRING}")
message(STATUS "  LibTorch     ${RANKLAB_TORCH_TEXT}")
message(STATUS "  CUDA runtime ${RANKLAB_CUDA_TEXT}")
message(STATUS "  NCCL         ${RANKLAB_NCCL_TEXT}")
message(STATUS "  Python       ${RANKLAB_PYTHON_TEXT}")
message(STATUS "  sanitizers   ${RANKLAB_SANITIZE}")
message(STATUS
  "  tests        ${RANKLAB_BUILD_TESTS}, "
  "Python for whole-program and oracle tests: ${RANKLAB_PYTHON}")
message(STATUS "")
