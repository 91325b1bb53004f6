# cmake -DSOURCE=... -DTEMPLATE=... -DOUTPUT=... -DVERSION=... -P WriteVersion.cmake
# Rewrites OUTPUT only if it changes, so that a build without changes compiles nothing.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE REVISION
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE rc)
if(NOT rc EQUAL 0)
  set(REVISION "unknown")
else()
  execute_process(COMMAND git -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE
    changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    string(APPEND REVISION "-dirty")
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
