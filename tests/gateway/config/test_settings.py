import ast
import json
import pickle
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.config.loading import load_settings
from gateway.config.settings import ENVIRONMENT_ONLY, Settings, SettingsError
from gateway.config.upstreams import UpstreamSettings
from gateway.http.aws_signing import AwsSigner
from gateway.models import Trust
from scripts.settings_reference import page
from tests.conftest import vectors

ROOT = Path(__file__).resolve().parents[3]
# A mistyped value, which no message may repeat.
PRIVATE = "hunter" + "2"
AWS = {
    "wire": "bedrock",
    "base_url": "https://bedrock-runtime.us-east-1.amazonaws.com",
    "aws_access_key_id": "env:MY_ID",
    "aws_secret_access_key": "env:MY_SECRET",
}
# Also fit for credentials of a proxy.
SECRET = "user:" + PRIVATE * 6


def written(folder: Path, text: str) -> Path:
    file = folder / "svc.toml"
    file.write_text(text, encoding="utf-8")
    return file


def problems(*, config: Path | None = None, **given: object) -> str:
    with pytest.raises(SettingsError) as refusal:
        load_settings(config, **given)
    assert PRIVATE not in str(refusal.value)
    # Nor may a traceback print the error that was converted, which quotes the value.
    assert refusal.value.__context__ is None or refusal.value.__suppress_context__
    return str(refusal.value)


