# Functions that add tests. Every test has a time limit; a test of N ranks reserves N processors.
if(NOT RANKLAB_BUILD_TESTS)
  return()
endif()
enable_testing()
find_package(GTest REQUIRED)

# Whole-program and oracle tests are Python; the oracles import torch, numpy and h5py from this
# interpreter.
set(RANKLAB_PYTHON "" CACHE FILEPATH "Python for the tests (./bootstrap sets the venv's)")
if(NOT RANKLAB_PYTHON)
  set(_venv_python "${RANKLAB_TORCH_ROOT}/../../../../bin/python3")
  if(RANKLAB_HAS_TORCH AND EXISTS "${_venv_python}")
    get_filename_component(_bin "${_venv_python}" DIRECTORY)
    get_filename_component(_bin "${_bin}" ABSOLUTE)
    set(RANKLAB_PYTHON "${_bin}/python3" CACHE FILEPATH "" FORCE)
  else()
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(RANKLAB_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "" FORCE)
  endif()
endif()

cmake_host_system_information(RESULT RANKLAB_CORES QUERY NUMBER_OF_LOGICAL_CORES)
# Every test runs with one thread per rank, and findings do not depend on the machine's load.
set(RANKLAB_TEST_ENVIRONMENT OMP_NUM_THREADS=1 RANKLAB_SYSTEM_ROOT=/nonexistent)
# Open MPI: allows root and more ranks than cores, yields while waiting, does not bind, and skips
# the search for fabrics (0.2 s per start). MPICH allows root and oversubscription and does not
# bind. It cannot yield, so a preloaded library does (docs/mpi.md), and collectives that spin on
# shared memory without progress are switched off.
if(RANKLAB_MPI_FAMILY STREQUAL "mpich")
  add_library(ranklab_mpich_yield MODULE "${PROJECT_SOURCE_DIR}/tests/mpich_yield.c")
  target_link_libraries(ranklab_mpich_yield PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(ranklab_mpich_yield PROPERTIES PREFIX "lib" LIBRARY_OUTPUT_DIRECTORY
    "${PROJECT_BINARY_DIR}/tests")
  list(APPEND RANKLAB_TEST_ENVIRONMENT
    "LD_PRELOAD=${PROJECT_BINARY_DIR}/tests/libranklab_mpich_yield.so")
  foreach(_operation ALLREDUCE BARRIER BCAST REDUCE)
    list(APPEND RANKLAB_TEST_ENVIRONMENT MPIR_CVAR_${_operation}_POSIX_INTRA_ALGORITHM=mpir)
  endforeach()
else()
  list(APPEND RANKLAB_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
      OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_pml=^cm,ucx)
endif()
# If mpirun in PATH belongs to another MPI, a folder with this MPI's launcher goes before it.
set(RANKLAB_TEST_PATH "")
file(REMOVE_RECURSE "${PROJECT_BINARY_DIR}/launcher")
if(NOT RANKLAB_MPIRUN STREQUAL "mpirun")
  set(RANKLAB_TEST_PATH "PATH=path_list_prepend:${PROJECT_BINARY_DIR}/launcher")
  find_program(_mpicc "${MPI_C_COMPILER}" NO_CACHE)
  # Scripts, not links: Hydra looks for its proxy in the folder of the called name.
  foreach(_name IN ITEMS mpirun mpiexec mpicc)
    set(_program "${MPIEXEC_EXECUTABLE}")
    if(_name STREQUAL "mpicc")
      set(_program "${_mpicc}")
    endif()
    file(WRITE "${PROJECT_BINARY_DIR}/launcher/${_name}" "#!/bin/sh\nexec '${_program}' \"$@\"\n")
    file(CHMOD "${PROJECT_BINARY_DIR}/launcher/${_name}" PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
endif()
# These files suppress findings in third-party libraries, with the reasons.
if(RANKLAB_SANITIZE MATCHES "address")
  list(APPEND RANKLAB_TEST_ENVIRONMENT "ASAN_OPTIONS=fast_unwind_on_malloc=0"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
      "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1")
elseif(RANKLAB_SANITIZE MATCHES "thread")
  list(APPEND RANKLAB_TEST_ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endif()

# "slow" while tests of the second suite are added, else empty. The target slow_tests builds the C++
# programs of the second suite.
set(RANKLAB_SUITE "")
add_custom_target(slow_tests)
set(_slices "${PROJECT_SOURCE_DIR}/tests/slow/slices.txt")
file(STRINGS "${_slices}" RANKLAB_SLICES REGEX "^[1-4] ")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_slices}")

# ranklab_label_test(NAME label ...): labels the test, in the second suite with "slow" and its slice
# too. Stops the configuration if slices.txt has no row for a test of the second suite.
function(ranklab_label_test name)
  set(labels ${ARGN})
  if(RANKLAB_SUITE)
    set(row ${RANKLAB_SLICES})
    list(FILTER row INCLUDE REGEX "^[1-4] +[0-9]+ +${name}$")
    if(NOT row MATCHES "^([1-4]) +([0-9]+) +")
      message(FATAL_ERROR "tests/slow/slices.txt has no row for the test ${name}")
    endif()
    list(APPEND labels ${RANKLAB_SUITE} slice${CMAKE_MATCH_1})
    # ctest starts the longest first.
    set_property(TEST ${name} PROPERTY COST ${CMAKE_MATCH_2})
  endif()
  set_property(TEST ${name} PROPERTY LABELS ${labels})
endfunction()

# The precompiled header of tests without LibTorch: GoogleMock takes most of their compile time.
# Tests are compiled with -O0: optimising takes longer than it saves.
set(RANKLAB_TEST_HEADERS ${RANKLAB_COMMON_HEADERS})
list(APPEND RANKLAB_TEST_HEADERS <gtest/gtest.h> <gmock/gmock.h>)

# ranklab_add_test_program(NAME [FOLDERS a b] [SOURCES x.cpp ...] LINK target ... [TORCH])
# The sources are all *_test.cpp below FOLDERS, and SOURCES.
function(ranklab_add_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "TORCH" "" "FOLDERS;SOURCES;LINK")
  set(sources ${TEST_SOURCES})
  foreach(folder IN LISTS TEST_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*_test.cpp")
    list(APPEND sources ${found})
  endforeach()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${TEST_LINK} GTest::gtest GTest::gmock ranklab_settings)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE RANKLAB_TESTS_SOURCE="${PROJECT_SOURCE_DIR}/tests")
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(kind COMMON)
  set(headers ${RANKLAB_TEST_HEADERS})
  if(TEST_TORCH)
    set(kind TORCH)
    list(APPEND headers <torch/torch.h>)
    # Reading LibTorch's precompiled header takes 8 s of CPU for each unit that is compiled.
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
  get_property(owner GLOBAL PROPERTY RANKLAB_TEST_PCH_${kind})
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY RANKLAB_TEST_PCH_${kind} ${name})
  endif()
