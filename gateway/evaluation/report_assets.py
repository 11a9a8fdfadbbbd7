"""Style and script of the report. The page works without the script, but for the filters."""

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1b1b;background:#fff}
h1{font-size:1.4rem}h2{font-size:1rem;margin:0}small{font-weight:400;color:#555}
form{position:sticky;top:0;background:#fff;padding:.6rem 0;border-bottom:1px solid #ccc}
summary{font-weight:600;font-size:1.1rem;padding:.6rem 0;cursor:pointer}
article{border:1px solid #ddd;border-radius:6px;padding:.6rem .9rem;margin:.5rem 0}
article p{margin:0;color:#555;font-size:.85rem}
table{border-collapse:collapse;font-size:.9rem}td{padding:.15rem .8rem .15rem 0;border-bottom:1px solid #ddd}
.more{margin:0;color:#555;font-size:.85rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0;font:14px/1.5 ui-monospace,monospace}
mark{background:none;color:inherit;border-radius:2px}
.g{border-bottom:3px solid #0a6cc9}.f{background:#ffd8a8}.c{background:#e4e4e4}.here{outline:2px solid #b42318}
[hidden]{display:none}
@media(prefers-color-scheme:dark){
body,form{background:#16181b;color:#e8e8e8}small,article p,.more{color:#aaa}article,td{border-color:#3a3d42}
.f{background:#6b3f00}.c{background:#3a3d42}.g{border-color:#6db6ff}.here{outline-color:#ff8a80}}
"""

SCRIPT = """
const form = document.querySelector('form');
const choose = () => {
  const wanted = Object.fromEntries(new FormData(form));
  let count = 0;
  for (const group of document.querySelectorAll('.group')) {
    let inside = 0;
    for (const place of group.querySelectorAll('article')) {
      const fits = ['file', 'type', 'kind'].every(name => !wanted[name] || place.dataset[name] === wanted[name]);
      place.hidden = !fits;
      inside += fits;
    }
    group.hidden = inside === 0;
    group.querySelector('output').textContent = inside;
    count += inside;
  }
  document.getElementById('count').textContent = count + ' places';
};
form.addEventListener('change', choose);
choose();
"""
