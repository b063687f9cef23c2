"""Real engines for the tests: an sshd on loopback, and a Slurm of one node. Debian's packages;
each ends and leaves nothing.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from kit import wait_until

START_LIMIT = 20.0  # seconds for a server to answer

SLURM_CONF = """\
ClusterName=kit
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MaxJobCount={jobs}
MinJobAge=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:{share}
"""


def free_ports(count):
    """Return ports of loopback that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for made in sockets:
            made.bind(("127.0.0.1", 0))
        return [made.getsockname()[1] for made in sockets]


def ran(*words, **options):
    """Return the finished process of a command, its output as text."""
    return subprocess.run(
        words, capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=False, **options
    )


def need(*programs):
    """Return the paths of programs; SkipTest where one is missing, or where this user cannot start servers."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = [shutil.which(program, path=path) for program in programs]
    if None in found:
        raise unittest.SkipTest(f"{programs[found.index(None)]} is not installed")
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root starts these servers")
    return found


def end(pid_file):
    """End the server that wrote this file."""
    with contextlib.suppress(OSError, ValueError):
        os.kill(int(Path(pid_file).read_text(encoding="ascii")), signal.SIGTERM)


class Sshd:
    """An sshd with keys of its own; prefix is the words for --exec."""

    def __init__(self):
        sshd, keygen, _ = need("sshd", "ssh-keygen", "ssh")
        self.folder = Path(tempfile.mkdtemp(prefix="kit-sshd-"))
        for name in ("host", "user"):
            ran(keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name))
        Path("/run/sshd").mkdir(exist_ok=True)  # where Debian's puts itself without rights
        self.port, = free_ports(1)
        options = {
            "ListenAddress": "127.0.0.1",
            "AuthorizedKeysFile": self.folder / "user.pub",
            "StrictModes": "no",
            "UsePAM": "no",
            "PidFile": self.folder / "pid",
            "MaxStartups": 100,
        }
        words = [f"-o{name}={value}" for name, value in options.items()]
        ran(
            sshd,
            "-f",
            "/dev/null",
            "-p",
            str(self.port),
            "-h",
            str(self.folder / "host"),
            "-E",
            str(self.folder / "log"),
            *words,
        )
        quiet = "-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        self.limit = f"timeout 300.{self.port:05}"  # seconds; no other command has this limit
        self.prefix = f"ssh -T -F none -i {self.folder}/user -p {self.port} {quiet} root@127.0.0.1 {self.limit}"
        if not wait_until(lambda: ran(*self.prefix.split()[:-2], "true").returncode == 0, START_LIMIT):
            self.end()
            raise unittest.SkipTest("sshd does not answer here")

    def connections(self):
        """Return the numbers of the processes that serve a connection."""
        found = ran("pgrep", "-P", (self.folder / "pid").read_text(encoding="ascii").strip())
        return [int(number) for number in found.stdout.split()]

    def end(self):
        for number in self.connections():
            os.kill(number, signal.SIGTERM)
        end(self.folder / "pid")
        ran("pkill", "-f", f"^{re.escape(self.limit)} ")  # a loop without end whose connection was lost has its time left
        shutil.rmtree(self.folder, ignore_errors=True)


class Slurm:
    """A slurmctld and a slurmd with a munge of their own; prefix is the words for --exec."""

    prefix = "srun --ntasks=1 --time=5"

    def __init__(self, jobs=1000, share=64):
        """jobs: how many the controller keeps; share: how many run on one core at once."""
        self.servers = dict(zip(("munged", "slurmctld", "slurmd"), need("munged", "slurmctld", "slurmd")))
        need("srun", "scancel", "squeue")
        self.folder = Path(tempfile.mkdtemp(prefix="kit-slurm-"))
        self.folder.chmod(0o755)  # munged insists on it
        self.host, self.before = socket.gethostname().partition(".")[0], os.environ.get("SLURM_CONF")
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir()
        settings = {
            "folder": self.folder,
            "host": self.host,
            "ports": free_ports(2),
            "jobs": jobs,
            "share": share,
            "cores": os.cpu_count(),
        }
        (self.folder / "slurm.conf").write_text(SLURM_CONF.format(**settings), encoding="ascii")
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.start()

    def start(self):
        munge, key = self.folder / "munge", self.folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        files = [f"--{name}={munge / name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        said = ran(self.servers["munged"], "--force", f"--key-file={key}", *files).stderr
        said += ran(self.servers["slurmctld"]).stderr + ran(self.servers["slurmd"], "-N", self.host).stderr
        if not wait_until(lambda: "idle" in ran("sinfo", "-h", "-o", "%T").stdout, START_LIMIT):
            self.end()
            raise unittest.SkipTest(f"Slurm does not run here: {said.strip()[-200:]}")

    def jobs(self):
        """Return the numbers of the jobs that run or wait."""
        return ran("squeue", "-h", "-o", "%i").stdout.split()

    def end(self):
        for number in self.jobs():
            ran("scancel", number)
        wait_until(lambda: not self.jobs(), 10)
        for pid_file in ("slurmd.pid", "slurmctld.pid", "munge/pid-file"):
            end(self.folder / pid_file)
        os.environ.pop("SLURM_CONF", None)
        if self.before is not None:
            os.environ["SLURM_CONF"] = self.before
        shutil.rmtree(self.folder, ignore_errors=True)