endfunction()

# ranklab_add_room_tests(ROOM FOLDERS a b ...): the test program ROOM_test, without MPI; other
# arguments as ranklab_add_test_program.
function(ranklab_add_room_tests room)
  set(name ${room}_test)
  ranklab_add_test_program(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${RANKLAB_TEST_ENVIRONMENT}")
  ranklab_label_test(${name} unit)
endfunction()

# ranklab_add_mpi_tests(NAME FOLDERS a b ...): one program with the main of tests/mpi/main.cpp,
# started at 1 and 3 ranks in the fast suite, at 2 and 4 in the second; other arguments as
# ranklab_add_test_program.
function(ranklab_add_mpi_tests name)
  ranklab_add_test_program(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ranklab_mpi_main)
  foreach(ranks IN ITEMS 1 3)
    ranklab_add_mpi_entry(${name}.np${ranks} ${name} ${ranks} mpi)
  endforeach()
  set(RANKLAB_SUITE slow)
  foreach(ranks IN ITEMS 2 4)
    ranklab_add_mpi_entry(${name}.np${ranks} ${name} ${ranks} mpi)
  endforeach()
endfunction()

# ranklab_add_mpi_entry(ENTRY program ranks "labels" [argument ...]): starts the program at that
# number of ranks. ctest shows it as skipped if all of its tests skip.
function(ranklab_add_mpi_entry entry program ranks labels)
  add_test(NAME ${entry} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
    $<TARGET_FILE:${program}>
    --expect-ranks=${ranks} ${ARGN})
  set(processors ${ranks})
  if(processors GREATER RANKLAB_CORES)
    set(processors ${RANKLAB_CORES})
  endif()
  set_tests_properties(${entry} PROPERTIES TIMEOUT 600 PROCESSORS ${processors}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${RANKLAB_TEST_ENVIRONMENT}")
  ranklab_label_test(${entry} ${labels})
endfunction()

# ranklab_add_script_tests(KIND): adds each *_test.py of this folder as the test KIND.<file>.
function(ranklab_add_script_tests kind)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
    "${CMAKE_CURRENT_SOURCE_DIR}/*_test.py")
  foreach(file IN LISTS files)
    string(REPLACE "_test.py" "" name ${file})
    ranklab_add_script_test(${kind}.${name} FILE ${file} LABEL ${kind})
  endforeach()
endfunction()

# ranklab_add_script_test(NAME FILE x_test.py LABEL apps [TIMEOUT s])
# Adds a Python unittest file; RANKLAB_BIN is the folder of programs, RANKLAB_SOURCE the checkout.
function(ranklab_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "FILE;LABEL;TIMEOUT" "")
  if(NOT TEST_TIMEOUT AND RANKLAB_SUITE)
    set(TEST_TIMEOUT 600)
  elseif(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  set(environment ${RANKLAB_TEST_ENVIRONMENT} RANKLAB_BIN=${PROJECT_BINARY_DIR}/bin
    RANKLAB_SOURCE=${PROJECT_SOURCE_DIR} RANKLAB_HAS_TORCH=${RANKLAB_HAS_TORCH}
    RANKLAB_MPI_FAMILY=${RANKLAB_MPI_FAMILY} RANKLAB_MPIRUN=${RANKLAB_MPIRUN}
    RANKLAB_HAS_HDF5_WITHOUT_MPI=${RANKLAB_HAS_HDF5_WITHOUT_MPI}
    PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support)
  add_test(NAME ${name} COMMAND ${RANKLAB_PYTHON} -B "${CMAKE_CURRENT_SOURCE_DIR}/${TEST_FILE}" -v)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION "${RANKLAB_TEST_PATH}"
    TIMEOUT ${TEST_TIMEOUT} SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
  ranklab_label_test(${name} ${TEST_LABEL})
endfunction()
