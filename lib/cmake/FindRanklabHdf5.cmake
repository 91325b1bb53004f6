# HDF5's C library, the parallel one where there is one, as ranklab::hdf5_c. CMake's FindHDF5 asks h5pcc, a shell
# script that breaks in a folder with a space in its name, so it is looked for here.
find_program(RANKLAB_H5PCC NAMES h5pcc h5pcc.openmpi)
get_filename_component(_h5pcc_prefix "${RANKLAB_H5PCC}/../.." ABSOLUTE)
set(_hdf5_hints ENV HDF5_ROOT ENV HDF5_DIR "${HDF5_ROOT}" "${_h5pcc_prefix}")
find_path(RANKLAB_HDF5_INCLUDE hdf5.h HINTS ${_hdf5_hints} PATH_SUFFIXES include/hdf5/openmpi include/hdf5/mpich include hdf5/openmpi hdf5/mpich)
find_library(RANKLAB_HDF5_LIBRARY hdf5 HINTS ${_hdf5_hints} PATH_SUFFIXES lib/x86_64-linux-gnu/hdf5/openmpi lib lib64 hdf5/openmpi hdf5/mpich)
if(NOT RANKLAB_HDF5_INCLUDE OR NOT RANKLAB_HDF5_LIBRARY)
  message(FATAL_ERROR "There is no HDF5: install libhdf5-openmpi-dev, load a parallel HDF5 module, or set HDF5_ROOT.")
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

# Parallel HDF5 loads MPI, which programs of a login node do not need (docs/adr/0016): they take the serial
# library, where there is one of the same version, since the rooms are compiled once, with the headers above.
set(RANKLAB_HDF5_SERIAL_TEXT "${RANKLAB_HDF5_LIBRARY}")
set(RANKLAB_HAS_HDF5_WITHOUT_MPI TRUE)
set(_serial "${RANKLAB_HDF5_LIBRARY}")
if(RANKLAB_HDF5_TEXT MATCHES "parallel")
  find_library(RANKLAB_HDF5_SERIAL_LIBRARY NAMES hdf5_serial hdf5 HINTS ENV HDF5_SERIAL_ROOT "${HDF5_SERIAL_ROOT}"
    PATH_SUFFIXES lib/x86_64-linux-gnu/hdf5/serial hdf5/serial lib lib64)
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
        const int same = major == H5_VERS_MAJOR && minor == H5_VERS_MINOR && release == H5_VERS_RELEASE;
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
    set(RANKLAB_HDF5_SERIAL_TEXT
      "none of this version (libhdf5-dev, or HDF5_SERIAL_ROOT), so that report, compare and results load MPI, too")
  endif()
endif()

add_library(ranklab_hdf5_c INTERFACE)
add_library(ranklab::hdf5_c ALIAS ranklab_hdf5_c)
target_include_directories(ranklab_hdf5_c SYSTEM INTERFACE "${RANKLAB_HDF5_INCLUDE}")
target_link_libraries(ranklab_hdf5_c INTERFACE
  "$<IF:${ranklab_links_no_mpi},${_serial},${RANKLAB_HDF5_LIBRARY}>" ranklab::mpi_c)
