#!/usr/bin/env bash
# @title@
@usage@
@edit@
%slurm #SBATCH --job-name=@job@
%slurm #SBATCH --nodes=@nodes@
%slurm #SBATCH --ntasks=@ranks@
%slurm #SBATCH --cpus-per-task=@threads@
%slurm #SBATCH --time=@time@
%slurm #SBATCH --signal=B:USR1@120
%slurm #SBATCH --output=slurm-%j.out --open-mode=append
%slurm+keeps #SBATCH --requeue
%slurm+mem #SBATCH --mem-per-cpu=@mem@
%slurm+gpu #SBATCH --gpus-per-task=1
%slurm+gpu-if-any ##SBATCH --gpus-per-task=1
%slurm ##SBATCH --partition=compute
%slurm ##SBATCH --account=myproject
%slurm ##SBATCH --exclusive
%lsf #BSUB -J @job@
%lsf #BSUB -nnodes @nodes@
%lsf #BSUB -W @time@
%lsf #BSUB -alloc_flags "gpumps smt4"
%lsf #BSUB -o @job@.%J.out
# jobscripts/make/generate.py makes this file of make/template.sh: change that one to change all scripts.
set -euo pipefail

# Edit: the modules that ranklab was built with, as in
# module purge && module load gcc openmpi hdf5

%slurm : "${SLURM_SUBMIT_DIR:?start this with sbatch}"
%lsf : "${LS_SUBCWD:?start this with bsub}"
# The job works in the folder that it is called from: nothing is written beside the programs.
%queued # @system@ runs a copy of this file, so that folder, or RANKLAB_ROOT, says which checkout or archive it is of.
%queued top=${RANKLAB_ROOT:-$PWD}
%mpirun top=${RANKLAB_ROOT:-$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)}
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
%queued [[ -x $bin/ranklab ]] || { echo "There is no ranklab in ${bin:-$top}: call @submit@ from the top folder of the checkout, run ./bootstrap build there first, let RANKLAB_ROOT name the checkout or the archive, put ranklab into PATH, or set RANKLAB_BIN." >&2; exit 5; }
%mpirun [[ -x $bin/ranklab ]] || { echo "There is no ranklab in ${bin:-$top}: run ./bootstrap build first, put ranklab into PATH, or set RANKLAB_BIN." >&2; exit 5; }
%configs # The caller's own file of that name, else ranklab's: config_of NAME
%configs configs=$(first configs "$top" "$top/share/ranklab" "$bin/../share/ranklab" "${bin%/build/*/bin}")
%configs config_of() { if [[ -e $1 || ! -e $configs/$1 ]]; then printf '%s\n' "$1"; else printf '%s\n' "$configs/$1"; fi; }

