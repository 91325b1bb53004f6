"""The experiments of the five teaching documents, and the network below those of many ranks: what differs between their job scripts.

1 the MNIST lesson on threads, workers and GPUs; 2 running deep learning applications (DataParallel, DistributedDataParallel); 3 ResNets on
CIFAR-100; 4 the file-writing workshop; 5 deep learning at scale (the 3D U-Net).
"""

from dataclasses import dataclass


@dataclass
class Experiment:
    name: str
    document: object   # its number, or those that it serves
    does: str           # for README's table
    title: str
    body: str           # bash; launch RANKS THREADS WORDS... starts ranklab
    usage: str = ""     # lines of the header, behind "sbatch "
    variables: str = ""
    ranks: int = 1
    ranked: bool = False  # any number of ranks: mpirun's form takes it as its first word
    threads: int = 1
    nodes: int = 1
    time: str = "00:15:00"
    mem: str = ""
    gpus: str = ""      # "gpu": one a rank, "gpu-if-any": where the user asks for them
    keeps: bool = False  # one training, which a checkpoint can carry over the time limit
    launchers: tuple = ("slurm", "mpirun")


def training(config, label, more=""):
    return f'launch "$ranks" "$threads" train --config "$(config_of {config})" --threads "$threads"{more} --label "{label}-$tag" "${{keep[@]}}" "$@"'


CIFAR_DATA = """\
if [[ -z ${RANKLAB_DATA:-} ]]; then
  export RANKLAB_DATA=$PWD/data/cifar100
  [[ -e $RANKLAB_DATA/cifar-100-binary ]] || launch 1 1 data make cifar100 --output "$RANKLAB_DATA" --quiet
fi
"""
CIFAR_VARIABLES = """\
MODEL=resnet50|resnet152 and BATCH=64|128|256 choose one of configs/cifar100/, CONFIG= any other.
RANKLAB_DATA names the folder that holds cifar-100-binary/; without one a synthetic set is made in data/cifar100."""


def cifar(mode, title, ranks=1):
    config = f'config=${{CONFIG:-configs/cifar100/${{MODEL:-resnet50}}_{mode}_b${{BATCH:-64}}.ini}}\n'
    return Experiment(
        name=f"cifar100_{mode}", document=3, title=f"ResNet-50 or ResNet-152 on CIFAR-100, {title}", does=f"ResNets on CIFAR-100, {title}",
        usage=f"jobscripts/cifar100_{mode}.slurm\nMODEL=resnet152 BATCH=128 sbatch --gpus-per-task=1 jobscripts/cifar100_{mode}.slurm --device cuda",
        variables=CIFAR_VARIABLES, ranks=ranks, ranked=ranks > 1, threads=16, time="00:30:00", gpus="gpu-if-any", keeps=True,
        body=CIFAR_DATA + config + training('"$config"', '$(basename "$config" .ini)'))


COSMOLOGY = """\
if [[ -z ${DATA:-} ]]; then
  DATA=$PWD/data/cosmology
  mkdir -p "$DATA"
  seed=0
  for part in train valid; do
    seed=$((seed + 1))
    [[ -e $DATA/$part.h5 ]] || launch 1 1 data make cosmology "$DATA/$part.h5" --edge "${EDGE:-256}" --chunk 32 --seed "$seed" --quiet
  done
fi
"""
COSMOLOGY_VARIABLES = """\
DATA names the folder with train.h5 and valid.h5; without one volumes of EDGE (256) cells are made in data/cosmology, chunked for crops."""

LADDER_REPORT = 'echo "The ladder and its scaling: $bin/ranklab report results/ranklab.h5 --plots plots --label {name}-$tag"\n'


def powers_of_two(upto, name):
    """As `name`, a list of 1, 2, 4 ... that ends with `upto`."""
    return f"{name}=\nfor ((count = 1; count < {upto}; count *= 2)); do {name}+=$count,; done\n{name}+=${upto}\n"


