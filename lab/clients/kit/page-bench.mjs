// Measures the web page in Debian's Chromium: LINK signs in, CHORUS_URL is the host, MESSAGES how long
// the history is, HOUR how many messages come in an hour. Prints one JSON object: numbers in
// milliseconds, kilobytes, megabytes and frames a second.
import { chromium } from 'playwright-core';

const { LINK, CHORUS_URL, CHROMIUM } = process.env;
const MESSAGES = Number(process.env.MESSAGES ?? 5_000);
const HOUR = Number(process.env.HOUR ?? 36_000);
const ROUNDS = 10;

const args = ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--expose-gc'];
const browser = await chromium.launch({ executablePath: CHROMIUM, args });
const first = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const page = await first.newPage();
page.setDefaultTimeout(180_000);
await page.goto(LINK);
await page.click('button');
await page.waitForURL('**/app/**');
await page.waitForSelector('nav.rail');
const storageState = await first.storageState();

const api = (where, method, path, body) =>
  where.evaluate(
    async ([method, path, body]) => {
      const headers = { 'X-Chorus-Page': '1', 'Content-Type': 'application/json' };
      const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    },
    [method, path, body],
  );
const { id: ops } = await api(page, 'POST', '/v1/channels', { title: 'ops', replies: 'line' });
await api(page, 'POST', '/v1/messages', { conversation: ops, text: 'hello', idempotency_key: 'hello' });

const sorted = (numbers) => numbers.toSorted((a, b) => a - b);
const median = (numbers) => sorted(numbers)[Math.floor(numbers.length / 2)];
const p95 = (numbers) => sorted(numbers)[Math.ceil(numbers.length * 0.95) - 1];

// A first visit each: nothing is kept from one to the next. It is usable once one can write.
const interactive = [];
let firstPage = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
  const fresh = await context.newPage();
  await fresh.addInitScript(() => {
    const seen = () => {
      if (document.getElementById('composer') && document.querySelector('.message')) globalThis.usableAt = performance.now();
      else requestAnimationFrame(seen);
    };
    requestAnimationFrame(seen);
  });
  await fresh.goto(`${CHORUS_URL}/app/c/${ops}`);
  await fresh.waitForFunction(() => globalThis.usableAt !== undefined);
  interactive.push(await fresh.evaluate(() => globalThis.usableAt));
  const sizes = await fresh.evaluate(() => {
    const files = performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/app/'));
    const [shell] = performance.getEntriesByType('navigation');
    return files.reduce((sum, entry) => sum + entry.encodedBodySize, shell.encodedBodySize);
  });
  firstPage = Math.max(firstPage, sizes / 1000);
  await context.close();
}

