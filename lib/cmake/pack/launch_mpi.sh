#!/bin/sh
# mpirun, mpiexec and orted of this archive. The ranks take the archive's MPI, too: its folder goes
# before an MPI that a module has put into LD_LIBRARY_PATH, since mpirun and ranks must be of one
# Open MPI.
set -u
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
self=$(readlink -f -- "$0") || exit 5
root=${self%/libexec/*}
# Where the caller has closed them, what ranks print would go into the next file or pipe that mpirun
# opens.
true >&2 || exec 2>/dev/null
case $root in
  *[:\;]*)
    printf '%s %s: the loader takes : and ; for the end of a folder name, so move it %s\n' \
      'this archive is in' "$root" 'to a folder without them' >&2
    exit 5 ;;
esac
# (Copying one onto itself succeeds, whether it is open or not.)
{ true 3<&0; } 2>/dev/null || exec </dev/null
{ true 3>&1; } 2>/dev/null || exec >/dev/null
. "$root/libexec/own-mpi"
export LD_LIBRARY_PATH="$root/lib/mpi${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
case ${0##*/} in
  orted) exec "$root/libexec/openmpi/orted" "$@" ;;
esac
# A user without a name and without HOME, as in some containers, breaks PMIx (4.2.2: a segmentation
# fault).
if [ -z "${HOME:-}" ] && ! id -un >/dev/null 2>&1; then export HOME=/; fi
# Without any of them Open MPI refuses to start even what stays on this host.
if ! command -v ssh >/dev/null && ! command -v rsh >/dev/null; then
  export OMPI_MCA_plm="${OMPI_MCA_plm:-^rsh}"
fi
# ... and without a folder for its files it fails in many words.
files=${OMPI_MCA_orte_tmpdir_base:-${TMPDIR:-${TEMP:-${TMP:-/tmp}}}}
if ! [ -w "$files" ] || ! [ -x "$files" ]; then
  printf '%s %s, and this user may not write there; set TMPDIR to another folder\n' \
    'mpirun keeps files of its own in' "$files" >&2
  exit 5
fi
free=$(df -Pk "$files" 2>/dev/null | awk 'NR == 2 { print $4 }')
if [ "${free:-8192}" -lt 8192 ]; then
  printf '%s %s, where %s KiB are free, and needs 8192; free some, or set TMPDIR %s\n' \
    'mpirun keeps files of its own in' "$files" "$free" 'to another folder' >&2
  exit 5
fi
# With the prefix, orted is started by its path on other hosts.
exec "$root/libexec/openmpi/orterun" --prefix "$root" "$@"
