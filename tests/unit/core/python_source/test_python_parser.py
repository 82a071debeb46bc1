"""Python source is read by one thread at a time, because CPython shares a counter between them."""

import gc
import os
import signal
import threading

import pytest

from pulsus.core.python_source import python_parser

FUNCTIONS = "\n".join(
    f"def f{n}(a, b=[1, {{'x': [{n}]}}]): return a + (b * {n})" for n in range(300)
)


def test_a_second_thread_does_not_end_the_parser_of_the_first_with_a_system_error():
    reader = threading.current_thread()
    second = threading.Thread(target=python_parser.read_tree, args=("x = [[[1]]]",))

    def let_the_second_read(phase, info):
        """The collector runs in the middle of the parser, and other threads with it."""
        if threading.current_thread() is reader and second.ident is None:
            second.start()
            second.join(0.5)

    gc.callbacks.append(let_the_second_read)
    try:
        body = python_parser.read_tree(FUNCTIONS).body
    finally:
        gc.callbacks.remove(let_the_second_read)
    assert second.ident is not None, "the collector did not run"
    second.join(30)
    assert (len(body), second.is_alive()) == (300, False)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_beside_a_thread_that_parses_can_parse():
    ended = threading.Event()

    def read():
        while not ended.is_set():
            python_parser.read_tree(FUNCTIONS)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # a lock that stays locked ends it
                os._exit(python_parser.read_literal("7"))
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        ended.set()
        reader.join()
