"""`env`: the variables that lead a client to the gateway, in each form."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.certificates import write_certificate
from tests.gateway.cli.support import Command

FORMS = ["shell", "docker", "node", "python", "curl", "powershell"]
NOT_SET = ("--key-env", "NOT_SET")


@pytest.mark.parametrize("through", ["proxy", "gateway", "both"])
def test_a_shell_gets_the_variables(installed: Command, through: str) -> None:
    status, said = installed("env", "shell", "--through", through)
    assert status == 0
    given = installed.json("env", "--through", through)[1]
    script = said + f"\n{shlex.quote(sys.executable)} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, env={"PATH": os.environ["PATH"]}, check=True)
    assert given.items() <= json.loads(done.stdout).items()
    assert ("HTTPS_PROXY" in given) is (through != "gateway")
    assert ("ANTHROPIC_BASE_URL" in given) is (through != "proxy")
    assert (given.get("HTTP_PROXY") == given.get("http_proxy")) and ("HTTP_PROXY" in given) is (through != "gateway")
    if through == "proxy":
        assert Path(given["SSL_CERT_FILE"]).read_bytes().count(b"BEGIN CERTIFICATE") > 10


@pytest.mark.parametrize("form", ["docker", "node", "powershell"])
def test_each_form_names_the_proxy(installed: Command, form: str) -> None:
    status, said = installed("env", form)
    assert status == 0
    assert "HTTPS_PROXY" in said
    assert ":8080" in said


def test_python_and_curl_get_the_proxy(installed: Command) -> None:
    program = f"{installed('env', 'python')[1]}\nprint(os.environ['HTTPS_PROXY'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "http://127.0.0.1:8080"
    assert 'proxy = "http://127.0.0.1:8080"' in installed("env", "curl")[1]


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (("curl", "--through", "gateway"), {}, "curl reads no base URL"),
        (("--proxy-port", "0"), {}, "--proxy-port PORT"),
        (("--key-env", "PATH"), {}, "--key-env"),
        ((), {"SVC_PROXY": "false"}, "proxy: it is switched off"),
        *(((form, *more), {"SVC_PROXY_KEY": "true"}, "--key-env VARIABLE") for form in FORMS for more in ((), NOT_SET)),
    ],
)
def test_unusable_options_are_explained(
    installed: Command, words: tuple[str, ...], variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert installed("env", *words) == (2, "")
    assert message in installed.errors


def test_without_an_authority_the_command_that_creates_one_is_named(command: Command) -> None:
    assert command("env") == (2, "")
    assert "run_proxy.py ca" in command.errors


@pytest.mark.parametrize("form", [*FORMS, "--json"])
def test_the_url_of_a_proxy_that_requires_a_key_has_the_key(
    installed: Command, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("SVC_PROXY_KEY", "true")
    monkeypatch.setenv("MINE", "a/b@c")
    assert "http://key:a%2Fb%40c@127.0.0.1:8080" in installed("env", form, "--key-env", "MINE")[1]


def test_a_proxy_that_is_switched_off_is_left_out(installed: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_PROXY", "false")
    for words in (("env", "--through", "gateway"), ("ca",)):
        status, said = installed(*words)
        assert status == 0
        assert "export HTTPS_PROXY" not in said


def test_each_listener_is_reached_at_its_own_address(installed: Command) -> None:
    given = installed.json("env", "--host", "192.0.2.1", "--proxy-host", "0.0.0.0", "--through", "both")[1]
    assert given["HTTPS_PROXY"] == "http://127.0.0.1:8080"
    assert given["ANTHROPIC_BASE_URL"] == "http://192.0.2.1:8000"
    assert given["NO_PROXY"] == "localhost,127.0.0.1,::1,192.0.2.1"


@pytest.mark.parametrize(("host", "option"), [("172.17.0.1", "--add-host="), ("127.0.0.1", "--network=host")])
def test_a_container_reaches_the_address_of_the_proxy(
    installed: Command, host: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert installed("env", "docker", "--proxy-host", host)[1].startswith(option)


def test_a_container_joins_the_network_of_the_gateways_container(
    installed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_PROXY_HOST", "0.0.0.0")
    options = installed("env", "docker", "--network", "nights")[1].splitlines()
    assert options[:2] == ["--network=nights", "--volume=./ca-bundle.pem:/etc/privacy-gateway/ca-bundle.pem:ro"]
    assert "--env=HTTPS_PROXY=http://gateway:8080" in options
    assert "--env=NO_PROXY=localhost,127.0.0.1,::1,gateway" in options
    for words in (("env", "curl", "--network", "nights"), ("env", "docker", "--network", "nights", "--json")):
        assert installed(*words) == (2, "")
        assert "--network: only containers join a network" in installed.errors


def test_with_a_certificate_the_urls_and_the_trusted_files_follow(
    installed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = write_certificate(installed.data_dir, "gateway.test")
    monkeypatch.setenv("SVC_TLS_CERTIFICATE", str(certificate))
    monkeypatch.setenv("SVC_TLS_KEY", str(key))
    given = installed.json("env", "--through", "gateway")[1]
    assert given["OPENAI_BASE_URL"] == "https://gateway.test:8000/v1"
    assert given["SSL_CERT_FILE"] == given["NODE_EXTRA_CA_CERTS"]
    given = installed.json("env")[1]
    assert given["HTTPS_PROXY"] == "https://gateway.test:8080"
    assert given["NO_PROXY"].endswith(",gateway.test")
    said = installed("env", "docker", "--through", "gateway", "--host", "0.0.0.0")[1]
    assert "--add-host=gateway.test:host-gateway" in said
    assert "--volume=" in said
    assert "proxy-cacert = " in installed("env", "curl")[1]
    monkeypatch.setenv("SVC_TLS_LISTENERS", "web")
    assert installed.json("env", "--through", "gateway")[1].keys().isdisjoint({"SSL_CERT_FILE"})
    assert 'proxy = "http://' in installed("env", "curl")[1]
