// Runs the gateway's small model of names (training/student.py), as the Python module `svc_student`: the same weights and
// the same whole numbers as in onnxruntime, which would take a fifth of what the page may load.

const FEATURES = 6, SIGNED_ZERO = 128;
const { fround } = Math;

export function loadStudent(file) {
  const weights = initializers(new DataView(file));
  const bytes = (name) => weights.get(name).data;
  const floats = (name) => new Float32Array(bytes(name).slice().buffer);
  const vectors = bytes("vectors"), size = weights.get("vectors").dims[1];
  const [vectorStep] = floats("summed.scale");
  const layers = [];
  for (let number = 0; weights.has(`layer${number}.mixed.w`); number++) {
    const name = `layer${number}`, { dims, data } = weights.get(`${name}.mixed.w`);
    const [step] = floats(`${name}.step`);
    const [far, near] = weights.get(`${name}.edge`)?.dims ?? [0, 0];
    layers.push({
      read: dims[0] - 2 * near, width: dims[1], far, near, step, zero: bytes(`${name}.zero`)[0],
      weights: Int32Array.from(new Int8Array(data.buffer, data.byteOffset, data.length)),
      scales: floats(`${name}.mixed.w.scale`).map((scale) => step * scale),
      bias: floats(`${name}.mixed.b`),
    });
  }

  // The sums of the vectors of each unit's features.
  function summed(rows, units) {
    const sums = new Float32Array(units * size);
    for (let unit = 0; unit < units; unit++) {
      for (let channel = 0; channel < size; channel++) {
        let sum = -FEATURES * SIGNED_ZERO;
        for (let at = unit * FEATURES; at < (unit + 1) * FEATURES; at++) sum += vectors[rows[at] * size + channel];
        sums[unit * size + channel] = sum * vectorStep;
      }
    }
    return sums;
  }

  // All channels of each unit, between some of those of its neighbours `far` units away; nothing outside the text.
  function mixed(seen, units, { read, width, far, near, scales, bias, weights }) {
    const result = new Float32Array(units * width), sums = new Int32Array(width);
    for (let unit = 0; unit < units; unit++) {
      sums.fill(0);
      if (unit >= far) add(sums, weights, 0, seen, (unit - far) * read, near);
      add(sums, weights, near, seen, unit * read, read);
      if (unit + far < units) add(sums, weights, near + read, seen, (unit + far) * read, near);
      for (let to = 0; to < width; to++) result[unit * width + to] = fround(sums[to] * scales[to]) + bias[to];
    }
    return result;
  }

  // Takes the rows of the features of all units of a text (int32), and returns the chances of all labels for each.
  function chances(rows) {
    const units = rows.length / FEATURES;
    let x = summed(rows, units);
    layers.forEach((layer, number) => {
      const read = mixed(rounded(x, layer.step, layer.zero), units, layer);
      x = number > 0 && number < layers.length - 1 ? read.map((value, at) => value + x[at]) : read;
    });
    return softmax(x, layers.at(-1).width);
  }

  return {
    labels: layers.at(-1).width,
    chances: (proxy) => {
      const view = proxy.getBuffer("i32");
      try {
        return chances(view.data);
      } finally {
        view.release();
      }
    },
  };
}

// Adds the products of some values and as many rows of weights.
function add(sums, weights, row, seen, first, count) {
  const width = sums.length;
  for (let from = 0; from < count; from++) {
    const value = seen[first + from];
    if (value === 0) continue;
    const at = (row + from) * width;
    for (let to = 0; to < width; to++) sums[to] += value * weights[at + to];
  }
}

// In whole steps of a byte around its zero, halves to even.
function rounded(x, step, zero) {
  const result = new Int16Array(x.length);
  for (let at = 0; at < x.length; at++) {
    const steps = fround(x[at] / step), floor = Math.floor(steps), rest = steps - floor;
    const whole = rest > 0.5 || (rest === 0.5 && floor % 2) ? floor + 1 : floor;
    result[at] = Math.min(255 - zero, Math.max(-zero, whole));
  }
  return result;
}

function softmax(x, width) {
  for (let first = 0; first < x.length; first += width) {
    const row = x.subarray(first, first + width), most = Math.max(...row);
    let sum = 0;
    for (let at = 0; at < width; at++) sum += row[at] = Math.exp(row[at] - most);
    for (let at = 0; at < width; at++) row[at] /= sum;
  }
  return x;
}

// The constants of an ONNX file by name; of its protocol buffers, only what they consist of is read.
function initializers(file) {
  const GRAPH = 7, INITIALIZER = 5, DIMS = 1, NAME = 8, RAW = 9;
  const found = new Map(), text = new TextDecoder();
  const only = (fields, wanted) => fields.filter(([number]) => number === wanted).map(([, value]) => value);
  const [graph] = only(fieldsOf(file, 0, file.byteLength), GRAPH);
  for (const [first, end] of only(fieldsOf(file, ...graph), INITIALIZER)) {
    const fields = fieldsOf(file, first, end), part = ([from, to]) => new Uint8Array(file.buffer, file.byteOffset + from, to - from);
    found.set(text.decode(part(only(fields, NAME)[0])), { dims: only(fields, DIMS), data: part(only(fields, RAW)[0]) });
  }
  return found;
}

// Number and value of each field of a message; of a nested one or bytes, where they begin and end.
function fieldsOf(file, at, end) {
  const fields = [], SIZES = { 1: 8, 5: 4 };
  const varint = () => {
    let value = 0, byte, factor = 1;
    do {
      byte = file.getUint8(at++);
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  };
  while (at < end) {
    const key = varint(), kind = key % 8, number = Math.floor(key / 8);
    if (kind === 0) {
      fields.push([number, varint()]);
      continue;
    }
    const size = kind === 2 ? varint() : SIZES[kind];
    fields.push([number, [at, at + size]]);
    at += size;
  }
  return fields;
}
