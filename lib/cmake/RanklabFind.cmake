# ranklab_search_library(hwloc hwloc.h hwloc "hwloc>=2") sets RANKLAB_HWLOC_INCLUDE and _LIBRARY, of
# a header, a library and pkg-config's module: found through pkg-config, or by name if there is none
# (CMAKE_PREFIX_PATH, HWLOC_ROOT). ranklab_use_library(hwloc) then makes ranklab::hwloc.
find_package(PkgConfig QUIET)

function(ranklab_search_library name header library module)
  string(TOUPPER ${name} upper)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(RANKLAB_${upper}_PC QUIET ${module})
  endif()
  set(root "${${upper}_ROOT}" ENV ${upper}_ROOT)
  find_path(RANKLAB_${upper}_INCLUDE ${header} HINTS ${root} ${RANKLAB_${upper}_PC_INCLUDE_DIRS}
    PATH_SUFFIXES include)
  find_library(RANKLAB_${upper}_LIBRARY ${library} HINTS ${root} ${RANKLAB_${upper}_PC_LIBRARY_DIRS}
    PATH_SUFFIXES lib lib64)
endfunction()

function(ranklab_use_library name)
  string(TOUPPER ${name} upper)
  add_library(ranklab_${name} INTERFACE)
  add_library(ranklab::${name} ALIAS ranklab_${name})
  target_include_directories(ranklab_${name} SYSTEM INTERFACE "${RANKLAB_${upper}_INCLUDE}")
  target_link_libraries(ranklab_${name} INTERFACE "${RANKLAB_${upper}_LIBRARY}")
endfunction()
