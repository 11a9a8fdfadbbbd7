"""A server over the network has to show a certificate of its name, and gets the password of `database_password`."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from gateway.config.database_url import Database
from gateway.store import StoreError, open_store
from tests import postgres
from tests.e2e.server import free_port

PASSWORD = "canary-of-the-database"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def server(authority: trustme.CA) -> Iterator[postgres.Server]:
    """A server on loopback, with a certificate for `localhost`, that asks for passwords there."""
    if (reason := postgres.missing()) is not None:
        pytest.skip(reason)
    folder = postgres.new_folder()
    certificate = authority.issue_cert("localhost")
    certificate.private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    (folder / "server.pem").chmod(0o600)
    if postgres.as_another():
        shutil.chown(folder / "server.pem", "nobody", "nogroup")
    (folder / "hba").write_text("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8")
    (folder / "hba").chmod(0o644)
    files = [f"{name}={folder / 'server.pem'}" for name in ("ssl_cert_file", "ssl_key_file")]
    server = postgres.start(
        folder, "ssl=on", *files, f"hba_file={folder / 'hba'}", "listen_addresses=127.0.0.1", port=free_port()
    )
    server.sql(f"CREATE ROLE anna LOGIN PASSWORD '{PASSWORD}'")
    server.sql("CREATE DATABASE log OWNER anna")
    yield server
    server.stop(signal.SIGQUIT)


def database(server: postgres.Server, trusted: trustme.CA, folder: Path, *, host: str, password: str) -> Database:
    trusted.cert_pem.write_to_path(folder / "trusted.pem")
    url = f"postgresql://anna@{host}:{server.port}/log?sslmode=verify-full&sslrootcert={folder / 'trusted.pem'}"
    return Database(url, SecretStr(password))


@pytest.mark.slow
def test_a_server_with_a_certificate_of_its_name_is_used(
    server: postgres.Server, authority: trustme.CA, tmp_path: Path
) -> None:
    given = database(server, authority, tmp_path, host="localhost", password=PASSWORD)
    open_store(tmp_path, given).close()
    assert server.sql("SELECT count(*) > 0 FROM migrations", "log") == [(True,)]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["authority", "name", "password"])
def test_any_other_server_or_password_is_refused(
    server: postgres.Server, authority: trustme.CA, tmp_path: Path, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    trusted = trustme.CA() if wrong == "authority" else authority
    host = "127.0.0.1" if wrong == "name" else "localhost"
    password = PASSWORD[::-1] if wrong == "password" else PASSWORD
    with pytest.raises(StoreError, match="cannot be used: OperationalError") as refused:
        open_store(tmp_path, database(server, trusted, tmp_path, host=host, password=password))
    assert password not in f"{refused.value} {caplog.text}"
