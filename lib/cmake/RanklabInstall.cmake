# cmake --install build/release --prefix DIR: programs, named configurations, job scripts, documents, man
# pages and what bash and zsh complete command lines by.
# The programs find each other beside themselves and what they link by absolute paths outside the prefix,
# so that the installed folder can be moved.
include(GNUInstallDirs)
get_property(_programs GLOBAL PROPERTY RANKLAB_PROGRAMS)
set_target_properties(${_programs} PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS ${_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ranklab_torch_cuda)
  set_target_properties(ranklab_torch_cuda PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ranklab_torch_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY configs jobscripts DESTINATION ${CMAKE_INSTALL_DATADIR}/ranklab)
install(DIRECTORY results/reference DESTINATION ${CMAKE_INSTALL_DATADIR}/ranklab)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# The built programs say these of themselves, from the rows that --help shows.
set(RANKLAB_MANUALS "${PROJECT_BINARY_DIR}/manuals")
set(_manuals "")
foreach(_shell bash zsh)
  string(APPEND _manuals "made_by(${_shell} \"$<TARGET_FILE:ranklab>\" completion ${_shell})\n")
endforeach()
string(APPEND _manuals "made_by(ranklab-completion.1 \"$<TARGET_FILE:ranklab>\" completion --help-as man)\n")
foreach(_program IN LISTS _programs)
  if(NOT _program MATCHES worker)
    string(APPEND _manuals "made_by(${_program}.1 \"$<TARGET_FILE:${_program}>\" --help-as man)\n")
  endif()
endforeach()
install(CODE "
function(made_by name)
  execute_process(COMMAND \${ARGN} OUTPUT_FILE \"${RANKLAB_MANUALS}/\${name}\" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY \"${RANKLAB_MANUALS}\")
${_manuals}")
install(FILES "${RANKLAB_MANUALS}/bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ranklab)
install(FILES "${RANKLAB_MANUALS}/zsh" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _ranklab)
install(DIRECTORY "${RANKLAB_MANUALS}/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
