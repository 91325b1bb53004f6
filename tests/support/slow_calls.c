// To be preloaded: each allreduce of 4 KiB or more takes 2 ms longer, as on a network of high latency.
#include <mpi.h>
#include <time.h>

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    const struct timespec pause = {0, 2000000};
    if (bytes * (long)count >= 4096) nanosleep(&pause, NULL);
    return code;
}
