# cmake --install build/release --prefix DIR installs programs, configurations, job scripts,
# documents. The programs find each other in their own
# folder and link libraries outside the prefix by absolute paths, so that the installed folder can
# be moved. LibTorch is copied if other users may not enter its folder, such as a cache in a home
# folder.
include(GNUInstallDirs)
set(RANKLAB_INSTALL_LIBTORCH AUTO CACHE STRING
  "Whether to install a copy of LibTorch (3.6 GB with CUDA): AUTO where others cannot read it")
set_property(CACHE RANKLAB_INSTALL_LIBTORCH PROPERTY STRINGS AUTO ON OFF)
get_property(_programs GLOBAL PROPERTY RANKLAB_PROGRAMS)
# The copy keeps the layout of site-packages, by which LibTorch and CUDA libraries find each other.
set(_copy "${CMAKE_INSTALL_LIBDIR}/ranklab")
set(_rpath "$ORIGIN/../lib" "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" "$ORIGIN/../${_copy}/torch/lib")
set(_module_rpath "$ORIGIN/ranklab/torch/lib")
foreach(_folder IN LISTS RANKLAB_NVIDIA_LIB_DIRS)
  file(RELATIVE_PATH _folder "${_site_packages}" "${_folder}")
  if(_folder MATCHES "cu13|cuda_runtime|cuda_cupti")  # LibTorch finds the others itself
    list(APPEND _rpath "$ORIGIN/../${_copy}/${_folder}")
    list(APPEND _module_rpath "$ORIGIN/ranklab/${_folder}")
  endif()
endforeach()
list(REMOVE_DUPLICATES _rpath)
# Equal RPATHs when built and installed: if they differ, CMake pads the built one with empty
# entries, and the loader reads an empty entry as the current folder.
set_target_properties(${_programs} PROPERTIES
  INSTALL_RPATH "${_rpath}" INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS ${_programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(_module ranklab_torch_cuda ranklab_python)
  if(TARGET ${_module})
    set_target_properties(${_module} PROPERTIES
      INSTALL_RPATH "${_module_rpath}"
      INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
    install(TARGETS ${_module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(RANKLAB_HAS_TORCH)
  get_filename_component(_packages "${RANKLAB_TORCH_ROOT}/.." ABSOLUTE)
  install(CODE "
set(wanted \"${RANKLAB_INSTALL_LIBTORCH}\")
set(folder \"${RANKLAB_TORCH_ROOT}\")
while(wanted STREQUAL AUTO AND NOT folder STREQUAL \"/\")
  execute_process(COMMAND stat -L -c %A \"\${folder}\" OUTPUT_VARIABLE mode)
  if(NOT mode MATCHES \"x\\n\$|t\\n\$\")
    message(STATUS \"Other users may not enter \${folder}, so LibTorch is copied
      (RANKLAB_INSTALL_LIBTORCH=OFF leaves it there)\")
    set(wanted ON)
  endif()
  get_filename_component(folder \"\${folder}\" DIRECTORY)
endwhile()
if(wanted STREQUAL ON)
  file(GLOB folders RELATIVE \"${_packages}\" \"${_packages}/torch/lib\"
    \"${_packages}/nvidia/*/lib\")
  foreach(folder IN LISTS folders)
    file(GLOB libraries \"${_packages}/\${folder}/*.so*\")
    file(INSTALL \${libraries} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${_copy}/\${folder}\"
      USE_SOURCE_PERMISSIONS)
  endforeach()
endif()")
endif()
install(DIRECTORY configs jobscripts DESTINATION ${CMAKE_INSTALL_DATADIR}/ranklab)
install(DIRECTORY results/reference DESTINATION ${CMAKE_INSTALL_DATADIR}/ranklab)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE CITATION.cff DESTINATION
  ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
