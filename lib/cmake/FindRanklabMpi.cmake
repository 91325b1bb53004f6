# Finds MPI's C interface as ranklab::mpi_c, its family in RANKLAB_MPI_FAMILY (openmpi, mpich, or ""
# for another), and the launcher of that family: with two families installed CMake may find the
# launcher of the other one. "mpich" includes its derivatives Cray MPICH, Intel MPI and MVAPICH.
set(RANKLAB_MPI AUTO CACHE STRING
  "The family of MPI: openmpi, mpich, or AUTO for the one whose mpicc is first in PATH")
set_property(CACHE RANKLAB_MPI PROPERTY STRINGS AUTO openmpi mpich)
if(NOT RANKLAB_MPI STREQUAL "AUTO" AND NOT MPI_C_COMPILER)
  find_program(_wrapper mpicc.${RANKLAB_MPI} NO_CACHE)
  if(_wrapper)
    set(MPI_C_COMPILER "${_wrapper}" CACHE FILEPATH "MPI compiler for C")
  endif()
endif()
# Only C: the C++ bindings need a library that LibTorch's build lacks.
find_package(MPI REQUIRED COMPONENTS C)

include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${MPI_C_INCLUDE_DIRS})
unset(RANKLAB_MPI_IS_OPENMPI CACHE)
unset(RANKLAB_MPI_IS_MPICH CACHE)
set(CMAKE_REQUIRED_QUIET TRUE)
check_symbol_exists(OPEN_MPI mpi.h RANKLAB_MPI_IS_OPENMPI)
check_symbol_exists(MPICH_VERSION mpi.h RANKLAB_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_QUIET)
unset(CMAKE_REQUIRED_INCLUDES)
set(RANKLAB_MPI_FAMILY "")
set(RANKLAB_MPI_NAME "this MPI")
if(RANKLAB_MPI_IS_OPENMPI)
  set(RANKLAB_MPI_FAMILY openmpi)
  set(RANKLAB_MPI_NAME "Open MPI")
elseif(RANKLAB_MPI_IS_MPICH)
  set(RANKLAB_MPI_FAMILY mpich)
  set(RANKLAB_MPI_NAME "MPICH")
endif()

if(NOT RANKLAB_MPI STREQUAL "AUTO" AND NOT RANKLAB_MPI STREQUAL RANKLAB_MPI_FAMILY)
  message(FATAL_ERROR
    "${MPI_C_COMPILER} builds for ${RANKLAB_MPI_NAME}, and RANKLAB_MPI is ${RANKLAB_MPI}: install "
    "it (Debian's mpich and libmpich-dev, or libopenmpi-dev), load its module, "
    "or set MPI_C_COMPILER to its mpicc.")
endif()

# The family of a launcher by its version text; "" for another launcher (srun, PALS, jsrun).
function(ranklab_launcher_family launcher out)
  set(said "")
  if(launcher)
    execute_process(COMMAND "${launcher}" --version OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT
      20)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(said MATCHES "Open MPI|OpenRTE|PRTE|Open Run-Time")
    set(${out} openmpi PARENT_SCOPE)
  elseif(said MATCHES "HYDRA|Intel\\(R\\) MPI|MPICH|MVAPICH")
    set(${out} mpich PARENT_SCOPE)
  endif()
endfunction()

# mpicc.mpich's launcher is mpiexec.mpich beside it.
function(ranklab_find_launcher out)
  find_program(_wrapper "${MPI_C_COMPILER}" NO_CACHE)
  get_filename_component(folder "${_wrapper}" DIRECTORY)
  get_filename_component(suffix "${_wrapper}" LAST_EXT)
  find_program(_found NAMES "mpiexec${suffix}" "mpirun${suffix}" mpiexec.hydra
    mpiexec.${RANKLAB_MPI_FAMILY}
    mpirun.${RANKLAB_MPI_FAMILY} HINTS "${folder}" NO_CACHE)
  set(family "")
  if(_found)
    ranklab_launcher_family("${_found}" family)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(family STREQUAL RANKLAB_MPI_FAMILY)
    set(${out} "${_found}" PARENT_SCOPE)
  endif()
endfunction()

ranklab_launcher_family("${MPIEXEC_EXECUTABLE}" _launcher_family)
if(RANKLAB_MPI_FAMILY AND _launcher_family AND NOT _launcher_family STREQUAL RANKLAB_MPI_FAMILY)
  ranklab_find_launcher(_launcher)
  if(_launcher)
    set(MPIEXEC_EXECUTABLE "${_launcher}" CACHE FILEPATH "Executable for running MPI programs."
      FORCE)
  else()
    message(WARNING
      "${MPIEXEC_EXECUTABLE} is not a launcher of ${RANKLAB_MPI_NAME}, "
      "which ${MPI_C_COMPILER} builds for: set MPIEXEC_EXECUTABLE to its mpiexec, "
      "or the tests of several ranks fail.")
  endif()
endif()

# The command that starts ranks: mpirun if the one in PATH belongs to this family.
set(RANKLAB_MPIRUN mpirun)
find_program(_mpirun mpirun NO_CACHE)
ranklab_launcher_family("${_mpirun}" _mpirun_family)
if(RANKLAB_MPI_FAMILY AND _mpirun_family AND NOT _mpirun_family STREQUAL RANKLAB_MPI_FAMILY)
  get_filename_component(RANKLAB_MPIRUN "${MPIEXEC_EXECUTABLE}" NAME)
  find_program(_in_path "${RANKLAB_MPIRUN}" NO_CACHE)
  if(NOT _in_path STREQUAL MPIEXEC_EXECUTABLE)
    set(RANKLAB_MPIRUN "${MPIEXEC_EXECUTABLE}")
  endif()
endif()

add_library(ranklab_mpi_c INTERFACE)
add_library(ranklab::mpi_c ALIAS ranklab_mpi_c)
# True if the program has this property: then a call of MPI in it is a linker error.
set(ranklab_links_no_mpi "$<BOOL:$<TARGET_PROPERTY:RANKLAB_NO_MPI>>")
target_link_libraries(ranklab_mpi_c INTERFACE "$<$<NOT:${ranklab_links_no_mpi}>:MPI::MPI_C>")
target_compile_definitions(ranklab_mpi_c INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
