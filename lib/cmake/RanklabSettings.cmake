# The language, the build type, warnings, sanitizers, and where programs are put.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_OPTIMIZE_DEPENDENCIES OFF)
# The programs' search path for the module that train/torch_cuda.cpp loads; equal when installed.
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release is what is measured" FORCE)
endif()

option(RANKLAB_BUILD_TESTS "Build the tests" ON)
set(RANKLAB_WERROR AUTO CACHE STRING
  "Warnings are errors: ON, OFF or AUTO (with GCC 12, in a release, without flags of yours)")
set(RANKLAB_SANITIZE "" CACHE STRING
  "Sanitizers, as -fsanitize= takes them (address,undefined or thread)")

# AUTO: warnings are errors with CI's compiler, whose build has none. Other compilers, flags and
# sanitizers may warn of more, which must not stop a user's build.
set(_werror ${RANKLAB_WERROR})
if(_werror STREQUAL "AUTO")
  set(_werror OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12[.]"
     AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CXX_FLAGS AND NOT RANKLAB_SANITIZE)
    set(_werror ON)
  endif()
endif()

# Our own code is compiled with these; third-party headers are SYSTEM.
add_library(ranklab_settings INTERFACE)
target_compile_options(ranklab_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wunused
  # Narrowing needs a cast (base/numbers.hpp). Without -Wsign-conversion: indices and lengths are
  # never negative, and a cast would check nothing.
  -Wconversion
  -Wno-restrict  # GCC 12 warns of false overlaps in std::string (GCC bug 105651)
  $<$<BOOL:${_werror}>:-Werror>)
if(RANKLAB_SANITIZE)
  target_compile_options(ranklab_settings INTERFACE -fsanitize=${RANKLAB_SANITIZE}
    -fno-omit-frame-pointer)
  target_link_options(ranklab_settings INTERFACE -fsanitize=${RANKLAB_SANITIZE})
endif()

find_program(RANKLAB_CCACHE ccache)
if(RANKLAB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache needs this sloppiness to store compilations with a precompiled header; the base folder
  # lets clones share results.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${RANKLAB_CCACHE})
endif()
