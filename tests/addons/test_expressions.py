import addons
from tests.test_expressions import Automaton, expressions


def test_no_loop_reads_a_text_in_two_ways() -> None:
    assert [
        where for where, each in expressions(addons).items() if Automaton(each.pattern, each.flags).ambiguous()
    ] == []
