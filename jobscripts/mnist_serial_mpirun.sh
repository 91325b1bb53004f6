#!/usr/bin/env bash
# Trains the MNIST CNN on one process: the base of the speedups.
# On this host, by mpirun (RANKLAB_MPIRUN names another one, of the MPI that ranklab was built with):
#   jobscripts/mnist_serial_mpirun.sh
#   THREADS=1 jobscripts/mnist_serial_mpirun.sh    one thread a rank; without it the cores are shared out
# Words at the end go to ranklab.
# Edit: the modules.
# jobscripts/make/generate.py makes this file of make/template.sh: change that one to change all scripts.
set -euo pipefail

# Edit: the modules that ranklab was built with, as in
# module purge && module load gcc openmpi hdf5

# The job works in the folder that it is called from: nothing is written beside the programs.
top=${RANKLAB_ROOT:-$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)}
top=${top%/share/ranklab} # where an archive or an installation keeps configs/ and jobscripts/

# The first of the folders that has it: first WHAT FOLDER...
first() {
  local what=$1 folder
  shift
  for folder in "$@"; do
    [[ ! -e $folder/$what ]] || { printf '%s\n' "$folder" && break; }
  done
}
found=$(type -P ranklab || true)
bin=${RANKLAB_BIN:-$(first ranklab "$top/build/release/bin" "$top/bin" ${found:+"${found%/*}"})}
[[ -x $bin/ranklab ]] || { echo "There is no ranklab in ${bin:-$top}: run ./bootstrap build first, put ranklab into PATH, or set RANKLAB_BIN." >&2; exit 5; }
# The caller's own file of that name, else ranklab's: config_of NAME
configs=$(first configs "$top" "$top/share/ranklab" "$bin/../share/ranklab" "${bin%/build/*/bin}")
config_of() { if [[ -e $1 || ! -e $configs/$1 ]]; then printf '%s\n' "$1"; else printf '%s\n' "$configs/$1"; fi; }

mpirun=${RANKLAB_MPIRUN:-mpirun} # of the MPI that ranklab was built with: an archive has its own
[[ -n ${RANKLAB_MPIRUN:-} || ! -x $bin/mpirun ]] || mpirun=$bin/mpirun
# mpirun counts cores, not hardware threads.
cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
ranks=1
threads=${THREADS:-$((cores / ranks > 0 ? cores / ranks : 1))}
tag=$ranks
if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# Whoever stops this script wants the ranks to store what they have measured, and the script to say how they
# ended. srun and mpirun pass SIGUSR1 on to the ranks; SIGTERM would have mpirun kill them a second later.
# Who asks a second time does not want to wait.
# shellcheck disable=SC2317 # the traps call it
stop() {
  local signal=USR1
  if ((stopped != 0)) && [[ $1 != USR1 ]]; then signal=TERM; fi
  stopped=$((128 + $(kill -l "$1"))) asked=$((asked + 1))
  [[ -z $child ]] || kill "-$signal" "$child" 2>/dev/null || true
}
child='' stopped=0 asked=0
trap 'stop INT' INT
trap 'stop TERM' TERM
trap 'stop USR1' USR1

# Runs a launcher to its end, and returns its exit code: where it was stopped, 128 + the signal.
run() {
  local code before=-1
  ((stopped == 0)) || return "$stopped"
  "$@" &
  child=$!
  ((stopped == 0)) || kill -USR1 "$child" 2>/dev/null || true # it came before there was anybody to tell
  while ((before != asked)); do # a signal ends the waiting, not the launcher
    before=$asked code=0
    wait "$child" || code=$?
  done
  child=''
  # Hydra, which has passed a signal on, may say 0 of ranks that end with another code.
  if ((code == 0 && stopped != 0)) && [[ $("$1" --version 2>&1) =~ HYDRA|Intel ]]; then code=$stopped; fi
  ((code == 0 || stopped == 0)) || code=$stopped
  return "$code"
}

# ranklab WORDS on RANKS ranks with THREADS threads each, which have a core of their own: launch RANKS THREADS WORDS...
launch() {
  local ranks=$1 threads=$2
  shift 2
  export OMP_NUM_THREADS=$threads
  # PE=N gives N cores to each rank; without it two ranks would be bound to one core each, whatever the threads.
  local placement=(-x OMP_NUM_THREADS --map-by "slot:PE=$threads" --bind-to core) shared=(-x OMP_NUM_THREADS --oversubscribe --bind-to none)
  if [[ $("$mpirun" --version 2>&1) =~ HYDRA|Intel ]]; then # of MPICH or Intel MPI
    placement=(-bind-to "core:$threads") shared=(-bind-to none)
  fi
  if ((ranks * threads > cores)); then
    echo "$ranks ranks x $threads threads do not fit on $cores cores: they share them, and times will vary." >&2
    placement=("${shared[@]}")
  fi
  run "$mpirun" -n "$ranks" "${placement[@]}" "$bin/ranklab" "$@"
}

keep=() # what else the training is given
echo "$ranks ranks, $threads threads each, $cores cores"
echo "Running on host $(hostname), $(date -u +%FT%TZ)"

mkdir -p results || { echo "Nothing can be written into $PWD: call this from a folder of your own." >&2; exit 5; }
# The launch guard: says what is wrong with ranks, binding or libraries before time is spent.
launch "$ranks" "$threads" doctor
launch "$ranks" "$threads" train --config "$(config_of configs/mnist/serial.ini)" --threads "$threads" --label "mnist-serial-$tag" "${keep[@]}" "$@"
