# FFTW 3 in double precision, as ranklab::fftw: through pkg-config, or by name where there is none (CMAKE_PREFIX_PATH,
# FFTW_ROOT).
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(RANKLAB_FFTW_PC QUIET fftw3)
endif()
find_path(RANKLAB_FFTW_INCLUDE fftw3.h HINTS ENV FFTW_ROOT "${FFTW_ROOT}" ${RANKLAB_FFTW_PC_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(RANKLAB_FFTW_LIBRARY fftw3 HINTS ENV FFTW_ROOT "${FFTW_ROOT}" ${RANKLAB_FFTW_PC_LIBRARY_DIRS} PATH_SUFFIXES lib lib64)
if(NOT RANKLAB_FFTW_INCLUDE OR NOT RANKLAB_FFTW_LIBRARY)
  message(FATAL_ERROR "There is no FFTW 3: install libfftw3-dev, load an fftw module, or set CMAKE_PREFIX_PATH or FFTW_ROOT.")
endif()

add_library(ranklab_fftw INTERFACE)
add_library(ranklab::fftw ALIAS ranklab_fftw)
target_include_directories(ranklab_fftw SYSTEM INTERFACE "${RANKLAB_FFTW_INCLUDE}")
target_link_libraries(ranklab_fftw INTERFACE "${RANKLAB_FFTW_LIBRARY}")
