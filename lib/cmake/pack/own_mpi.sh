# Read by launch and launch-mpi: where this archive's Open MPI and its PMIx find their files. $root
# is its folder.
export OPAL_PREFIX="$root" OPAL_BINDIR="$root/bin" OPAL_LIBDIR="$root/lib/mpi" \
  OPAL_PKGLIBDIR="$root/lib/mpi/openmpi" \
  OPAL_DATADIR="$root/share" OPAL_PKGDATADIR="$root/share/openmpi" \
  OPAL_SYSCONFDIR="$root/etc/openmpi" \
  PMIX_PREFIX="$root" PMIX_LIBDIR="$root/lib/mpi" PMIX_PKGLIBDIR="$root/lib/mpi/pmix" \
  PMIX_DATADIR="$root/share" \
  PMIX_PKGDATADIR="$root/share/pmix" PMIX_SYSCONFDIR="$root/etc"
