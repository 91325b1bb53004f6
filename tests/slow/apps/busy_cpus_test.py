"""Others on the ranks' CPUs are named by doctor and by every run, and stored."""

import json
import os
import threading
import time

import ranklab_cli as cli
from ranklab_cli import Case, ranklab


class BusySystem:
    """A /proc/stat that counts so many busy cores, whatever this machine does."""

    def __init__(self, root, cores):
        self.file, self.root, self.cores = root / "proc" / "stat", root, cores
        self.file.parent.mkdir(parents=True)
        self.cpus, self.start, self.end = sorted(os.sched_getaffinity(0)), time.monotonic(), threading.Event()
        self.thread = threading.Thread(target=self.tick)

    def __enter__(self):
        self.write()
        self.thread.start()
        return self.root

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()

    def tick(self):
        while not self.end.wait(0.02):
            self.write()

    def write(self):
        passed = 100 * (time.monotonic() - self.start)
        busy = passed * self.cores / len(self.cpus)
        rows = [f"cpu{cpu} {int(busy)} 0 0 {int(passed)} 0 0 0 0 0 0\n" for cpu in self.cpus]
        part = self.file.with_name("part")
        part.write_text("cpu  0 0 0 0 0 0 0 0 0 0\n" + "".join(rows))
        part.replace(self.file)


class BusyCpus(Case):
    def test_others_on_the_cpus_are_named_by_doctor_and_by_every_run(self):
        with BusySystem(self.folder / "system", cores=4) as root:
            env = cli.environment(RANKLAB_SYSTEM_ROOT=str(root))
            doctor = ranklab("doctor", "--threads", "1", cwd=self.folder, env=env)
            # As long as the limit says, so that the system's hundredths of seconds can be counted.
            ranklab("io", "--strategy", "binary", "-i", "2", "--target-ci", "0.0001%", "--time-limit", "3", "--output", "r.h5", cwd=self.folder, env=env)
        self.assertRegex(doctor.stdout.splitlines()[0], r"warning: .*: other programs or the kernel kept \d\.\d of the ranks' CPUs busy \(what the kernel")
        run = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"][0]
        self.assertTrue(any("other programs or the kernel kept " in text for text in run["warnings"]), run["warnings"])
        self.assertGreater(float(run["context"]["place"]["others_cores"]), 1)


if __name__ == "__main__":
    cli.main()
