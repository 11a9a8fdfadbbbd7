// RE2 in WebAssembly, as the Python module `svc_re2`. `hold` takes the text of the next searches.

const SMALLEST = 1 << 16;

export async function loadRe2(bytes) {
  const fail = (...parts) => { throw new Error(`RE2 failed: ${parts.join(" ")}`); };
  const { instance } = await WebAssembly.instantiate(bytes, {
    wasi_snapshot_preview1: { fd_close: fail, fd_seek: fail, fd_write: fail },
  });
  const re2 = instance.exports;
  re2._initialize();
  const heap = () => new Uint8Array(re2.memory.buffer);
  const ints = (at, count) => new Int32Array(re2.memory.buffer, at, count);

  // Python's bytes arrive as a proxy; the buffer is valid only during the call.
  const withBytes = (proxy, use) => {
    const view = proxy.getBuffer("u8");
    try {
      return use(view.data, view.nbytes);
    } finally {
      view.release();
    }
  };
  const copied = (proxy) => withBytes(proxy, (data, size) => {
    const at = re2.reserve(size + 1);
    heap().set(data, at);
    return [at, size];
  });
  const string = (at) => {
    const all = heap();
    return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)));
  };
  const given = (proxy, use) => {
    const [at, size] = copied(proxy);
    try {
      return use(at, size);
    } finally {
      re2.release(at);
    }
  };

  let held = 0, size = 0, room = 0;

  return {
    compile: (pattern, flags, memory) => given(pattern, (at, size) => re2.compile(at, size, flags, memory)),
    discard: (id) => re2.discard(id),
    error: (id) => { const at = re2.error(id); return at ? string(at) : ""; },
    groups: (id) => re2.groups(id),
    program_size: (id) => re2.program_size(id),
    hold: (proxy) => withBytes(proxy, (data, count) => {
      if (count >= room) {
        if (held) re2.release(held);
        room = Math.max(SMALLEST, count + 1);
        held = re2.reserve(room);
      }
      heap().set(data, held);
      size = count;
    }),
    match: (id, anchor, from, to) => {
      const at = re2.match(id, anchor, held, size, from, to);
      if (!at) return undefined;
      const groups = re2.groups(id);
      const spans = ints(at, 2 * groups + 2);
      return groups ? Array.from(spans) : spans[0] * 67108864 + spans[1];
    },
    make_set: (anchor, flags, memory) => re2.make_set(anchor, flags, memory),
    add: (id, pattern) => given(pattern, (at, size) => re2.add(id, at, size)),
    compile_set: (id) => re2.compile_set(id),
    match_set: (id) => {
      const at = re2.match_set(id, held, size);
      return Array.from(ints(at + 4, ints(at, 1)[0]));
    },
  };
}
