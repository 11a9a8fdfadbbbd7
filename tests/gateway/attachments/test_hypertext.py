"""HTML becomes Markdown with all that it says."""

import pytest

from gateway.attachments.base import Refused
from gateway.attachments.hypertext import text_of


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h2>a</h2><p>b <b>c</b>\n d<br>e", "## a\n\nb c d\ne"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<a href='mailto:a@b.example'>c</a>", "c (mailto:a@b.example)"),
        ("<table><tr><th>a<th>b<tr><td colspan=2>c</table>d", "| a | b |\n| --- | --- |\n|  | c |\n\nd"),
        ("<table><tr><td>a<td>b</table>", "| a | b |\n| --- | --- |"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<img alt='a' src='https://b.example/c'>", "[a; https://b.example/c]"),
        ("<input value='a' placeholder='b'>", "[b; a]"),
        ("<!-- a --><p hidden>b</p>&lt;c&gt;", "[a]\n\nb\n\n<c>"),
        ("<template>a</template><noscript>b</noscript>", "a\n\nb"),
        ("<style>p{color:red}</style><title>a</title>", "a"),
    ],
)
def test_all_text_is_found(page: str, text: str) -> None:
    assert text_of(page) == text


@pytest.mark.parametrize(
    "page",
    [
        "<script>a</script>",
        "<p onload=a>",
        "<a href='javascript:a'>b",
        "<a href=' data:text/html,a'>b",
        "<svg><text>a</text></svg>",
        "<object data=a>",
        "<base href='https://a.example'>",
        "<p style='background:url(data:image/png;base64,AA)'>",
        "<style>p:after{content:'\\61 b'}</style>",
        "<iframe srcdoc='a'>",
    ],
)
def test_what_is_no_text_is_refused(page: str) -> None:
    with pytest.raises(Refused):
        text_of(page)
