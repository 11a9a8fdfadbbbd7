"""`run_proxy.py inspect -- PROGRAM …`: runs a program through a gateway of its own, and shows what providers received.

With `--forbid FILE`, it fails if a value of the file was in anything that was sent, or in what it could not search.
"""

import argparse
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gateway.cli.client_variables import ENTRANCES, for_this_machine
from gateway.cli.console import CommandLine, Misused
from gateway.cli.exec import cannot_contain, environment, failed, path_of
from gateway.cli.inspection.forbidden import Hit, read_forbidden
from gateway.cli.inspection.private_gateway import PrivateGateway, private_gateway
from gateway.cli.inspection.program import NAME, Contained, Program
from gateway.cli.inspection.records import Records
from gateway.cli.inspection.report import JsonReport, Report, counted, hit_words
from gateway.config.host_patterns import HostMatcher, check_host_pattern, host_regexes
from gateway.config.listener_addresses import in_url
from gateway.config.settings import Settings, SettingsError
from gateway.programs import NOT_EXECUTABLE

FOUND, UNSEARCHED, FAILED = 110, 111, 125
_KEY = "PRIVACY_GATEWAY_KEY"
# Lines about look-ups of names are left out.
_ADDRESS = re.compile(r"(?:connects|sends datagrams) to \[?([0-9a-f.:]+?)\]?:(\d+), past the gateway$")

_EPILOG = f"""\
exit status: that of PROGRAM, or
  {FOUND}  a value of the file was sent
  {UNSEARCHED}  none was found, but data went through a tunnel or past the gateway, or nothing reached it
  {FAILED}  the gateway did not start or was lost; the program was ended
"""


