#!/usr/bin/env bash
# One run of ranklab train, io or comm on this host, by mpirun.
#   jobscripts/mpirun.sh 2 configs/mnist/ddp2.ini --epochs 1
#   OMP_NUM_THREADS=1 jobscripts/mpirun.sh 4 comm --op all
# The first word is the number of ranks, the second a config (in a folder io/ for ranklab io, else for ranklab train)
# or a command of ranklab; the words after it are options of that command. OMP_NUM_THREADS is the number of cores per
# rank (default: the cores of the host divided by the ranks).
# RANKLAB_BIN is the folder of the programs (default: build/release/bin, then PATH). RANKLAB_MPIRUN is the launcher of
# ranklab's MPI (default: mpirun; mpiexec.mpich for MPICH).
set -euo pipefail
site=${RANKLAB_SITE:-$PWD/jobscripts/site.conf} # modules, RANKLAB_BIN
# shellcheck disable=SC1090
[[ ! -e $site ]] || . "$site"

PATH=${RANKLAB_BIN:-$PWD/build/release/bin}:$PATH
type -P ranklab >/dev/null || { echo "There is no ranklab in PATH: set RANKLAB_BIN, or run ./bootstrap build here." >&2; exit 5; }
mpirun=${RANKLAB_MPIRUN:-mpirun}

ranks=${1:?the first word is the number of ranks}
shift
case ${1:?the second word is a config or a command} in
  */io/*.ini) set -- io --config "$@" ;;
  *.ini) set -- train --config "$@" ;;
esac

cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l) # not hardware threads
share=$((cores / ranks))
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((share > 0 ? share : 1))}
# Without PE=N Open MPI binds each of two ranks to one core for any number of threads.
words=(-n "$ranks" --map-by "slot:PE=$OMP_NUM_THREADS" --bind-to core)
if [[ $("$mpirun" --version 2>&1) =~ HYDRA|Intel ]]; then
  words=(-n "$ranks" -bind-to "core:$OMP_NUM_THREADS")
fi
"$mpirun" "${words[@]}" ranklab doctor # a wrong launch ends here
exec "$mpirun" "${words[@]}" ranklab "$@"
