# The preset `odr` makes no program: it links the object files of all programs and tests, and GCC's
# link-time optimiser compares their types (-Wodr). Two types with one name are otherwise no error:
# the linker takes the functions of either for both. It is cheap, since it makes no machine code.
option(RANKLAB_ODR "Compile for the target odr alone, which looks for types that are defined twice"
  OFF)
if(NOT RANKLAB_ODR)
  return()
endif()

# GCC uses the precompiled header if it fits a file's options, else the header itself.
set(_common "${PROJECT_BINARY_DIR}/odr_common.hpp")
set(_options -std=c++20 -O0 -flto -fno-fat-lto-objects -fpch-preprocess)
list(TRANSFORM RANKLAB_COMMON_HEADERS PREPEND "#include " OUTPUT_VARIABLE _includes)
list(JOIN _includes "\n" _includes)
file(CONFIGURE OUTPUT "${_common}" CONTENT "${_includes}\n")
# Through ccache, so that another clone gets equal bytes, and with them cached objects.
execute_process(COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${CMAKE_CXX_COMPILER}" ${_options}
  -DFMT_SHARED -x c++-header "${_common}" -o "${_common}.gch"
  WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" COMMAND_ERROR_IS_FATAL ANY)

set(CMAKE_POSITION_INDEPENDENT_CODE OFF)  # equal options for all files
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-O0;-flto;-fno-fat-lto-objects;-fpch-preprocess>"
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${_common}>")

# Returns all targets with object files in a folder and below.
function(ranklab_targets_below folder result)
  get_property(found DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS below)
    ranklab_targets_below("${one}" more)
    list(APPEND found ${more})
  endforeach()
  set(compiled "")
  foreach(target IN LISTS found)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|OBJECT_LIBRARY|MODULE_LIBRARY)$")
      list(APPEND compiled ${target})
    endif()
  endforeach()
  set(${result} ${compiled} PARENT_SCOPE)
endfunction()

# To be called last. Each program has a main: the linker takes the first definition (muldefs).
function(ranklab_add_odr_target)
  ranklab_targets_below("${PROJECT_SOURCE_DIR}" targets)
  list(REMOVE_DUPLICATES targets)
  list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(list "${PROJECT_BINARY_DIR}/odr_objects.txt")
  file(GENERATE OUTPUT "${list}" CONTENT "\"$<JOIN:${objects},\"\n\">\"\n")
  set(linked "${PROJECT_BINARY_DIR}/odr.o")
  set(passed "${PROJECT_BINARY_DIR}/odr.passed")
  add_custom_command(OUTPUT "${passed}"
    COMMAND "${CMAKE_CXX_COMPILER}" -r -flto -flinker-output=rel -Werror=odr -Wno-lto-type-mismatch
      -Wl,-z,muldefs
      "@${list}" -o "${linked}"
    COMMAND ${CMAKE_COMMAND} -E remove "${linked}"
    COMMAND ${CMAKE_COMMAND} -E touch "${passed}"
    DEPENDS ${objects} "${list}" VERBATIM COMMENT "Comparing the types of all object files")
  add_custom_target(odr DEPENDS "${passed}")
endfunction()
