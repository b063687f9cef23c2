"""A submission in a process of its own, and the line of JSON messages between it and the tests."""
