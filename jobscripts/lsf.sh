#!/usr/bin/env bash
# One run of ranklab train, io or comm under LSF with jsrun, one rank per GPU (untested on LSF).
#   bsub -P PROJECT -nnodes 3 jobscripts/lsf.sh configs/unet3d/bs576_opt_sm.ini --data-dir data
#   bsub -P PROJECT -nnodes 12 jobscripts/lsf.sh configs/unet3d/bs2304_opt_sm.ini --data-dir data
# The first word is a config (in a folder io/ for ranklab io, else for ranklab train) or a command of ranklab; the
# words after it are options of that command. The defaults of RANKS_PER_NODE (6) and CORES_PER_RANK (7) fit Summit.
# RANKLAB_BIN is the folder of the programs (default: build/release/bin, then PATH).
#BSUB -J ranklab
#BSUB -nnodes 1
#BSUB -W 2:00
#BSUB -alloc_flags "gpumps smt4"
#BSUB -o ranklab.%J.out
set -euo pipefail
site=${RANKLAB_SITE:-$PWD/jobscripts/site.conf} # modules, RANKLAB_BIN
# shellcheck disable=SC1090
[[ ! -e $site ]] || . "$site"

PATH=${RANKLAB_BIN:-$PWD/build/release/bin}:$PATH
type -P ranklab >/dev/null || { echo "There is no ranklab in PATH: set RANKLAB_BIN, or run ./bootstrap build here." >&2; exit 5; }

case ${1:?the first word is a config or a command} in
  */io/*.ini) set -- io --config "$@" ;;
  *.ini) set -- train --config "$@" ;;
esac

# LSB_MCPU_HOSTS is "launch 1 node1 42 node2 42 ...".
read -ra hosts <<<"${LSB_MCPU_HOSTS:?start this with bsub}"
per_node=${RANKS_PER_NODE:-6}
ranks=$(((${#hosts[@]} / 2 - 1) * per_node))
export OMP_NUM_THREADS=${CORES_PER_RANK:-7} NCCL_NET_GDR_LEVEL=PHB
step=(jsrun "-n$ranks" -a1 "-c$OMP_NUM_THREADS" -g1 "-r$per_node" "--bind=packed:$OMP_NUM_THREADS" --launch_distribution=packed)
"${step[@]}" ranklab doctor # a wrong launch ends the job here
"${step[@]}" ranklab "$@"
