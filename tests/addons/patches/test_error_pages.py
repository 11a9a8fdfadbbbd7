"""mitmproxy's own error pages are replaced wherever mitmproxy renders one."""

import ast
import inspect

import pytest
from mitmproxy.proxy.layers.http import _http1

from addons.mitm_errors import error_response
from addons.patches.error_pages import speak_json


def test_the_replaced_function_is_the_one_mitmproxy_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, from the module's globals, in each of the places that answer with a page, and nowhere else."""
    monkeypatch.setattr(_http1, "make_error_response", _http1.make_error_response)
    speak_json()
    assert _http1.make_error_response is error_response
    calls = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(_http1)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make_error_response"
    ]
    assert [len(call.args) for call in calls] == [2, 2]
    assert "make_error_response" in _http1.Http1Server.send.__code__.co_names
    assert "make_error_response" in _http1.Http1Server.read_headers.__code__.co_names