def add_commands(line: CommandLine) -> None:
    """Registers `inspect`."""
    parser = line.commands.add_parser(
        "inspect",
        help="run a program through a gateway of its own, and show what was sent",
        usage="%(prog)s [options] -- PROGRAM [ARGUMENT …]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="after `--`: the program and its arguments")
    parser.add_argument(
        "--through",
        choices=ENTRANCES,
        default="proxy",
        help="proxy: programs keep their provider's key (the default); gateway: base URLs, with a new key; or both",
    )
    parser.add_argument("--policy", metavar="ID", help="policy of requests that name none (default: `default_policy`)")
    parser.add_argument(
        "--forbid", type=Path, metavar="FILE", help="values that must not be sent, one a line; `-`: stdin"
    )
    parser.add_argument(
        "--allow-tunnel",
        action="append",
        default=[],
        metavar="HOST",
        help="host that may be reached without being searched, such as *.example.com; `*`: all; repeatable",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write the report here as it grows (default: stderr)"
    )
    parser.add_argument(
        "--contain",
        action="store_true",
        help="run the program so that it reaches only this gateway, as `exec` does (Linux)",
    )
    parser.add_argument(
        "--no-report",
        action="store_true",
        help="do not report connections past the gateway, or that `--contain` blocks (Linux)",
    )
    parser.add_argument("--full", action="store_true", help="show every text whole, in each request again")
    parser.add_argument("--headers", action="store_true", help="show the headers that were forwarded")
    parser.add_argument("--answers", action="store_true", help="show what the providers answered")
    line.finish(parser, _run)


def _run(settings: Settings, options: argparse.Namespace) -> int:
    if problem := cannot_contain(options):
        return failed(problem, 2)
    path = path_of(options.program)
    if isinstance(path, int):
        return path
    forbidden = read_forbidden(options.forbid)
    allowed = _allowed(options.allow_tunnel)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with _output(options.output) as file:
        make = JsonReport if options.json else Report
        report = make(file, forbidden, options.full, options.headers, options.answers)
        # A report on the terminal would disturb the program's screen.
        records = Records(report.request if options.output else lambda _: None)
        started = private_gateway(settings, policy=options.policy, keeps_answers=options.answers, take=records.take)
        try:
            with started as (gateway, key, notes):
                status = _execute(path, settings, options, gateway, key, records)
        except SettingsError as error:
            return failed("\n".join(("Cannot inspect:", *error.problems)), FAILED)
        for sent in records.sent:
            if sent.number not in report.hits:
                report.request(sent)
        result, verdict = _judged(report, records, allowed, well=gateway.ended_well)
        report.summary(records, notes, verdict)
        return result or status


def _execute(
    path: str, settings: Settings, options: argparse.Namespace, gateway: PrivateGateway, key: str, records: Records
) -> int:
    """Runs the program once the gateway is ready. Returns its status. Raises SettingsError."""
    running = gateway.wait_until_ready()
    given = for_this_machine(running, options.through)
    inherited = {**os.environ, _KEY: key}
    variables = environment(inherited, given, _KEY if options.through != "proxy" else None)
    del variables[_KEY]
    past = None if options.no_report else (records.blocked if options.contain else records.past).append
    contained = _contained(path, settings, running, options, variables) if options.contain else None
    try:
        program = Program(path, options.program, variables, past, contained)
    except OSError as error:
        return failed(f"{options.program[0]}: {error.strerror}", NOT_EXECUTABLE)
    gateway.lost = program.end
    if gateway.is_lost:
        program.end()
    return program.wait()


def _contained(
    path: str, settings: Settings, running: Settings, options: argparse.Namespace, variables: Mapping[str, str]
) -> Contained:
    """Returns what makes the contained program, and its supervisor. Raises SettingsError."""
    from gateway.cli import supervised_exec as contained  # noqa: PLC0415 - of Linux alone
    from gateway.programs.containment import ContainingSupervisor  # noqa: PLC0415

    hidden = contained.hidden_from(settings, options.config, variables, NAME, running.data_dir)
    addresses, reports = contained.loopback_addresses(running, options.through), not options.no_report
    program = contained.contained_program(path, options.program, variables)
    return lambda output: (program, ContainingSupervisor(addresses, hidden, NAME, output, reports))


def _judged(report: Report, records: Records, allowed: HostMatcher, *, well: bool) -> tuple[int, str]:
    """Returns the status in place of the program's, if any, and words for it."""
    if not well:
        return FAILED, "The gateway ended too early, so this list may be incomplete; the program was ended."
    if not report.forbidden:
        return 0, ""
    hits: list[Hit] = [hit for found in report.hits.values() for hit in found]
    tunneled = [hit for tunnel in records.tunnels for hit in report.forbidden.in_tunnel(tunnel)]
    if found := sorted({hit.line for hit in (*hits, *tunneled) if hit.line}):
        more = "".join(f"\n{hit_words(hit)} of a tunnel" for hit in tunneled)
        return FOUND, f"FORBIDDEN values were sent: of line {', '.join(map(str, found))}.{more}"
    unsearched = {each.host for each in records.tunnels if each.sent and not allowed(each.host, each.port)}
    if unsearched:
        options = " ".join(f"--allow-tunnel {report.safe(host)}" for host in sorted(unsearched))
        return UNSEARCHED, f"No forbidden value was found, but tunnels cannot be searched. To accept them: {options}"
    connected = {(match[1], int(match[2])) for line in records.past if (match := _ADDRESS.search(line))}
    if not_seen := sorted(place for place in connected if not allowed(*place)):
        options = " ".join(f"--allow-tunnel {in_url(host)}:{port}" for host, port in not_seen)
        return UNSEARCHED, f"No forbidden value was found, but not all was seen. To accept what went past: {options}"
    if any(not hit.line for hit in hits):
        return UNSEARCHED, "No forbidden value was found, but not everything could be searched; see above."
    if not (records.sent or records.not_sent or records.tunnels):
        return UNSEARCHED, "Nothing reached the gateway, so nothing was searched: the program may have gone around it."
    return 0, f"No forbidden value was sent, in {counted(len(records.sent), 'request')}."


def _allowed(patterns: list[str]) -> HostMatcher:
    """Returns what accepts the hosts. Raises Misused."""
    try:
        return HostMatcher((".*",) if "*" in patterns else host_regexes(map(check_host_pattern, patterns)))
    except ValueError as error:
        raise Misused(f"--allow-tunnel: {error}", "usage") from None


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Opens the report's file, which only its owner can read. Raises OSError."""
    if path is None:
        yield sys.stderr
        return
    mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(path, "w", encoding="utf-8", opener=lambda name, _: os.open(name, mode, 0o600)) as file:
        yield file
