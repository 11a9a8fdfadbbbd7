"""Java's programs are led through the proxy by options beside those that are there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from addons.certificate_authority import make_authority
from gateway.cli.java_options import VARIABLE, java_options
from gateway.config.locations import trust_store_of
from tests.e2e.lacking import lacking

URL = "http://key:secret@127.0.0.1:8080"


def test_our_options_are_added_once_and_others_stay() -> None:
    others = '-Xmx64m -Dx="a b"'
    first = java_options(f"{others} -Dhttps.proxyHost=old", URL, ["192.0.2.1"], Path("/a b/store"))
    assert first.startswith(f"{others} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080 -Dhttp.proxyHost=")
    assert '-Dhttp.nonProxyHosts="localhost|127.*|[::1]|192.0.2.1"' in first
    assert '-Djavax.net.ssl.trustStore="/a b/store"' in first
    assert "secret" not in first
    assert java_options(first, URL, ["192.0.2.1"], Path("/a b/store")) == first
    assert "trustStore" not in java_options("", URL, [], None)


@pytest.mark.slow
def test_java_takes_the_proxy_and_the_authorities(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        lacking("java is not installed")
    folder = tmp_path / "a b"
    make_authority(folder)
    source = tmp_path / "Asked.java"
    source.write_text("""
        import java.net.*; import java.security.KeyStore; import javax.net.ssl.*;
        class Asked { public static void main(String[] words) throws Exception {
            var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init((KeyStore) null);
            for (var known : ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers())
                if (known.getSubjectX500Principal().getName().contains("mitmproxy")) System.out.println("trusted");
            for (String url : words)
                System.out.println(ProxySelector.getDefault().select(URI.create(url)).get(0).type());
        } }""")
    options = java_options("", URL, ["192.0.2.1"], trust_store_of(folder))
    command = [
        "java",
        str(source),
        "https://model.test/",
        "http://model.test/",
        "https://192.0.2.1/",
        "http://127.0.0.2/",
    ]
    done = subprocess.run(command, env=os.environ | {VARIABLE: options}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["trusted", "HTTP", "HTTP", "DIRECT", "DIRECT"], done.stderr
