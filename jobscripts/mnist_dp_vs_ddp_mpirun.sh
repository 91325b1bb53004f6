#!/usr/bin/env bash
# The twin of mnist_dp_vs_ddp.slurm for a machine without Slurm: DataParallel, then DistributedDataParallel, on the
# same cores with the same global batch.
#   jobscripts/mnist_dp_vs_ddp_mpirun.sh                2 replicas, then 2 ranks, the cores shared out between them
#   jobscripts/mnist_dp_vs_ddp_mpirun.sh 4 --steps 500  4 of each; words after the number go to both runs
#   THREADS=1 jobscripts/mnist_dp_vs_ddp_mpirun.sh 4    one thread a replica or rank
set -euo pipefail

repo=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
bin=${RANKLAB_BIN:-$repo/build/release/bin}
[[ -n ${RANKLAB_BIN:-} || -x $bin/ranklab ]] || ! found=$(type -P ranklab) || bin=$(cd -- "${found%/*}" && pwd)
[[ -x $bin/ranklab ]] || { echo "There is no ranklab in $bin: run ./bootstrap build first, put ranklab into PATH, or set RANKLAB_BIN." >&2; exit 5; }

replicas=${1:-2}
[[ $replicas =~ ^[1-9][0-9]*$ ]] || { echo "The first word is the number of replicas, not \"$replicas\"." >&2; exit 2; }
cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
threads=${THREADS:-$((cores / replicas > 0 ? cores / replicas : 1))}
all=$((replicas * threads))
batch=$((32 * replicas)) # of all: 64 at two, as published
if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
echo "Running on host $(hostname), $(date -u +%FT%TZ): $replicas replicas, then ranks, $threads threads each, $cores cores"

cd "$repo"
mkdir -p results
# One process, no launcher: mpirun -n 1 would bind it to one core.
OMP_NUM_THREADS=$all "$bin/ranklab" train --config configs/mnist/dp2.ini --replicas "$replicas" \
  --global-batch-size "$batch" --threads "$all" --label "mnist-dp-$replicas" "${@:2}"
THREADS=$threads exec "$repo/jobscripts/mnist_ddp_mpirun.sh" "$replicas" --mode ddp --global-batch-size "$batch" "${@:2}"