%slurm ranks=$SLURM_NTASKS
%slurm threads=${SLURM_CPUS_PER_TASK:-1} # a core that Slurm gave to each task is a thread
%slurm tag=$SLURM_JOB_ID
%lsf # The hosts of the job without the launch node: LSB_MCPU_HOSTS is "launch 1 node1 42 node2 42 ...".
%lsf read -ra hosts <<<"${LSB_MCPU_HOSTS:?not in an LSF job}"
%lsf per_node=${RANKS_PER_NODE:-6}
%lsf nodes=$(((${#hosts[@]} - 2) / 2))
%lsf ranks=$((nodes * per_node))
%lsf threads=${CORES_PER_RANK:-7}
%lsf tag=$LSB_JOBID
%mpirun mpirun=${RANKLAB_MPIRUN:-mpirun} # of the MPI that ranklab was built with: an archive has its own
%mpirun [[ -n ${RANKLAB_MPIRUN:-} || ! -x $bin/mpirun ]] || mpirun=$bin/mpirun
%mpirun # mpirun counts cores, not hardware threads.
%mpirun cores=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
%mpirun+ranked ranks=${1:-@ranks@}
%mpirun+ranked [[ $ranks =~ ^[1-9][0-9]*$ ]] || { echo "The first word is the number of ranks, not \"$ranks\"." >&2; exit 2; }
%mpirun+ranked (($# == 0)) || shift
%mpirun+single ranks=1
%mpirun threads=${THREADS:-$((cores / ranks > 0 ? cores / ranks : 1))}
%mpirun tag=$ranks
%mpirun if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

@stop@
# ranklab WORDS on RANKS ranks with THREADS threads each, which have a core of their own: launch RANKS THREADS WORDS...
launch() {
  local ranks=$1 threads=$2
  shift 2
  export OMP_NUM_THREADS=$threads
%slurm   # --exact: the steps come one after another, each with the cores it names. block:block: neighbours sit side by side.
%slurm   local words=("--mpi=${RANKLAB_SRUN_MPI:-pmix}" "--ntasks=$ranks" "--cpus-per-task=$threads" --exact --cpu-bind=cores
%slurm     --distribution=block:block --kill-on-bad-exit=1)
%slurm+gpus   # Each rank has its GPUs, sees all of its node and takes its own, so that NCCL reaches its neighbours'. Fewer ranks leave
%slurm+gpus   # GPUs idle; making data needs none.
%slurm+gpus   if [[ -n ${SLURM_GPUS_PER_TASK:-} && $1 != data ]]; then
%slurm+gpus     words+=("--gpus-per-task=$SLURM_GPUS_PER_TASK" "--gpu-bind=${RANKLAB_GPU_BIND:-none}")
%slurm+gpus   fi
%slurm   run srun "${words[@]}" "$bin/ranklab" "$@"
%lsf   run jsrun "-n$ranks" -a1 "-c$threads" -g1 "-r$per_node" "--bind=packed:$threads" --launch_distribution=packed "$bin/ranklab" "$@"
%mpirun   # PE=N gives N cores to each rank; without it two ranks would be bound to one core each, whatever the threads.
%mpirun   local placement=(-x OMP_NUM_THREADS --map-by "slot:PE=$threads" --bind-to core) shared=(-x OMP_NUM_THREADS --oversubscribe --bind-to none)
%mpirun   if [[ $("$mpirun" --version 2>&1) =~ HYDRA|Intel ]]; then # of MPICH or Intel MPI
%mpirun     placement=(-bind-to "core:$threads") shared=(-bind-to none)
%mpirun   fi
%mpirun   if ((ranks * threads > cores)); then
%mpirun     echo "$ranks ranks x $threads threads do not fit on $cores cores: they share them, and times will vary." >&2
%mpirun     placement=("${shared[@]}")
%mpirun   fi
%mpirun   run "$mpirun" -n "$ranks" "${placement[@]}" "$bin/ranklab" "$@"
}

%keeps keep=() # what else the training is given
%slurm+keeps # RANKLAB_REQUEUE=1: a job whose time is up goes back into the queue, and on from its checkpoint.
%slurm+keeps if [[ -n ${RANKLAB_REQUEUE:-} ]]; then
%slurm+keeps   keep=(--checkpoint "checkpoints/$SLURM_JOB_ID" --resume)
%slurm+keeps   # shellcheck disable=SC2154 # the trap's own
%slurm+keeps   trap 'code=$?; if ((code == 6 || code == 138)); then scontrol requeue "$SLURM_JOB_ID"; fi; exit "$code"' EXIT
%slurm+keeps fi
%slurm echo "Job $SLURM_JOB_ID on ${SLURM_JOB_NODELIST:-?}: $ranks ranks, $threads threads each"
%mpirun echo "$ranks ranks, $threads threads each, $cores cores"
echo "Running on host $(hostname), $(date -u +%FT%TZ)"
%slurm printenv | grep '^SLURM_' | sort

mkdir -p results || { echo "Nothing can be written into $PWD: call this from a folder of your own." >&2; exit 5; }
# The launch guard: says what is wrong with ranks, binding or libraries before time is spent.
launch "$ranks" "$threads" doctor
@body@
%slurm echo "Memory and CPU time as Slurm saw them: sacct -j $SLURM_JOB_ID -o JobID,AllocCPUS,MaxRSS,Elapsed,TotalCPU --units=G"
