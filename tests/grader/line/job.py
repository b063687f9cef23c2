"""Windows: a job holds a process and all that it starts, bounds their memory and number, and ends with the grader.

Names in capitals are Windows' own, from winnt.h. A process that is in a job cannot leave it, nor can what it starts.
"""

import ctypes

JOB_OBJECT_LIMIT_ACTIVE_PROCESS = 0x0008
JOB_OBJECT_LIMIT_PROCESS_MEMORY = 0x0100
JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x0400  # no window asks what to do
JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
JobObjectExtendedLimitInformation = 9
PROCESS_LIMIT = 64  # processes of a submission, itself included
EXIT_CODE = 1  # of the processes that a job ends


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION"""

    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64), ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32), ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t), ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t), ("PriorityClass", ctypes.c_uint32), ("SchedulingClass", ctypes.c_uint32),
    ]  # fmt: skip


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; in the middle an IO_COUNTERS, which is not used."""

    _fields_ = [
        ("BasicLimitInformation", BasicLimits), ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t), ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t), ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]  # fmt: skip


class Job:
    """What a worker and all that it starts are in. When it ends or this process does, all of them end."""

    def __init__(self, process, memory=None):
        """process: a Popen, which has not started another one yet. memory: MiB for each process, None for no limit.

        OSError says why it cannot be put into a job.
        """
        self.kernel = functions_of_the_kernel()
        self.handle = self.kernel.CreateJobObjectW(None, None)
        try:
            if not self.handle:
                raise ctypes.WinError(ctypes.get_last_error())
            limits = limits_of(memory)
            self.check(
                self.kernel.SetInformationJobObject(
                    self.handle, JobObjectExtendedLimitInformation, ctypes.byref(limits), ctypes.sizeof(limits)
                )
            )
            self.check(self.kernel.AssignProcessToJobObject(self.handle, int(process._handle)))
        except OSError:
            self.close()
            raise

    def check(self, done):
        if not done:
            raise ctypes.WinError(ctypes.get_last_error())

    def end(self):
        """End all that is in the job."""
        if self.handle:
            self.kernel.TerminateJobObject(self.handle, EXIT_CODE)
            self.close()

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            self.kernel.CloseHandle(handle)


def functions_of_the_kernel():
    """Return kernel32 with the types of what is used of it."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, number, truth = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int
    for name, result, arguments in (
        ("CreateJobObjectW", handle, [ctypes.c_void_p, ctypes.c_wchar_p]),
        ("SetInformationJobObject", truth, [handle, ctypes.c_int, ctypes.c_void_p, number]),
        ("AssignProcessToJobObject", truth, [handle, handle]),
        ("TerminateJobObject", truth, [handle, number]),
        ("CloseHandle", truth, [handle]),
    ):
        function = getattr(kernel, name)
        function.restype, function.argtypes = result, arguments
    return kernel


def limits_of(memory):
    """Return the limits of a job; memory is MiB for each process, or None."""
    limits = ExtendedLimits()
    basic = limits.BasicLimitInformation
    basic.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    if memory is not None:
        basic.LimitFlags |= (
            JOB_OBJECT_LIMIT_PROCESS_MEMORY
            | JOB_OBJECT_LIMIT_ACTIVE_PROCESS
            | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
        )
        limits.ProcessMemoryLimit = memory << 20
        basic.ActiveProcessLimit = PROCESS_LIMIT
    return limits


def job_of(process, memory=None):
    """Return a Job that holds a process, or None where it cannot be had: then what it starts has to be looked for."""
    try:
        return Job(process, memory)
    except OSError:
        return None
