# SPDX-License-Identifier: Apache-2.0
"""Arguments of a job run: --NAME VALUE or --NAME=VALUE on the command line."""
import argparse
import sys


class GlueArgumentError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise GlueArgumentError(message)


# Always there when they were given, whether asked for or not.
_RESERVED = ["JOB_NAME", "JOB_RUN_ID", "JOB_ID", "TempDir", "job-bookmark-option", "job-bookmark-from", "job-bookmark-to", "RedshiftTempDir", "SECURITY_CONFIGURATION"]


def getResolvedOptions(args, options):
    """The named options of args as a dictionary; each must be there."""
    wanted = list(dict.fromkeys(o.lstrip("-") for o in options))
    parser = _Parser(prog=args[0] if args else "script", add_help=False, allow_abbrev=False)
    for name in wanted:
        parser.add_argument("--" + name, required=True, dest=name)
    for name in _RESERVED:
        if name not in wanted:
            parser.add_argument("--" + name, dest=name, default=None)
    given = []                                      # a value may begin with dashes: bind it to its name
    rest = list(args[1:])
    names = {"--" + n for n in wanted + _RESERVED}
    while rest:
        word = rest.pop(0)
        if word in names and rest:
            given.append(f"{word}={rest.pop(0)}")
        else:
            given.append(word)
    found, _ = parser.parse_known_args(given)
    return {k.replace("-", "_"): v for k, v in vars(found).items() if v is not None}


def makeOptions(sc, options):
    return dict(options)


def _call_site(*_):
    return ""


callsite = _call_site


def iteritems(d):
    return iter(d.items())


if __name__ == "__main__":
    print(getResolvedOptions(sys.argv, []))
