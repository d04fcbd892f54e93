// The words in which two texts differ.

const most = 800; // words of a text that are compared: the table has as many rows and columns

/** Splits two texts into parts: [text, differs] of each, where the words that are in both, in one order, do not differ. */
export function differences(a, b) {
  const [x, y] = [a, b].map((t) => t.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []);
  if (x.length > most || y.length > most) return [[[a, a !== b]], [[b, a !== b]]];
  const key = (w) => w.toLowerCase(), wide = y.length + 1, common = new Uint16Array((x.length + 1) * wide);
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--)
    common[i * wide + j] = key(x[i]) === key(y[j]) ? common[(i + 1) * wide + j + 1] + 1 : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
  const left = [], right = [];
  const add = (to, word, differs) => { const last = to.at(-1); if (last?.[1] === differs) last[0] += word; else to.push([word, differs]); };
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && key(x[i]) === key(y[j])) {
      add(left, x[i], x[i] !== y[j]);
      add(right, y[j++], x[i] !== y[j - 1]);
      i++;
    } else if (j === y.length || (i < x.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) add(left, x[i], /\S/.test(x[i++]));
    else add(right, y[j], /\S/.test(y[j++]));
  }
  return [left, right];
}
