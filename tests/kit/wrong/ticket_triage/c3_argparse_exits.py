"""C3: argparse prints its usage, two lines, and leaves."""


class CommandLine(argparse.ArgumentParser):
    pass