// Acknowledged in one browser, visible in another: both clocks count from the same machine's.
const second = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
const reader = await second.newPage();
await reader.goto(`${CHORUS_URL}/app/c/${ops}`);
await reader.waitForSelector('.message');
await page.goto(`${CHORUS_URL}/app/agents`);
await page.waitForSelector('main');
await reader.evaluate(() => {
  globalThis.seenAt = {};
  new MutationObserver(() => {
    for (const element of document.querySelectorAll('.message .markdown')) {
      const text = element.textContent.trim();
      if (text.startsWith('probe ')) globalThis.seenAt[text] ??= performance.timeOrigin + performance.now();
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
});
const seen = [];
for (let n = 0; n < 100; n += 1) {
  const text = `probe ${n}`;
  const acknowledged = await page.evaluate(
    async ([conversation, text]) => {
      const headers = { 'X-Chorus-Page': '1', 'Content-Type': 'application/json' };
      const body = JSON.stringify({ conversation, text, idempotency_key: text });
      await (await fetch('/v1/messages', { method: 'POST', headers, body })).json();
      return performance.timeOrigin + performance.now();
    },
    [ops, text],
  );
  await reader.waitForFunction((text) => globalThis.seenAt[text] !== undefined, text);
  seen.push(Math.max(0, (await reader.evaluate((text) => globalThis.seenAt[text], text)) - acknowledged));
}

/** Frames a second while something goes on, and the longest frame. */
async function frames(where, during) {
  await where.evaluate(() => {
    globalThis.frames = [];
    globalThis.isCounting = true;
    let before = performance.now();
    const count = (now) => {
      globalThis.frames.push(now - before);
      before = now;
      if (globalThis.isCounting) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  await during();
  const all = await where.evaluate(() => ((globalThis.isCounting = false), globalThis.frames.slice(1)));
  const total = all.reduce((sum, frame) => sum + frame, 0);
  return { fps: (all.length * 1000) / total, p95: p95(all), longest: Math.max(...all) };
}

/** As the same person, from outside the browser. */
async function ask(method, path, body) {
  const cookie = storageState.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const headers = { cookie, 'X-Chorus-Page': '1', 'Content-Type': 'application/json' };
  const answer = await fetch(CHORUS_URL + path, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Posts lines, so many a second; as fast as it goes with 0. */
async function post(from, count, rate, more = () => ({})) {
  const begun = performance.now();
  let next = 0;
  const one = async () => {
    for (let n = next++; n < count; n = next++) {
      const due = begun + (rate ? (n * 1000) / rate : 0) - performance.now();
      if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
      const line = { conversation: ops, text: `line ${from + n} of a long history`, idempotency_key: `l${from + n}` };
      await ask('POST', '/v1/messages', { ...line, ...more(n) });
    }
  };
  await Promise.all([one(), one(), one(), one()]);
}

const arriving = await frames(reader, () => post(0, 500, 100));
const memory = () =>
  reader.evaluate(async () => {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return performance.memory.usedJSHeapSize / 1e6;
  });
await post(500, MESSAGES - 500, 0);
await reader.waitForTimeout(1_000);

// The whole history by scrolling up, as fast as a wheel turns.
await reader.reload();
await reader.waitForSelector('.message');
const before = await memory();
const scrolling = await frames(reader, () =>
  reader.evaluate(async () => {
    const scroller = document.querySelector('.scroller');
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const isThere = () => [...document.querySelectorAll('.message .markdown')].some((one) => one.textContent.trim() === 'hello');
    while (!(scroller.scrollTop === 0 && isThere())) {
      scroller.scrollBy(0, -600);
      await frame();
    }
  }),
);
const after = await memory();

// An hour of a lively room, ten messages a second, of which three are in threads. It comes as fast as
// the host takes it, to a page that shows the newest. After a third the window of the page is full.
const threads = [];
for (let n = 0; n < 10; n += 1) {
  const { event_id: root } = await ask('POST', '/v1/messages', { conversation: ops, text: `root ${n}`, idempotency_key: `root ${n}` });
  threads.push((await ask('POST', '/v1/threads', { conversation: ops, root, title: `thread ${n}` })).id);
}
await reader.reload();
await reader.waitForSelector('.message');
const session = await second.newCDPSession(reader);
const heap = async () => {
  await reader.waitForTimeout(1_000);
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize / 1e6;
};
const heaps = [];
for (let third = 0; third < 3; third += 1) {
  const inThread = (n) => (n % 10 < 3 ? { thread: threads[Math.floor(n / 10) % 10] } : {});
  await post(MESSAGES + Math.round((third * HOUR) / 3), Math.round(HOUR / 3), 0, inThread);
  heaps.push(await heap());
}
await browser.close();
process.stdout.write(
  JSON.stringify({
    first_page_kb: firstPage,
    interactive_ms: median(interactive),
    seen_p95_ms: p95(seen),
    arriving_fps: arriving.fps,
    arriving_frame_p95_ms: arriving.p95,
    scrolling_fps: scrolling.fps,
    scrolling_frame_p95_ms: scrolling.p95,
    history_mb: after - before,
    memory_mb: heaps[2],
    memory_hour_mb: Math.max(heaps[1], heaps[2]) - heaps[0],
    messages: MESSAGES,
  }),
);
