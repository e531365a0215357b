"""Run a karat command on SLURM jobs: python karat_slurm.py sweep gold.json --suite quick_test."""

import subprocess
import sys

from dask_jobqueue import SLURMCluster

if __name__ == "__main__":
    with SLURMCluster(
        queue="standard",  # sbatch -p
        account="project",  # sbatch -A
        cores=4,
        processes=4,  # Dask workers of a job; each has cores / processes slots
        memory="16GB",
        walltime="02:00:00",
        interface="ib0",  # network between the nodes, as `ip link` names it
        local_directory="$TMPDIR",
        log_directory="logs",
        job_extra_directives=["--exclusive"],  # only for --timed-on
        job_script_prologue=["export KARAT_CACHE_REMOTE=file:///scratch/project/karat"],
        worker_extra_args=["--lifetime", "110m", "--lifetime-stagger", "5m"],
    ) as cluster:
        # It submits a job again that was cancelled or ended; scale(jobs=4) does not.
        cluster.adapt(minimum_jobs=4, maximum_jobs=4)
        url = cluster.scheduler_address.replace("tcp://", "dask://")
        command = ["karat", *sys.argv[1:], "--executor", url]
        sys.exit(subprocess.call(command))  # noqa: S603 - the user's own command