class TestWhereValuesComeFrom:
    def test_nothing_set_gives_loopback_and_closed_defaults(self) -> None:
        settings = load_settings()
        assert (settings.host, settings.web_host) == ("127.0.0.1", "127.0.0.1")
        assert (settings.gateway_port, settings.proxy_port, settings.web_port) == (8000, 8080, 8081)
        assert settings.all_upstreams == {}
        assert settings.body_limit_bytes == 10 * 1024 * 1024

    def test_command_line_over_environment_over_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        config = written(tmp_path, "gateway_port = 1001\nproxy_port = 1002\nweb_port = 1003\n")
        monkeypatch.setenv("SVC_PROXY_PORT", "2002")
        monkeypatch.setenv("SVC_WEB_PORT", "2003")
        settings = load_settings(config, web_port=3003, host=None)
        assert (settings.gateway_port, settings.proxy_port, settings.web_port) == (1001, 2002, 3003)
        assert settings.host == "127.0.0.1"

    def test_the_file_may_be_named_by_a_variable_for_one_load(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as named:
            named.setenv("SVC_CONFIG", str(written(tmp_path, "max_flows = 7")))
            assert load_settings().max_flows == 7
        assert load_settings().max_flows == 500

    def test_an_upstream_is_put_together_from_file_and_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = written(tmp_path, '[upstreams.inhouse]\nbase_url = "http://10.0.0.5/v1/"\ntrust = "local"\n')
        monkeypatch.setenv("SVC_UPSTREAMS__INHOUSE__TIMEOUT_SECONDS", "5")
        monkeypatch.setenv("SVC_UPSTREAMS__INHOUSE__MODELS", "llama*, qwen*")
        upstream = load_settings(config).upstreams["inhouse"]
        assert upstream.base_url == "http://10.0.0.5/v1"
        assert (upstream.trust, upstream.timeout_seconds) == (Trust.LOCAL, 5)
        assert upstream.models == ("llama*", "qwen*")

    def test_further_authorities_are_those_of_all_or_of_one(self, tmp_path: Path) -> None:
        common, own = tmp_path / "common.pem", tmp_path / "own.pem"
        common.touch()
        own.touch()
        table = {"base_url": "https://x/v1"}
        settings = load_settings(
            upstream="https://y/v1", upstream_ca=common, upstreams={"a": table, "b": table | {"ca_file": own}}
        )
        used = {name: each.ca_file for name, each in settings.all_upstreams.items()}
        assert used == {"configured-upstream": common, "a": common, "b": own}
        assert settings.upstream_ca_files == (common, own)

    def test_a_list_in_a_variable_is_separated_by_commas(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SVC_INTERCEPT_ALSO", "Localhost:8443, *.models.example")
        settings = load_settings()
        assert settings.intercept_also == ("localhost:8443", "*.models.example")
        assert any(re.search(each, "localhost:8443") for each in settings.intercept_regexes)
        assert any(re.search(each, "api.openai.com:443") for each in settings.intercept_regexes)

    def test_an_empty_variable_counts_as_not_set_and_sizes_may_carry_a_unit(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SVC_UPSTREAM", "")
        settings = load_settings(body_limit_bytes="20 MiB")
        assert (settings.upstream, settings.body_limit_bytes) == (None, 20 * 1024 * 1024)

    def test_settings_are_frozen_and_survive_a_change_of_process(self) -> None:
        settings = load_settings(max_flows=7)
        with pytest.raises(ValueError, match="frozen"):
            settings.max_flows = 8
        assert pickle.loads(pickle.dumps(settings)) == settings


class TestRefusals:
    @pytest.mark.parametrize("case", vectors("settings/problems"), ids=lambda case: case["case"])
    def test_a_problem_is_named_without_the_value(
        self, case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        case = json.loads(json.dumps(case).replace("PRIVATE", PRIVATE))
        for name, value in case.get("variables", {}).items():
            monkeypatch.setenv(name, value)
        config = written(tmp_path, case["file"]) if "file" in case else None
        said = problems(config=config, **case.get("given", {}))
        assert said.startswith(case["says"]) and case.get("contains", "") in said

    def test_without_mitmweb_its_port_is_free_and_zero_never_clashes(self) -> None:
        assert load_settings(web=False, web_port=8000).gateway_port == 8000
        assert load_settings(gateway_port=0, proxy_port=0, web_port=0).web_port == 0

    def test_a_file_that_is_missing_or_no_text_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "svc.toml"
        assert "cannot be read" in problems(config=file)
        file.write_bytes(b"\xff\xfe")
        assert "is not valid TOML" in problems(config=file)


class TestSecrets:
    @pytest.mark.parametrize("name", sorted(ENVIRONMENT_ONLY))
    def test_a_secret_is_not_taken_from_a_file(self, name: str, tmp_path: Path) -> None:
        message = problems(config=written(tmp_path, f'{name} = "{PRIVATE * 6}"'))
        assert message.startswith(f"{name}: set it as SVC_{name.upper()}, not in a file")
        assert PRIVATE not in message

    @pytest.mark.parametrize("name", sorted(ENVIRONMENT_ONLY))
    @pytest.mark.parametrize("place", ["file", "environment"])
    def test_a_secret_is_read_from_where_it_is(
        self, name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "secret").write_text(SECRET + "\n")
        monkeypatch.setenv("A_SECRET", SECRET)
        for reference in (f"file:{tmp_path / 'secret'}", "env:A_SECRET"):
            config = None
            if place == "file":
                config = written(tmp_path, f'{name} = "{reference}"')
            else:
                monkeypatch.setenv(f"SVC_{name.upper()}", reference)
            assert getattr(load_settings(config), name).get_secret_value() == SECRET

    @pytest.mark.parametrize(
        ("reference", "said"),
        [
            ("file:/no/such/file", "the file that it refers to cannot be read: No such file or directory"),
            ("file:EMPTY", "the file that it refers to is empty or not set"),
            ("file:BINARY", "the file that it refers to is not text in UTF-8"),
            ("env:NO_SUCH_SECRET", "the variable that it refers to is empty or not set"),
        ],
    )
    def test_a_secret_that_is_not_there_is_named(self, reference: str, said: str, tmp_path: Path) -> None:
        for name, content in (("EMPTY", b"\n"), ("BINARY", b"\xff")):
            (tmp_path / name).write_bytes(content)
            reference = reference.replace(name, str(tmp_path / name))
        assert problems(config=written(tmp_path, f'api_key = "{reference}"')) == f"api_key: {said}"
        upstreams = {"a": {"base_url": "https://x/v1", "api_key": reference}}
        with pytest.raises(SettingsError) as refused:
            load_settings(upstreams=upstreams).check_upstreams()
        assert refused.value.problems == (f"upstreams.a.api_key: {said}",)

    def test_the_key_of_an_upstream_is_read_from_where_it_is(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "key").write_text(PRIVATE)
        for name, reference in (
            ("api_key", f"file:{tmp_path / 'key'}"),
            ("api_key", "env:SVC_MY_KEY"),
            ("api_key_env", "SVC_MY_KEY"),
        ):
            if "SVC_MY_KEY" in reference:
                monkeypatch.setenv("SVC_MY_KEY", PRIVATE)
            settings = load_settings(upstreams={"a": {"base_url": "https://x/v1", name: reference}})
            assert settings.upstream_api_key("a") == SecretStr(PRIVATE)
        monkeypatch.delenv("SVC_MY_KEY")
        settings = load_settings(upstreams={"a": {"base_url": "https://x/v1"}}, upstream="http://y:1")
        assert settings.upstream_api_key("a") is settings.upstream_api_key("configured-upstream") is None

    def test_every_secret_field_is_for_the_environment_only(self) -> None:
        secret = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
        # Tokens for mitmweb are references in any place.
        assert secret - {"web_tokens"} == ENVIRONMENT_ONLY

    def test_no_repr_and_no_dump_shows_a_secret(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ENVIRONMENT_ONLY:
            monkeypatch.setenv(f"SVC_{name.upper()}", SECRET)
        settings = load_settings(upstream="https://x/v1")
        assert PRIVATE not in repr(settings) + str(settings) + settings.model_dump_json()
        key = settings.upstream_api_key("configured-upstream")
        assert key is not None
        assert key.get_secret_value() == SECRET

    def test_a_key_whose_variable_is_missing_stops_the_start(self) -> None:
        upstreams = {"a": {"base_url": "https://x/v1", "api_key_env": "NO_SUCH_KEY"}}
        with pytest.raises(SettingsError) as refused:
            load_settings(upstreams=upstreams, default_upstream="nobody").check_upstreams()
        assert refused.value.problems == (
            "default_upstream: no upstream has this name",
            "upstreams.a.api_key_env: the variable NO_SUCH_KEY is not set",
        )

    @pytest.mark.parametrize("region", [None, "eu-west-1"])
    def test_the_aws_credentials_of_an_upstream(self, monkeypatch: pytest.MonkeyPatch, region: str | None) -> None:
        """The region is that of the host, where it names one."""
        for name in ("ID", "SECRET", "TOKEN"):
            monkeypatch.setenv(f"MY_{name}", f"{name}-{PRIVATE}")
        host = "relay.acme.test" if region else "bedrock-runtime.us-east-1.amazonaws.com"
        given = {**AWS, "base_url": f"https://{host}", **({"aws_region": region} if region else {})}
        other = {**given, "base_url": f"{given['base_url']}:8443", "aws_session_token": "env:MY_TOKEN"}
        settings = load_settings(upstreams={"a": given, "b": other})
        settings.check_upstreams()
        for name, token in (("a", None), ("b", f"TOKEN-{PRIVATE}")):
            expected = AwsSigner(f"ID-{PRIVATE}", f"SECRET-{PRIVATE}", token, region or "us-east-1")
            assert settings.upstream_signer(name) == expected
        monkeypatch.delenv("MY_SECRET")
        assert settings.upstream_signer("c") is None
        with pytest.raises(SettingsError, match=r"upstreams.a.aws_secret_access_key: the variable .* not set"):
            settings.check_upstreams()

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"aws_secret_access_key": None}, "both aws_access_key_id and aws_secret_access_key"),
            ({"aws_access_key_id": None, "aws_secret_access_key": None, "aws_region": "us-east-1"}, "both"),
            ({"wire": "openai"}, 'wire = "bedrock"'),
            ({"api_key_env": "A"}, "either an API key or AWS credentials"),
            ({"base_url": "https://relay.acme.test"}, "set aws_region"),
            ({"aws_region": PRIVATE}, "aws_region"),
            ({"aws_region": "eu-west-1"}, "aws_region is another region than the host of base_url names"),
            ({"base_url": "http://bedrock-runtime.us-east-1.amazonaws.com"}, "base_url must begin with https://"),
            ({"base_url": "https://bedrock-runtime.us-east-1.amazonaws.com/model/"}, "remove /model from the end"),
            ({"aws_access_key_id": PRIVATE}, "aws_access_key_id"),
        ],
    )
    def test_unusable_aws_settings(self, given: dict[str, str | None], said: str) -> None:
        assert said in problems(upstreams={"a": {**AWS, **given}})

    @pytest.mark.parametrize("base_url", [AWS["base_url"], f"{AWS['base_url']}:443/"])
    def test_two_upstreams_that_sign_for_one_host(self, base_url: str) -> None:
        """Nothing would say whose credentials sign a request of a client that signs for this host."""
        said = problems(upstreams={"b": AWS, "a": {**AWS, "base_url": base_url}})
        assert "upstreams: a and b have AWS credentials for the same host in base_url" in said
        alone = {"wire": "bedrock", "base_url": AWS["base_url"], "api_key_env": "A"}
        load_settings(upstreams={"b": AWS, "a": alone})

    @pytest.mark.parametrize("given", [{}, {"aws_region": "us-east-1"}])
    def test_usable_aws_settings(self, given: dict[str, str]) -> None:
        load_settings(
            upstreams={"a": {**AWS, **given}, "b": {**AWS, "base_url": "http://127.0.0.1:8", "aws_region": "eu-west-1"}}
        )

    def test_an_upstream_that_is_an_option_of_serve_is_nothing_to_the_other_commands(self) -> None:
        upstreams = {"a": {"base_url": "https://x/v1"}}
        for name in ("a", "configured-upstream"):
            load_settings(default_upstream=name, upstream="https://x/v1", upstreams=upstreams).check_upstreams()
        alone = load_settings(default_upstream="configured-upstream")
        with pytest.raises(SettingsError, match=r"`--upstream URL`"):
            alone.check_upstreams()

    def test_the_longest_that_an_upstream_may_take(self) -> None:
        assert load_settings(upstream_timeout_seconds=7).longest_timeout == 7
        slow = {"a": {"base_url": "https://x/v1", "timeout_seconds": 900}, "b": {"base_url": "https://x/v1"}}
        assert load_settings(upstreams=slow).longest_timeout == 900


class TestFolders:
    def test_the_data_folder_is_made_for_its_owner_only(self, tmp_path: Path) -> None:
        folder = Settings(data_dir=tmp_path / "a" / "b").make_data_dir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for mode in (0o755, 0o750, 0o701):
            folder.chmod(mode)
            with pytest.raises(SettingsError) as refused:
                Settings(data_dir=folder).make_data_dir()
            assert refused.value.problems == (f"data_dir: other users can open {folder}; run `chmod 700 {folder}`",)
            assert stat.S_IMODE(folder.stat().st_mode) == mode

    def test_keys_that_others_can_read_are_refused(self, tmp_path: Path) -> None:
        keys = [tmp_path / "installation.key", tmp_path / "signing.key"]
        for key, mode in zip(keys, (0o640, 0o604), strict=True):
            key.touch()
            key.chmod(mode)
        with pytest.raises(SettingsError) as refused:
            Settings(data_dir=tmp_path).make_data_dir()
        assert refused.value.problems == tuple(
            f"data_dir: other users can open {key}; run `chmod 600 {key}`" for key in keys
        )
        for key in keys:
            key.chmod(0o600)
        assert Settings(data_dir=tmp_path).make_data_dir() == tmp_path


def readers() -> set[str]:
    """Returns the settings that the product reads, outside the module that defines them."""
    files = [ROOT / "run_proxy.py", *(ROOT / "gateway").rglob("*.py"), *(ROOT / "addons").rglob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.name != "settings.py")
    return set(re.findall(r"\b_?settings(?:\.|, \")(\w+)", text))


class TestEverySetting:
    def test_is_read_by_something(self) -> None:
        """By name, or through a property of the settings that is read."""
        read = readers()
        own = ast.parse((ROOT / "gateway" / "config" / "settings.py").read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(own) if isinstance(node, ast.FunctionDef) and node.name in read):
            read |= {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
        assert set(Settings.model_fields) - read == set()


class TestReference:
    def test_the_page_is_current(self) -> None:
        current = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
        assert current == page(), "run `make docs`"

    @pytest.mark.parametrize("model", [Settings, UpstreamSettings])
    def test_every_setting_is_described(self, model: type[Settings] | type[UpstreamSettings]) -> None:
        assert [name for name, field in model.model_fields.items() if not field.description] == []

    def test_the_example_of_the_page_is_a_settings_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "example")
        example = page().split("```toml\n")[1].split("```")[0]
        settings = load_settings(written(tmp_path, example))
        assert list(settings.upstreams) == ["openai", "inhouse"]
        assert settings.default_upstream == "openai"
