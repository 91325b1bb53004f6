# ReFrame: reframe -c reframe_ranklab.py -r --system=SITE -S num_tasks=4
#
# A performance test of `ranklab train` and `ranklab io`. The patterns are those of docs/output_formats.md;
# tests/apps/integration_test.py applies them to real output. In place of reference values, each run is compared with the
# history in results_file, which is to be an absolute path: exit code 4 fails the test (docs/watch.md).
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_after, run_before, sanity_function, variable


class RanklabBase(rfm.RunOnlyRegressionTest):
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'ranklab'
    num_tasks = 2
    results_file = variable(str, value='ranklab.h5')
    threshold = variable(str, value='5%')

    @run_before('run')
    def compare_with_the_history(self):
        self.postrun_cmds = [f'ranklab report {self.results_file} --label reframe --history --fail-on-regression {self.threshold}']

    @sanity_function
    def is_valid_and_stored(self):
        return sn.all([
            sn.assert_eq(self.job.exitcode, 0),
            sn.assert_found(r'^  verified +yes\b', self.stdout),
            sn.assert_found(r'^  stored +(\S+) in (.+)$', self.stdout),
        ])


@rfm.simple_test
class RanklabTrain(RanklabBase):
    model = parameter(['mnist-cnn'])
    sync = parameter(['bucketed', 'flat'])

    @run_after('init')
    def set_options(self):
        self.executable_opts = ['train', f'--model {self.model}', '--data synthetic', f'--sync {self.sync}',
                                '--steps 200', f'--output {self.results_file}', '--label reframe', '--verbose']

    @performance_function('samples/s')
    def throughput(self):
        return sn.extractsingle(r'^Total img/sec on \d+ rank\(s\): ([0-9.]+) \+- ', self.stdout, 1, float)

    @performance_function('samples/s')
    def throughput_per_rank(self):
        return sn.extractsingle(r'^Img/sec per rank: ([0-9.]+) \+- ', self.stdout, 1, float)


@rfm.simple_test
class RanklabIo(RanklabBase):
    strategy = parameter(['binary', 'hdf5-parallel-collective'])

    @run_after('init')
    def set_options(self):
        self.executable_opts = ['io', f'--strategy {self.strategy}', '-n 16', '-s 300', '-i 7',
                                f'--output {self.results_file}', '--label reframe', '--verbose']

    @performance_function('MiB/s')
    def write_bandwidth(self):
        return sn.extractsingle(r'^  write +([0-9.]+) MiB/s', self.stdout, 1, float)
