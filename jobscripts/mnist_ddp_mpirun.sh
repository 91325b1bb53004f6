#!/usr/bin/env bash
# The twin of mnist_ddp.slurm for a machine without Slurm: Open MPI's mpirun on this host.
#   jobscripts/mnist_ddp_mpirun.sh              2 ranks, the cores shared out between them
#   jobscripts/mnist_ddp_mpirun.sh 4 --epochs 1 4 ranks; words after the number go to ranklab train
#   THREADS=1 jobscripts/mnist_ddp_mpirun.sh 4  one thread a rank
set -euo pipefail

repo=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
bin=${RANKLAB_BIN:-$repo/build/release/bin}
[[ -n ${RANKLAB_BIN:-} || -x $bin/ranklab ]] || ! found=$(type -P ranklab) || bin=$(cd -- "${found%/*}" && pwd)
[[ -x $bin/ranklab ]] || { echo "There is no ranklab in $bin: run ./bootstrap build first, put ranklab into PATH, or set RANKLAB_BIN." >&2; exit 5; }

ranks=${1:-2}
[[ $ranks =~ ^[1-9][0-9]*$ ]] || { echo "The first word is the number of ranks, not \"$ranks\"." >&2; exit 2; }
config=configs/mnist/ddp2.ini label=mnist-ddp-$ranks
((ranks > 1)) || config=configs/mnist/serial.ini label=mnist-serial # DDP needs at least two ranks

# Open MPI counts cores, not hardware threads. PE=N gives N cores to each rank; without it
# two ranks would be bound to one core each, whatever the number of threads.
cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
threads=${THREADS:-$((cores / ranks > 0 ? cores / ranks : 1))}
if ((ranks * threads <= cores)); then
  placement=(--map-by "slot:PE=$threads" --bind-to core)
else
  echo "$ranks ranks x $threads threads do not fit on $cores cores: they share them, and times will vary." >&2
  placement=(--oversubscribe --bind-to none)
fi
if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMP_NUM_THREADS=$threads
launch=(mpirun -n "$ranks" "${placement[@]}" -x OMP_NUM_THREADS)

echo "Running on host $(hostname), $(date -u +%FT%TZ): $ranks ranks, $threads threads each, $cores cores"

cd "$repo"
mkdir -p results
# The launch guard: says what is wrong with ranks, binding or libraries before time is spent.
"${launch[@]}" "$bin/ranklab" doctor
exec "${launch[@]}" "$bin/ranklab" train --config "$config" --threads "$threads" --label "$label" "${@:2}"
