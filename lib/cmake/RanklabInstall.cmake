# cmake --install build/release --prefix DIR: programs, named configurations, job scripts, documents.
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
