# ranklab_find_library(hwloc hwloc.h hwloc "hwloc>=2" HELP): ranklab::hwloc, of a header, a library
# and pkg-config's module. Found through pkg-config, or by name if there is none (CMAKE_PREFIX_PATH,
# HWLOC_ROOT). HELP: how to install it.
find_package(PkgConfig QUIET)

function(ranklab_find_library name header library module help)
  string(TOUPPER ${name} upper)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(RANKLAB_${upper}_PC QUIET ${module})
  endif()
  set(root ENV ${upper}_ROOT "${${upper}_ROOT}")
  find_path(RANKLAB_${upper}_INCLUDE ${header} HINTS ${root} ${RANKLAB_${upper}_PC_INCLUDE_DIRS}
    PATH_SUFFIXES include)
  find_library(RANKLAB_${upper}_LIBRARY ${library} HINTS ${root} ${RANKLAB_${upper}_PC_LIBRARY_DIRS}
    PATH_SUFFIXES lib lib64)
  if(NOT RANKLAB_${upper}_INCLUDE OR NOT RANKLAB_${upper}_LIBRARY)
    message(FATAL_ERROR "${name} is missing: ${help}, or set CMAKE_PREFIX_PATH or ${upper}_ROOT.")
  endif()
  add_library(ranklab_${name} INTERFACE)
  add_library(ranklab::${name} ALIAS ranklab_${name})
  target_include_directories(ranklab_${name} SYSTEM INTERFACE "${RANKLAB_${upper}_INCLUDE}")
  target_link_libraries(ranklab_${name} INTERFACE "${RANKLAB_${upper}_LIBRARY}")
endfunction()
