"""The grader: a submission is a stranger's program, and what it says is untrusted data. No file here names a lab."""
