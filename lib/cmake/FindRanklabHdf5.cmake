# Finds HDF5's C library, preferably a parallel one, as ranklab::hdf5_c. CMake's FindHDF5 is not
# used: it calls h5pcc, a shell script that fails in a folder with a space in its name. If several
# are installed, as in Debian, takes the one for the MPI that was found. Results for another MPI or
# another root are dropped from the cache.
set(_looked_up_for "${RANKLAB_MPI_FAMILY} ${HDF5_ROOT} $ENV{HDF5_ROOT} $ENV{HDF5_DIR}")
if(NOT _looked_up_for STREQUAL "${RANKLAB_HDF5_LOOKED_UP_FOR}")
  if(DEFINED RANKLAB_HDF5_LOOKED_UP_FOR)
    unset(RANKLAB_H5PCC CACHE)
    unset(RANKLAB_HDF5_INCLUDE CACHE)
    unset(RANKLAB_HDF5_LIBRARY CACHE)
  endif()
  set(RANKLAB_HDF5_LOOKED_UP_FOR "${_looked_up_for}" CACHE INTERNAL "")
endif()
find_program(RANKLAB_H5PCC NAMES h5pcc.${RANKLAB_MPI_FAMILY} h5pcc)
get_filename_component(_h5pcc_prefix "${RANKLAB_H5PCC}/../.." ABSOLUTE)
set(_hdf5_hints "${HDF5_ROOT}" ENV HDF5_ROOT ENV HDF5_DIR "${_h5pcc_prefix}")
set(_of_family hdf5/${RANKLAB_MPI_FAMILY})
find_path(RANKLAB_HDF5_INCLUDE hdf5.h HINTS ${_hdf5_hints} PATH_SUFFIXES include/${_of_family}
  include ${_of_family})
find_library(RANKLAB_HDF5_LIBRARY hdf5 HINTS ${_hdf5_hints}
  PATH_SUFFIXES lib/${CMAKE_LIBRARY_ARCHITECTURE}/${_of_family} lib lib64 ${_of_family})
string(CONCAT _h5_mend "install libhdf5-${RANKLAB_MPI_FAMILY}-dev, load an HDF5 module that was "
  "built with this MPI, or set HDF5_ROOT")
if(NOT RANKLAB_MPI_FAMILY)
  set(_h5_mend "load an HDF5 module that was built with this MPI, or set HDF5_ROOT")
endif()
if(NOT RANKLAB_HDF5_INCLUDE OR NOT RANKLAB_HDF5_LIBRARY)
  message(FATAL_ERROR "There is no HDF5 for ${RANKLAB_MPI_NAME} (${MPI_C_COMPILER}): ${_h5_mend}.")
endif()

set(RANKLAB_HDF5_TEXT "unknown, serial")
file(GLOB _h5_conf "${RANKLAB_HDF5_INCLUDE}/H5pubconf*.h")
foreach(_file IN LISTS _h5_conf)
  file(STRINGS "${_file}" _parallel REGEX "define H5_HAVE_PARALLEL 1")
  file(STRINGS "${_file}" _version REGEX "define H5_PACKAGE_VERSION ")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" _version "${_version}")
  if(_parallel)
    set(RANKLAB_HDF5_TEXT "${_version}, parallel")
    break()
  elseif(_version)
    set(RANKLAB_HDF5_TEXT "${_version}, serial")
  endif()
endforeach()

# A parallel HDF5 for another MPI compiles and links, and crashes in its first call. Refused only if
# a test program ran and named both libraries: not when cross compiling, nor on a login node that
# cannot run its own builds.
if(RANKLAB_HDF5_TEXT MATCHES "parallel" AND NOT CMAKE_CROSSCOMPILING)
  try_run(_one_mpi_code _one_mpi_compiled SOURCES "${CMAKE_CURRENT_LIST_DIR}/checks/one_mpi.c"
    NO_CACHE
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${RANKLAB_HDF5_INCLUDE}"
    LINK_LIBRARIES MPI::MPI_C "${RANKLAB_HDF5_LIBRARY}" ${CMAKE_DL_LIBS}
    RUN_OUTPUT_VARIABLE _one_mpi_said)
  if(_one_mpi_compiled AND "${_one_mpi_code}" STREQUAL "2")
    message(FATAL_ERROR
      "This HDF5 is of another MPI than ${MPI_C_COMPILER} builds for: a program with "
      "${RANKLAB_HDF5_LIBRARY} loads both ${_one_mpi_said}. For ${RANKLAB_MPI_NAME}, ${_h5_mend} "
      "(-DHDF5_ROOT=DIR with include/ and lib/); "
      "for the MPI of this HDF5, set MPI_C_COMPILER to its mpicc.")
  endif()
endif()

# Parallel HDF5 loads MPI, which programs for login nodes do not need (docs/adr/0016): they link the
# serial HDF5 of the same version, since each library is compiled once, with the headers above.
set(RANKLAB_HDF5_SERIAL_TEXT "${RANKLAB_HDF5_LIBRARY}")
set(RANKLAB_HAS_HDF5_WITHOUT_MPI TRUE)
set(_serial "${RANKLAB_HDF5_LIBRARY}")
if(RANKLAB_HDF5_TEXT MATCHES "parallel")
  find_library(RANKLAB_HDF5_SERIAL_LIBRARY NAMES hdf5_serial hdf5 HINTS ENV HDF5_SERIAL_ROOT
    "${HDF5_SERIAL_ROOT}"
    PATH_SUFFIXES lib/${CMAKE_LIBRARY_ARCHITECTURE}/hdf5/serial hdf5/serial lib lib64)
  if(RANKLAB_HDF5_SERIAL_LIBRARY)
    include(CheckCSourceRuns)
    set(CMAKE_REQUIRED_INCLUDES "${RANKLAB_HDF5_INCLUDE}" ${MPI_C_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LIBRARIES "${RANKLAB_HDF5_SERIAL_LIBRARY}" ${CMAKE_DL_LIBS})
    check_c_source_runs("
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <hdf5.h>
      int main(void) {
        unsigned major, minor, release;
        H5get_libversion(&major, &minor, &release);
        const int same = major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release ==
          H5_VERS_RELEASE;
        return same && dlsym(RTLD_DEFAULT, \"MPI_Init\") == NULL ? 0 : 1;
      }" RANKLAB_HDF5_SERIAL_FITS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
  if(RANKLAB_HDF5_SERIAL_FITS)
    set(_serial "${RANKLAB_HDF5_SERIAL_LIBRARY}")
    set(RANKLAB_HDF5_SERIAL_TEXT "${_serial}")
  else()
    set(RANKLAB_HAS_HDF5_WITHOUT_MPI FALSE)
    string(CONCAT RANKLAB_HDF5_SERIAL_TEXT
      "none of this version (libhdf5-dev, or HDF5_SERIAL_ROOT), "
      "so that report, compare and results load MPI, too")
  endif()
endif()

add_library(ranklab_hdf5_c INTERFACE)
add_library(ranklab::hdf5_c ALIAS ranklab_hdf5_c)
target_include_directories(ranklab_hdf5_c SYSTEM INTERFACE "${RANKLAB_HDF5_INCLUDE}")
target_link_libraries(ranklab_hdf5_c INTERFACE
  "$<IF:${ranklab_links_no_mpi},${_serial},${RANKLAB_HDF5_LIBRARY}>" ranklab::mpi_c)
