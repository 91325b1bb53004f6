# Ramble: put this file into a repository as applications/ranklab/application.py and `ramble repo add` it.
#
# The patterns are those of docs/output_formats.md; tests/apps/integration_test.py applies them to real output.
from ramble.appkit import *


class Ranklab(ExecutableApplication):
    """ranklab: how a cluster computes, communicates and writes, on the same training step"""

    name = "ranklab"

    tags("machine-learning", "io", "mpi", "scaling")

    executable(
        "train",
        "ranklab train --model {model} --data synthetic --sync {sync} --steps {steps}"
        " --output {experiment_run_dir}/ranklab.h5 --label {experiment_name} --verbose",
        use_mpi=True,
    )
    executable(
        "io",
        "ranklab io --strategy {strategy} -n {files} -s {size} -i {repetitions}"
        " --output {experiment_run_dir}/ranklab.h5 --label {experiment_name} --verbose",
        use_mpi=True,
    )

    workload("train", executables=["train"])
    workload("io", executables=["io"])

    workload_variable("model", default="mnist-cnn", description="--model of ranklab train", workloads=["train"])
    workload_variable("sync", default="bucketed", description="--sync of ranklab train", workloads=["train"])
    workload_variable("steps", default="200", description="counted steps", workloads=["train"])
    workload_variable("strategy", default="binary", description="rung of ranklab io", workloads=["io"])
    workload_variable("files", default="16", description="records", workloads=["io"])
    workload_variable("size", default="300", description="edge of a record", workloads=["io"])
    workload_variable("repetitions", default="7", description="7 have an interval", workloads=["io"])

    log_file = "{experiment_run_dir}/{experiment_name}.out"

    figure_of_merit(
        "throughput",
        log_file=log_file,
        fom_regex=r"^Total img/sec on (?P<ranks>\d+) rank\(s\): (?P<throughput>[0-9.]+) \+- ",
        group_name="throughput",
        units="samples/s",
    )
    figure_of_merit(
        "throughput per rank",
        log_file=log_file,
        fom_regex=r"^Img/sec per rank: (?P<per_rank>[0-9.]+) \+- ",
        group_name="per_rank",
        units="samples/s",
    )
    figure_of_merit(
        "write bandwidth",
        log_file=log_file,
        fom_regex=r"^  write +(?P<write>[0-9.]+) MiB/s",
        group_name="write",
        units="MiB/s",
    )

    success_criteria(
        "stored",
        mode="string",
        match=r"^  stored +\S+ in .+",
        file=log_file,
    )
    success_criteria(
        "valid",
        mode="string",
        match=r"^  verified +yes\b",
        file=log_file,
    )
