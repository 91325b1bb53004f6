# The libraries that clusters often lack: fmt, nlohmann-json, kainjow's Mustache and hwloc. They are
# found as installed; with RANKLAB_FETCH the missing ones are fetched, pinned by version and
# SHA-256. Without a network, FETCHCONTENT_SOURCE_DIR_FMT (_NLOHMANN_JSON, _MUSTACHE, _HWLOC) name
# the folders of their unpacked sources.
option(RANKLAB_FETCH "Fetch what is missing of fmt, nlohmann-json, Mustache, hwloc" OFF)
include(FetchContent)
include(RanklabFind)

# ranklab_fetched(NAME URL SHA256): NAME_SOURCE_DIR has the sources. PLAIN leaves out their
# CMakeLists.txt.
macro(ranklab_fetched name url hash)
  if(NOT RANKLAB_FETCH)
    message(FATAL_ERROR "${name} is missing: install it, name it in CMAKE_PREFIX_PATH, or fetch it "
      "(./bootstrap build --fetch, or -DRANKLAB_FETCH=ON).")
  endif()
  if("${ARGN}" STREQUAL "PLAIN")
    set(_subfolder SOURCE_SUBDIR none)
  else()
    set(_subfolder "")
  endif()
  FetchContent_Declare(${name} URL "${url}" URL_HASH SHA256=${hash} ${_subfolder} SYSTEM)
  message(STATUS "Fetching ${name}: ${url}")
  FetchContent_MakeAvailable(${name})
endmacro()

find_package(fmt QUIET)
if(NOT fmt_FOUND)
  set(FMT_INSTALL OFF CACHE INTERNAL "")
  ranklab_fetched(fmt https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
    5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
endif()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  set(JSON_BuildTests OFF CACHE INTERNAL "")
  set(JSON_Install OFF CACHE INTERNAL "")
  ranklab_fetched(nlohmann_json
    https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
    d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
endif()

find_path(RANKLAB_MUSTACHE_INCLUDE kainjow/mustache.hpp)
if(NOT RANKLAB_MUSTACHE_INCLUDE)
  ranklab_fetched(mustache https://github.com/kainjow/Mustache/archive/refs/tags/v4.1.tar.gz
    acd66359feb4318b421f9574cfc5a511133a77d916d0b13c7caa3783c0bfe167 PLAIN)
  set(RANKLAB_MUSTACHE_INCLUDE "${PROJECT_BINARY_DIR}/fetched/include")
  file(COPY "${mustache_SOURCE_DIR}/mustache.hpp"
    DESTINATION "${RANKLAB_MUSTACHE_INCLUDE}/kainjow")
endif()

# hwloc has no CMakeLists.txt: configured and built once, as a static library.
ranklab_search_library(hwloc hwloc.h hwloc "hwloc>=2")
if(NOT RANKLAB_HWLOC_LIBRARY)
  ranklab_fetched(hwloc https://download.open-mpi.org/release/hwloc/v2.9/hwloc-2.9.2.tar.bz2
    0a87fdf677f8b00b567d229b6320bf6b25c693edaa43e0b85268d999d6b060cf PLAIN)
  set(HWLOC_ROOT "${PROJECT_BINARY_DIR}/fetched")
  if(NOT EXISTS "${HWLOC_ROOT}/lib/libhwloc.a")
    file(MAKE_DIRECTORY "${HWLOC_ROOT}/build")
    set(_without shared libxml2 cairo pci libudev opencl cuda nvml rsmi levelzero gl)
    list(TRANSFORM _without PREPEND "--disable-")
    list(JOIN _without " " _options)
    string(APPEND _options " --enable-static --with-pic")
    foreach(_command
        "${hwloc_SOURCE_DIR}/configure --prefix=${HWLOC_ROOT} ${_options}"
        "make -j2 install")
      separate_arguments(_words UNIX_COMMAND "${_command}")
      execute_process(COMMAND ${_words} WORKING_DIRECTORY "${HWLOC_ROOT}/build"
        OUTPUT_FILE log ERROR_FILE log RESULT_VARIABLE _failed)
      if(_failed)
        message(FATAL_ERROR "hwloc could not be built: see ${HWLOC_ROOT}/build/log.")
      endif()
    endforeach()
  endif()
  ranklab_search_library(hwloc hwloc.h hwloc "hwloc>=2")
endif()
ranklab_use_library(hwloc)
