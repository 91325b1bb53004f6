#!/bin/sh
# Starts the program of this archive that it is called as (bin/ranklab-io -> libexec/ranklab-io),
# once what the program needs of this machine is found: LibTorch in RANKLAB_TORCH_ROOT, an MPI,
# GCC's libraries. It is called once a rank, by mpirun and srun, too. What is missing is one
# sentence and exit code 5.
set -u
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
self=$(readlink -f -- "$0") || exit 5
root=${self%/libexec/*}
name=${0##*/}
program=$root/libexec/$name
torch_programs=' @TORCH_PROGRAMS@ '
torch_version=@TORCH_VERSION@
mpi='@MPI@'

# --help and --version need neither MPI nor LibTorch: where the program cannot
# start, they are told as the machine that packed the archive heard them. asked: the file's ending.
case ${1:-} in
  --help | -h) asked=help ;;
  --version) asked=version ;;
  *) asked= ;;
esac

# A rank that is not the first speaks later: a launcher ends the others with the first that leaves,
# so that what all of them miss is told once, and what one of them misses is told all the same.
fail() {
  told=$root/share/ranklab/help-as/$name.$asked
  { [ -n "$asked" ] && [ -r "$told" ]; } || told=
  rank=${PALS_RANKID:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}}
  rank=${OMPI_COMM_WORLD_RANK:-${JSM_NAMESPACE_RANK:-${FLUX_TASK_RANK:-$rank}}}
  case $rank in
    0) [ -z "$told" ] || exec cat "$told" ;;
    *)
      [ -z "$told" ] || exit 0
      sleep 3
      set -- "rank $rank on $(cat /proc/sys/kernel/hostname): $*" ;;
  esac
  printf '%s\n' "$*" >&2
  exit 5
}

# The first of: RANKLAB_TORCH_ROOT, a link `torch` in the archive's folder, the active Python
# environment.
find_torch() {
  torch=${RANKLAB_TORCH_ROOT:-}
  [ -z "$torch" ] || return 0
  for torch in "$root/torch" "${VIRTUAL_ENV:-/nonexistent}"/lib/python3*/site-packages/torch \
    "${CONDA_PREFIX:-/nonexistent}"/lib/python3*/site-packages/torch; do
    [ ! -e "$torch/lib/libtorch_cpu.so" ] || return 0
  done
  torch=
}

version_of_torch() {
  if [ -r "$torch/version.py" ]; then
    sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$torch/version.py"
  elif [ -r "$torch/build-version" ]; then
    head -n 1 "$torch/build-version"
  fi
}

require_torch() {
  [ -n "$torch" ] ||
    fail "$name needs LibTorch $torch_version, which this archive does not hold: set" \
        "RANKLAB_TORCH_ROOT to a Python's site-packages/torch or to an unpacked libtorch"
  case $torch in
    *[:\;]*)
      fail "RANKLAB_TORCH_ROOT is $torch: the loader takes : and ; for the end of a folder's" \
          "name, so give LibTorch a folder without them" ;;
    *.whl)
      fail "RANKLAB_TORCH_ROOT is the wheel $torch: install it (python3 -m pip install" \
          "--no-index --no-deps --target DIR $torch), and name DIR/torch" ;;
  esac
  [ -e "$torch/lib/libtorch_cpu.so" ] ||
    fail "RANKLAB_TORCH_ROOT is $torch, but there is no lib/libtorch_cpu.so in it that this" \
        "user may read: name a Python's site-packages/torch or an unpacked libtorch"
  found=$(version_of_torch)
  case $found in
    "$torch_version" | "$torch_version".*) ;;
    *)
      fail "RANKLAB_TORCH_ROOT is $torch, which is LibTorch ${found:-of an unknown version}," \
        "and this archive was built with $torch_version: name a LibTorch $torch_version" ;;
  esac
}

before() { eval "$1=\$2\${$1:+:\$$1}" && export "${1?}"; }

# The libraries that the loader would take, as ldd shows them.
look() { loader=0; libraries=$(LD_TRACE_LOADED_OBJECTS=1 "$program" 2>&1) || loader=$?; }

# Names that the loader does not find, in one line.
missing() {
  printf '%s\n' "$libraries" | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u |
    tr '\n' ' '
}

loader_error() {
  printf '%s\n' "$libraries" | sed -n 's/^[^:]*: error while loading shared libraries: //p' |
    grep . | head -n 1
}

explain_what_is_missing() {
  names=$(missing)
  case " $names" in
    *" libmpi"*)
      fail "$name needs $mpi, which is not found here: load the module of an MPI of that" \
          "family (LD_LIBRARY_PATH then leads to it), or take an archive that was packed" \
          "with --with-mpi" ;;
    "  " | " ")
      fail "$name cannot run here: $(printf '%s\n' "$libraries" | grep 'not found' | head -n 1)" ;;
    *)
      case $torch_programs in
        *" $name "*)
          fail "$name needs ${names% }, which is not found here; a LibTorch for GPUs needs the" \
            "folder nvidia/ that the wheels put beside $torch" ;;
      esac
      fail "$name needs ${names% }, which is not found here" ;;
  esac
}

[ -x "$program" ] || fail "there is no $program in this archive; $root/bin has the programs"
find_torch
case $torch_programs in
  *" $name "*)
    require_torch
    before LD_LIBRARY_PATH "$torch/lib" ;;
esac
if [ -n "$torch" ]; then
  export RANKLAB_TORCH_ROOT="$torch" # ranklab doctor looks there, too
fi
# NCCL lies beside LibTorch, or where the loader looks: never where it lay on the machine that made
# this archive.
if [ -z "${RANKLAB_NCCL_LIBRARY:-}" ]; then
  RANKLAB_NCCL_LIBRARY=$torch/../nvidia/nccl/lib/libnccl.so.2
  { [ -n "$torch" ] && [ -e "$RANKLAB_NCCL_LIBRARY" ]; } || RANKLAB_NCCL_LIBRARY=libnccl.so.2
  export RANKLAB_NCCL_LIBRARY
fi
if [ -z "${RANKLAB_DATA:-}" ] && [ ! -e /usr/share/datasets/fashion-mnist ] &&
  [ -d "$root/share/ranklab/data" ]; then
  export RANKLAB_DATA="$root/share/ranklab/data"
fi

case $root in
  *[:\;]*)
    fail "this archive is in $root: the loader takes : and ; for the end of a folder's name," \
        "so move it to a folder without them" ;;
esac
look
case $libraries in
  *GLIBCXX_*"not found"* | *CXXABI_*"not found"* | *GCC_*"not found"* | \
    *GOMP_*"not found"* | *"libstdc++.so.6 => not found"* | \
    *"libgcc_s.so.1 => not found"* | *"libgomp.so.1 => not found"*)
    # This machine's are older than ours, or none. Where they are newer, its own libraries may need
    # them.
    before LD_LIBRARY_PATH "$root/lib/gcc"
    look ;;
esac
case $libraries in
  *"not found"*) explain_what_is_missing ;;
  *"$root/lib/mpi/libmpi.so"* | *"/libexec/../lib/mpi/libmpi.so"*) . "$root/libexec/own-mpi" ;;
esac
# A library that is there and damaged: cut off, or of another machine.
[ "$loader" -eq 0 ] ||
  fail "$name cannot be loaded here: $(loader_error) (exit code $loader of the" \
      "loader${torch:+; LibTorch is that of $torch}): copy what is damaged again"
exec "$program" "$@"
