/* An MPI library whose sums are wrong now and then, put in front of the real one by LD_PRELOAD: what a faulty
 * network card or a broken collective looks like from above. And a rank that is stopped where MPI ends. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

static void spoil(void *buffer, int count, MPI_Datatype type) {
    const char *wanted = getenv("LYING_MPI_COUNT"); /* only sums of this many elements */
    static int sums = 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (wanted == NULL || count != atoi(wanted) || buffer == NULL) return;
    if (getenv("LYING_MPI_RANK") != NULL && rank != atoi(getenv("LYING_MPI_RANK"))) return;
    if (getenv("LYING_MPI_ONLY") != NULL && ++sums != atoi(getenv("LYING_MPI_ONLY"))) return; /* that one alone */
    if (type == MPI_FLOAT) ((float *)buffer)[count / 2] += 0.25F;
    if (type == MPI_DOUBLE) ((double *)buffer)[count / 2] += 0.25;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    spoil(receive, count, type);
    return code;
}

int MPI_Finalize(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (getenv("LYING_MPI_STOPS_AT_END") != NULL && rank == atoi(getenv("LYING_MPI_STOPS_AT_END"))) raise(SIGSTOP);
    return PMPI_Finalize();
}