EXPERIMENTS = [
    Experiment(
        name="mnist_serial", document=1, title="Trains the MNIST CNN on one process: the base of the speedups", does="one process, the base of the speedups",
        usage="jobscripts/mnist_serial.slurm\nsbatch --cpus-per-task=8 jobscripts/mnist_serial.slurm    one point of a thread-scaling series",
        keeps=True, body=training("configs/mnist/serial.ini", "mnist-serial")),
    Experiment(
        name="mnist_threads", document=1, does="the thread sweep of the MNIST lesson", threads=8, time="01:00:00",
        title="The thread sweep of the MNIST lesson: the same epoch with 1, 2, 4 ... threads, as many as there are cores",
        usage="--cpus-per-task=48 jobscripts/mnist_threads.slurm\nspeedup = time of one thread / time",
        body="""\
for count in 1 2 4 8 16 32 48; do
  ((count <= threads)) || continue
  launch 1 "$count" train --config "$(config_of "configs/mnist/threads_$count.ini")" --label "mnist-threads-$count-$tag" "$@"
done"""),
    Experiment(
        name="mnist_workers", document=1, does="the loader-worker sweep of the MNIST lesson", threads=8, time="00:45:00",
        title="The worker sweep of the MNIST lesson: the same training with 1 and with 8 threads that read the data",
        usage="jobscripts/mnist_workers.slurm\nCompare the data row of the table `phases` of both runs.",
        body="""\
for count in 1 8; do
  launch 1 "$threads" train --config "$(config_of "configs/mnist/workers_$count.ini")" --threads 1 --label "mnist-workers-$count-$tag" "$@"
done"""),
    Experiment(
        name="mnist_gpu", document=1, does="all cores, then a GPU: worth it from ten times on", threads=8, gpus="gpu",
        title="The MNIST CNN on all cores of the task, then on a GPU: the lesson calls a GPU worth it from ten times on",
        usage="jobscripts/mnist_gpu.slurm",
        body="""\
launch 1 "$threads" train --config "$(config_of configs/mnist/cpu.ini)" --threads "$threads" --label "mnist-cpu-or-gpu-$tag" "$@"
launch 1 "$threads" train --config "$(config_of configs/mnist/gpu.ini)" --label "mnist-cpu-or-gpu-$tag" "$@"
echo "How much faster: $bin/ranklab report results/ranklab.h5 --label mnist-cpu-or-gpu-$tag --group-by device\""""),
    Experiment(
        name="mnist_ddp", document=2, does="data parallel over ranks", ranks=2, ranked=True, keeps=True,
        title="Trains the MNIST CNN with data parallelism",
        usage="jobscripts/mnist_ddp.slurm\nsbatch --nodes=2 --ntasks=8 jobscripts/mnist_ddp.slurm --epochs 1    words at the end go to ranklab train",
        body="config=configs/mnist/ddp2.ini label=mnist-ddp\n((ranks > 1)) || config=configs/mnist/serial.ini label=mnist-serial # there is nothing to reduce\n"
             + training('"$config"', "$label")),
    Experiment(
        name="mnist_ddp_gpu", document=2, does="data parallel over GPUs, with NCCL", ranks=2, ranked=True, threads=8, gpus="gpu", keeps=True,
        title="Trains the MNIST CNN with data parallelism, a GPU for each rank, gradients over NCCL",
        usage="jobscripts/mnist_ddp_gpu.slurm\nsbatch --nodes=2 --ntasks=8 jobscripts/mnist_ddp_gpu.slurm",
        body=training("configs/mnist/ddp2.ini", "mnist-ddp-gpu", " --device cuda --backend nccl")),
    Experiment(
        name="mnist_dp_vs_ddp", document=2, does="DataParallel, then DistributedDataParallel, on the same cores", ranks=2, ranked=True, time="00:30:00",
        title="DataParallel against DistributedDataParallel in one allocation: the same cores, the same global batch",
        usage="jobscripts/mnist_dp_vs_ddp.slurm\nsbatch --ntasks=4 --cpus-per-task=8 jobscripts/mnist_dp_vs_ddp.slurm --steps 500    words at the end go to both runs",
        variables="One node: dp's replicas are threads of one process.",
        body="""\
all=$((ranks * threads))
batch=$((32 * ranks)) # of all: 64 at two, as published
launch 1 "$all" train --config "$(config_of configs/mnist/dp2.ini)" --replicas "$ranks" --global-batch-size "$batch" --threads "$all" \\
  --label "mnist-dp-$tag" "$@"
launch "$ranks" "$threads" train --config "$(config_of configs/mnist/ddp2.ini)" --global-batch-size "$batch" --threads "$threads" \\
  --label "mnist-ddp-$tag" "$@\""""),
    Experiment(
        name="comm", document="2, 3, 5", does="what the network gives: every operation, then a model's gradients", ranks=2, ranked=True, time="00:30:00",
        title="What the network between the ranks gives: every operation over message sizes, then the gradients of a model as a step sends them",
        usage="--nodes=2 jobscripts/comm.slurm\n"
              "sbatch --nodes=2 --ntasks=64 jobscripts/comm.slurm --op allreduce -e 256M    words at the end go to the first of both",
        variables="MODEL (resnet50) names the model: ranklab comm --list shows them.",
        body="""\
launch "$ranks" "$threads" comm --op all --label "comm-$tag" "$@"
launch "$ranks" "$threads" comm --from-model "${MODEL:-resnet50}" --label "comm-model-$tag\""""),
    Experiment(
        name="comm_gpu", document="2, 3, 5", does="the same between GPUs, with NCCL", ranks=2, ranked=True, time="00:30:00", gpus="gpu",
        title="What NCCL gives between the ranks' GPUs: every operation over message sizes, then the gradients of a model as a step sends them",
        usage="--nodes=2 jobscripts/comm_gpu.slurm\n"
              "sbatch --nodes=2 --ntasks=8 jobscripts/comm_gpu.slurm --op allreduce -e 1G    words at the end go to the first of both",
        variables="MODEL (resnet50) names the model: ranklab comm --list shows them.",
        body="""\
launch "$ranks" "$threads" comm --backend nccl --op all --label "comm-gpu-$tag" "$@"
launch "$ranks" "$threads" comm --backend nccl --from-model "${MODEL:-resnet50}" --label "comm-gpu-model-$tag\""""),
    cifar("single", "one process"),
    cifar("dp", "two replicas in one process"),
    cifar("ddp", "data parallel over ranks", ranks=2),
    Experiment(
        name="io_multicore", document=4, does="the file-writing ladder on one node, the process rungs over 1, 2, 4 ... workers", threads=8, time="01:00:00",
        mem="2GB",
        title="The file-writing ladder on one node: the rungs of one process, then the process rungs over 1, 2, 4 ... workers",
        usage="jobscripts/io_multicore.slurm\nsbatch --cpus-per-task=16 jobscripts/io_multicore.slurm --files 100    words at the end go to ranklab io, in place of --files 1000",
        variables="RANKLAB_IO_DIR names where to write: a file system to be measured (without it: output/ of the checkout).",
        body=powers_of_two("threads", "workers") + """\
(($#)) || set -- --files 1000 # the workshop's; other words take its place
launch 1 "$threads" io --strategy text-loop,text-vectorized,binary,process-pool,process-queue,hdf5-serial --sweep-workers "$workers" \\
  --repetitions 7 --directory "${RANKLAB_IO_DIR:-$PWD/output}/$tag" --label "io-multicore-$tag" "$@"
""" + LADDER_REPORT.format(name="io-multicore")),
    Experiment(
        name="io_mpi", document=4, does="its MPI and parallel HDF5 rungs over 1, 2, 4 ... ranks", ranks=16, ranked=True, time="01:00:00", mem="3GB",
        title="The rungs of many ranks, over 1, 2, 4 ... ranks of one allocation, with hdf5-serial beside them",
        usage="jobscripts/io_mpi.slurm\nsbatch --nodes=2 --ntasks=64 jobscripts/io_mpi.slurm --files 1000 --size 1000    words at the end go to ranklab io, in place of --files 1000",
        variables="RANKLAB_IO_DIR names where to write: a file system that all nodes share (without it: output/ of the checkout).",
        body=powers_of_two("ranks", "sweep") + """\
(($#)) || set -- --files 1000 # the workshop's; other words take its place
launch "$ranks" "$threads" io --strategy mpi-send,mpi-scatter,hdf5-serial,hdf5-parallel-independent,hdf5-parallel-collective --ranks "$sweep" \\
  --repetitions 7 --directory "${RANKLAB_IO_DIR:-$PWD/output}/$tag" --label "io-mpi-$tag" "$@"
""" + LADDER_REPORT.format(name="io-mpi")),
    Experiment(
        name="unet3d", document=5, does="the 3D U-Net", ranked=True, threads=8, time="02:00:00", gpus="gpu-if-any", keeps=True,
        title="The 3D U-Net of the SC22 tutorial, one rank a GPU",
        usage="--gpus-per-task=1 jobscripts/unet3d.slurm    base_sm on one rank\n"
              "CONFIG=configs/unet3d/bs576_opt_sm.ini sbatch --nodes=3 --ntasks=18 --gpus-per-task=1 jobscripts/unet3d.slurm",
        variables="CONFIG= names another of configs/unet3d/.\n" + COSMOLOGY_VARIABLES,
        body=COSMOLOGY + "config=${CONFIG:-configs/unet3d/base_sm.ini}\n"
             + training('"$config"', '$(basename "$config" .ini)', ' --data-dir "$DATA"')),
    Experiment(
        name="unet3d_limits", document=5, does="what limits the U-Net: its data, its computing or its communication", ranked=True, threads=8, time="01:00:00",
        gpus="gpu-if-any", title="What limits the 3D U-Net: the data alone, computing with data that is there, all together",
        usage="--gpus-per-task=1 jobscripts/unet3d_limits.slurm\nsbatch --ntasks=4 jobscripts/unet3d_limits.slurm --steps 10",
        variables="CONFIG= names another of configs/unet3d/.\n" + COSMOLOGY_VARIABLES,
        body=COSMOLOGY + """\
config=${CONFIG:-configs/unet3d/short_sm.ini}
launch "$ranks" "$threads" train --config "$(config_of "$config")" --data-dir "$DATA" --threads "$threads" --ablation --steps 50 \\
  --label "$(basename "$config" .ini)-limits-$tag" "$@\""""),
    Experiment(
        name="unet3d_scaling", document=5, does="weak and strong scaling of the U-Net over 1, 2, 4 ... ranks", ranks=4, ranked=True, threads=8, time="02:00:00",
        gpus="gpu-if-any", title="Weak, then strong scaling of the 3D U-Net over 1, 2, 4 ... ranks of one allocation",
        usage="--gpus-per-task=1 jobscripts/unet3d_scaling.slurm\nsbatch --nodes=2 --ntasks=8 jobscripts/unet3d_scaling.slurm --steps 20",
        variables="BATCH (32) is the batch of a rank in weak scaling, of all ranks together in strong scaling.\n" + COSMOLOGY_VARIABLES,
        body=COSMOLOGY + "batch=${BATCH:-32}\n" + powers_of_two("ranks", "sweep") + """\
for kind in weak strong; do
  for count in ${sweep//,/ }; do
    all=$batch
    [[ $kind == strong ]] || all=$((batch * count))
    launch "$count" "$threads" train --config "$(config_of configs/unet3d/short_sm.ini)" --data-dir "$DATA" --threads "$threads" --evaluate off \\
      --global-batch-size "$all" --steps 50 --label "unet3d-$kind-$tag" "$@"
  done
done
echo "Speedup and efficiency: $bin/ranklab report results/ranklab.h5 --label unet3d-weak-$tag --group-by ranks\""""),
    Experiment(
        name="unet3d_summit", document=5, does="the U-Net under LSF with jsrun, as the tutorial ran it (not tried: no LSF here)", launchers=("lsf",), nodes=3,
        time="2:00", title="The 3D U-Net under LSF with jsrun, as the tutorial ran it on Summit: 6 ranks a node, 7 cores and a GPU each",
        usage="bsub -P PROJECT -nnodes 3 jobscripts/unet3d.lsf                         18 ranks: bs576_opt_sm\n"
              "CONFIG=configs/unet3d/bs2304_opt_sm.ini bsub -P PROJECT -nnodes 12 jobscripts/unet3d.lsf",
        variables="DATA names the folder with train.h5 and valid.h5 (ranklab data make cosmology).",
        body=""": "${DATA:?DATA must name the folder that holds train.h5 and valid.h5}"
config=${CONFIG:-configs/unet3d/bs576_opt_sm.ini}
NCCL_NET_GDR_LEVEL=PHB launch "$ranks" "$threads" train --config "$(config_of "$config")" --data-dir "$DATA" --threads "$threads" --label "unet3d-$tag" "$@\""""),
]
