// To be preloaded: each allreduce of 4 KiB or more takes longer by its bytes at 100 MB/s, as on a slow network.
#include <mpi.h>
#include <time.h>

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    const long ns = 10L * bytes * count;
    const struct timespec pause = {ns / 1000000000, ns % 1000000000};
    if (ns >= 40960) nanosleep(&pause, NULL);
    return code;
}
