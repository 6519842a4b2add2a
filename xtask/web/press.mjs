// Puts compressed forms beside the files of a built page; with --check it compares those that are there with what they
// are of. Which bytes a compressor makes depends on its version, so they are read and not compared.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';

const [folder, mode] = process.argv.slice(2);
const WORTH_IT = /\.(css|html|js|json|svg|txt|webmanifest)$/;
const PRESSED = /\.(br|gz)$/;
// Below this a header costs as much.
const LEAST_BYTES = 512;

const forms = {
  br: {
    press: (plain) =>
      zlib.brotliCompressSync(plain, {
        params: {
          [zlib.constants.BROTLI_PARAM_QUALITY]: 11,
          [zlib.constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
        },
      }),
    open: zlib.brotliDecompressSync,
  },
  gz: { press: (plain) => zlib.gzipSync(plain, { level: 9 }), open: zlib.gunzipSync },
};

const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
const plain = all.filter((path) => !PRESSED.test(path));
const wrong = [];

if (mode === '--check') {
  for (const path of all.filter((path) => PRESSED.test(path))) {
    const of = path.replace(PRESSED, '');
    const form = forms[path.slice(-2)];
    if (!plain.includes(of) || !form.open(readFileSync(path)).equals(readFileSync(of))) {
      wrong.push(`${path} is not of ${of}`);
    }
  }
} else {
  all.filter((path) => PRESSED.test(path)).forEach((path) => rmSync(path));
}
for (const path of plain) {
  const content = readFileSync(path);
  if (!WORTH_IT.test(path) || path.endsWith('manifest.json') || content.length < LEAST_BYTES) {
    continue;
  }
  for (const [ending, form] of Object.entries(forms)) {
    const pressed = form.press(content);
    if (pressed.length >= content.length) {
      continue;
    }
    if (mode !== '--check') {
      writeFileSync(`${path}.${ending}`, pressed);
    } else if (!all.includes(`${path}.${ending}`)) {
      wrong.push(`${path}.${ending} is missing`);
    }
  }
}
if (wrong.length > 0) {
  console.error(wrong.join('\n'));
  process.exit(1);
}
