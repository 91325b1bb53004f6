# Targets for developers: `format` rewrites sources, `tidy` checks them.
find_program(RANKLAB_CLANG_FORMAT clang-format)
find_program(RANKLAB_RUN_CLANG_TIDY NAMES run-clang-tidy run-clang-tidy-14)
file(GLOB_RECURSE _sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/*.[ch]pp"
  "${PROJECT_SOURCE_DIR}/apps/*.cpp"
  "${PROJECT_SOURCE_DIR}/tests/*.[ch]pp")
if(RANKLAB_CLANG_FORMAT)
  add_custom_target(format COMMAND ${RANKLAB_CLANG_FORMAT} -i ${_sources} VERBATIM)
endif()
if(RANKLAB_RUN_CLANG_TIDY)
  add_custom_target(tidy COMMAND ${RANKLAB_RUN_CLANG_TIDY} -quiet -p "${PROJECT_BINARY_DIR}"
    "${PROJECT_SOURCE_DIR}/(lib|apps)/.*" VERBATIM)
endif()
