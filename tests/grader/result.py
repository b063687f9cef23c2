"""The four words for what became of a test."""

PASSED, FAILED, WAITING, NOT_RUN = "passed", "failed", "waiting", "not run"
