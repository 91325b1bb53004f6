"""The file-writing strategies in Python as in the I/O workshop, without its mistakes (docs/writing.md): no sleeps, any number of
files at any number of ranks, datasets created by all ranks. io_vs_python.py compares `ranklab io` with it.

  io_python.py --strategy NAME [--files 15] [--size 100] [--workers 1] [--directory output]     (mpi-* and hdf5-parallel-*: under mpirun)

Each strategy imports only its own modules, which keeps its start short.
"""

import argparse
import os

import numpy as np


def generate_data(x, y, n, t):
    return ((x / 10) ** 2 * (y / 10) + (y / 10) ** 2 * (x / 10) + t / n) % 1


def axes(size):
    return np.arange(0 - size / 2, 0 + size / 2, 1), np.arange(500 - size / 2, 500 + size / 2, 1)


def meshgrid(size):
    return np.meshgrid(*axes(size))


def path_of(options, number, ending):
    return os.path.join(options.directory, f"data{number:05d}{ending}")


def text_loop(options):
    x, y = axes(options.size)
    for t in range(options.files):
        data = np.zeros((options.size, options.size))
        for i in range(options.size):
            for j in range(options.size):
                data[i, j] = generate_data(x[i], y[j], options.files, t)
        np.savetxt(path_of(options, t, ".txt"), data)


def text_vectorized(options):
    x, y = meshgrid(options.size)
    for t in range(options.files):
        np.savetxt(path_of(options, t, ".txt"), generate_data(x, y, options.files, t))


def write_binary(options, numbers):
    x, y = meshgrid(options.size)
    for t in numbers:
        np.save(path_of(options, t, ".npy"), generate_data(x, y, options.files, t))


def binary(options):
    write_binary(options, range(options.files))


def pool_task(path, x, y, n, t):
    np.save(path, generate_data(x, y, n, t))


def process_pool(options):
    """Pool.apply as in the original: pickles both meshgrids for each task and waits for it."""
    import multiprocessing
    x, y = meshgrid(options.size)
    with multiprocessing.Pool(options.workers) as pool:
        for t in range(options.files):
            pool.apply(pool_task, (path_of(options, t, ".npy"), x, y, options.files, t))


def queue_worker(tasks, options):
    x, y = meshgrid(options.size)
    while True:
        t = tasks.get()
        if t is not None:
            np.save(path_of(options, t, ".npy"), generate_data(x, y, options.files, t))
        tasks.task_done()
        if t is None:
            return


def process_queue(options):
    """One None per worker ends it; the original waited a second for an empty queue."""
    import multiprocessing
    tasks = multiprocessing.JoinableQueue()
    for t in range(options.files):
        tasks.put(t)
    workers = [multiprocessing.Process(target=queue_worker, args=(tasks, options)) for _ in range(options.workers)]
    for worker in workers:
        tasks.put(None)
        worker.start()
    tasks.join()
    for worker in workers:
        worker.join()
        if worker.exitcode != 0:
            raise SystemExit(f"a worker ended with {worker.exitcode}")


def mpi_send(options):
    """Rank 0 sends before its own work; the original wrote its chunk first, and the last rank waited."""
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    if world.rank == 0:
        chunks = np.array_split(np.arange(options.files, dtype=np.int32), world.size)
        for rank in range(1, world.size):
            world.Send(chunks[rank], dest=rank, tag=77)
        mine = chunks[0]
    else:
        status = MPI.Status()
        world.Probe(source=0, tag=77, status=status)
        mine = np.empty(status.Get_count(MPI.INT32_T), dtype=np.int32)
        world.Recv(mine, source=0, tag=77)
    write_binary(options, mine)
    world.Barrier()


def share(options, world):
    """Scatterv instead of the original's Scatter, which needs a number of files divisible by the ranks."""
    from mpi4py import MPI
    counts = [len(part) for part in np.array_split(np.arange(options.files), world.size)]
    mine = np.empty(counts[world.rank], dtype=np.int32)
    everything = np.arange(options.files, dtype=np.int32) if world.rank == 0 else None
    world.Scatterv([everything, counts, None, MPI.INT32_T] if world.rank == 0 else None, mine, root=0)
    return mine


def mpi_scatter(options):
    from mpi4py import MPI
    write_binary(options, share(options, MPI.COMM_WORLD))
    MPI.COMM_WORLD.Barrier()


def hdf5_serial(options):
    import h5py
    x, y = meshgrid(options.size)
    with h5py.File(os.path.join(options.directory, "data.h5"), "w") as file:
        for t in range(options.files):
            file.create_dataset(f"output/data{t:05d}", data=generate_data(x, y, options.files, t))


def parallel_file(options, world):
    """Creating datasets is collective: all ranks create all. In the original each rank created its own."""
    import h5py
    if not h5py.get_config().mpi:
        raise SystemExit("this h5py is not parallel")
    file = h5py.File(os.path.join(options.directory, "data.h5"), "w", driver="mpio", comm=world)
    group = file.create_group("output")
    return file, [group.create_dataset(f"data{t:05d}", (options.size, options.size), "f8") for t in range(options.files)]


def hdf5_parallel_independent(options):
    from mpi4py import MPI
    x, y = meshgrid(options.size)
    file, datasets = parallel_file(options, MPI.COMM_WORLD)
    for t in share(options, MPI.COMM_WORLD):
        datasets[t][...] = generate_data(x, y, options.files, t)
    file.close()


def hdf5_parallel_collective(options):
    """All ranks take part in every write, each with its rows."""
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    x, y = meshgrid(options.size)
    rows = np.array_split(np.arange(options.size), world.size)[world.rank]
    mine = slice(rows[0], rows[-1] + 1) if len(rows) else slice(0, 0)
    file, datasets = parallel_file(options, world)
    for t, dataset in enumerate(datasets):
        with dataset.collective:
            dataset[mine] = generate_data(x[mine], y[mine], options.files, t)
    file.close()


RUNGS = {rung.__name__.replace("_", "-"): rung for rung in (
    text_loop, text_vectorized, binary, process_pool, process_queue, mpi_send, mpi_scatter, hdf5_serial, hdf5_parallel_independent,
    hdf5_parallel_collective)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategy", choices=RUNGS, required=True)
    parser.add_argument("--files", type=int, default=15)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--directory", default="output")
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    RUNGS[options.strategy](options)


if __name__ == "__main__":
    main()
