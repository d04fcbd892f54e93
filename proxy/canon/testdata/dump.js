// Reads frames (4 bytes of length, big endian, then a JSON text) from stdin and answers each with a frame: "!" when
// JSON.parse refuses the text, else a dump of the value that other readers can make as well.
'use strict';

let pending = Buffer.alloc(0);

function dump(v) {
  if (v === null) return 'n';
  switch (typeof v) {
    case 'boolean':
      return v ? 't' : 'f';
    case 'number': {
      const b = Buffer.alloc(8);
      b.writeDoubleBE(v);
      return 'd' + b.toString('hex');
    }
    case 'string':
      return 's' + Buffer.byteLength(v) + ':' + v;
  }
  if (Array.isArray(v)) return '[' + v.map(dump).join('') + ']';
  const names = Object.keys(v).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return '{' + names.map((k) => dump(k) + dump(v[k])).join('') + '}';
}

function answer(text) {
  let out = '!';
  try {
    out = dump(JSON.parse(text));
  } catch (e) {}
  const body = Buffer.from(out);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  process.stdout.write(Buffer.concat([head, body]));
}

process.stdin.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length >= 4) {
    const end = 4 + pending.readUInt32BE(0);
    if (pending.length < end) break;
    answer(pending.toString('utf8', 4, end));
    pending = pending.subarray(end);
  }
});
