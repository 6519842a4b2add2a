// The web page in Debian's Chromium, as a person uses it. One case a run: LINK signs in, CASE names
// it, AGENT_TOKEN and CHORUS_URL let a case speak as an agent. What differs ends it with an error.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { LINK, CASE, CHORUS_URL, AGENT_TOKEN, CHROMIUM } = process.env;
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const WAIT = 30_000;

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
const foreign = [];
const problems = [];

async function visit(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT);
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['blob:', 'data:'].includes(url.protocol) && url.origin !== CHORUS_URL) foreign.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy|Trusted|svelte\.dev/i.test(message.text())) problems.push(message.text());
  });
  return page;
}

async function signIn(options) {
  const page = await visit(options);
  await page.goto(LINK);
  await page.click('button');
  await page.waitForURL('**/app/**');
  await page.waitForSelector('nav.rail');
  return page;
}

async function say(page, text) {
  await page.fill('#composer', text);
  await page.press('#composer', 'Enter');
}

/** The host's API, as the agent. */
async function asAgent(method, path, body) {
  const headers = { authorization: `Bearer ${AGENT_TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(CHORUS_URL + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: answer.status, body: await answer.json().catch(() => undefined) };
}

async function channelNamed(title) {
  const { body } = await asAgent('GET', '/v1/channels');
  return body.channels.find((channel) => channel.title === title).id;
}

const post = (conversation, text, key, more = {}) =>
  asAgent('POST', '/v1/messages', { conversation, text, idempotency_key: key, ...more });

/** In the page: what the host answers. */
const ask = async (path) => (await fetch(path, { headers: { 'X-Chorus-Page': '1' } })).json();

/** In the page: lines from one number to another. */
async function postMany([conversation, from, to]) {
  for (let n = from; n <= to; n += 1) {
    const body = JSON.stringify({ conversation, text: `line ${n}`, idempotency_key: `line-${n}` });
    const headers = { 'X-Chorus-Page': '1', 'Content-Type': 'application/json' };
    const answer = await fetch('/v1/messages', { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

const cases = {
  // A stranger with nothing but the link.
  async 'first-visit'() {
    const page = await signIn();
    const cookies = await page.context().cookies();
    const session = cookies.find((cookie) => cookie.name.endsWith('chorus_session'));
    assert.equal(session.httpOnly, true);
    assert.equal(session.sameSite, 'Strict');
    const shell = await page.request.get(`${CHORUS_URL}/app/`, { headers: { accept: 'text/html' } });
    const policy = shell.headers()['content-security-policy'];
    assert.match(policy, /script-src 'self'/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe/);
    await page.getByText('Three steps').waitFor();
    await page.getByRole('tab', { name: 'Codex' }).click();
    await page.getByText('chorus join --agent my_codex --runtime codex').waitFor();
    process.stdout.write('READY\n');
    // The test connects an agent now.
    await page.getByText('@scout is connected.').waitFor();
    await page.getByRole('button', { name: 'Open #general' }).click();
    await page.locator('#composer').waitFor();
  },

  // Asked, seen to be at work, answered; and why another stayed silent.
  async talk() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await page.fill('#composer', '@scout is the build green?');
    await page.locator('.before .chip.must', { hasText: 'scout' }).waitFor();
    await page.press('#composer', 'Enter');
    await page.locator('.working', { hasText: 'is answering' }).waitFor();
    await page.locator('.message', { hasText: 'it is red' }).waitFor();
    assert.equal(await page.locator('.message .markdown', { hasText: 'is the build green?' }).count(), 1);
    await page.locator('.message', { hasText: '@scout is the build green?' }).first().click();
    await page.keyboard.press('w');
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.getByText('mention').first().waitFor();
    await why.getByText('responded').waitFor();
    await why.getByText(/are not woken, and owe nothing/).waitFor();
    // A name that is nobody's is said before it is sent.
    await page.fill('#composer', '@scoutt hello');
    await page.locator('.before', { hasText: '@scoutt is nobody here' }).waitFor();
  },

  // An agent that is paused is told nothing; and the terminal of a program is seen live.
  async watch() {
    const page = await signIn();
    await page.goto(`${CHORUS_URL}/app/agents/runner`);
    const pane = page.getByRole('complementary', { name: 'runner' });
    await pane.getByRole('heading', { name: /Terminal/ }).waitFor();
    await page.keyboard.press('V');
    const terminal = pane.getByRole('region', { name: 'Terminal of @runner, read only' });
    await terminal.getByText('waits for a line').waitFor();
    const color = await terminal.getByText('in red').evaluate((span) => getComputedStyle(span).color);
    assert.equal(color, 'rgb(240, 139, 131)');
    // What the program prints later is there without a reload.
    process.stdout.write('PRINT\n');
    await terminal.getByText('printed later').waitFor();
    await page.keyboard.press('P');
    await pane.getByText(/Paused by .* ago/).waitFor();
    await page.getByRole('heading', { name: /^paused 1$/i }).waitFor();
    await page.goto(`${CHORUS_URL}/app/`);
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await page.fill('#composer', '@runner are you there?');
    await page.locator('.before .chip', { hasText: 'paused' }).waitFor();
    await page.press('#composer', 'Enter');
    await page.locator('.message', { hasText: '@runner are you there?' }).first().click();
    await page.keyboard.press('w');
    await page.getByText(/runner is paused: it is told once somebody lets it go on/).waitFor();
    await page.goto(`${CHORUS_URL}/app/agents/runner`);
    await pane.getByText(/Paused by .* ago/).waitFor();
    await page.keyboard.press('P');
    await page.getByRole('heading', { name: /^working 1$/i }).waitFor();
  },

  // One of two is left out, and put back: the preview, the message and why agree.
  async 'leave-out'() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    const ask = '@scout @runaway who knows?';
    await page.fill('#composer', ask);
    const chip = (name) => page.locator('.before .chip', { hasText: name });
    await chip('runaway').and(page.locator('.must')).waitFor();
    await page.getByRole('button', { name: 'Leave runaway out' }).click();
    await chip('runaway').and(page.locator('.out')).waitFor();
    await page.getByRole('button', { name: 'Tell runaway again' }).click();
    await chip('runaway').and(page.locator('.must')).waitFor();
    // By keyboard, in the order in which they stand there.
    const first = (await page.locator('.before .chip').first().textContent()).includes('scout') ? 'scout' : 'runaway';
    await page.press('#composer', first === 'runaway' ? 'Alt+1' : 'Alt+2');
    await chip('runaway').and(page.locator('.out')).waitFor();
    await chip('scout').and(page.locator('.must')).waitFor();
    await page.press('#composer', 'Enter');
    await page.locator('.message', { hasText: 'it is red' }).waitFor();
    assert.equal(await page.locator('.before .chip').count(), 0, 'the next message leaves nobody out');
    await page.locator('.message', { hasText: ask }).first().click();
    await page.keyboard.press('w');
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.locator('.told-one', { hasText: 'runaway' }).getByText('left out').waitFor();
    const { body } = await asAgent('GET', '/v1/deliveries?state=all');
    assert.deepEqual(body.deliveries, [], 'the agent was told nothing');
  },

  // An agent is hired from the composer; its result is contested, and an operator pays it back.
  async hire() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await say(page, '/hire @translator');
    const dialog = page.getByRole('dialog', { name: 'Hire an agent' });
    await dialog.getByRole('textbox', { name: 'text' }).fill('hello');
    await dialog.getByLabel('At the most').fill('0.50');
    await dialog.getByRole('button', { name: 'Hire' }).click();
    await dialog.getByText('Completed').waitFor();
    await dialog.getByText('hallo').waitFor();
    await dialog.getByText('0.05 paid of 0.50').waitFor();
    assert.match(await dialog.locator('details pre').textContent(), /^[\w-]+\.[\w-]+\.[\w-]+$/);
    await dialog.getByRole('button', { name: 'All jobs' }).click();
    const row = page.locator('tr', { hasText: 'translate_text' });
    page.once('dialog', (asked) => void asked.accept('Not what I meant.'));
    await row.getByRole('button', { name: 'Contest' }).click();
    await page.getByText('Contested. An operator decides.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    const item = page.locator('.item.dispute', { hasText: 'Not what I meant.' });
    await item.getByRole('button', { name: /Pay it back/ }).click();
    await page.getByText('Say why: both sides read it.').waitFor();
    await item.getByLabel('Why').fill('It is rude.');
    await item.getByRole('button', { name: /Pay it back/ }).click();
    await page.getByText('Nothing waits for you.').waitFor();
    const { body } = await asAgent('GET', '/agents/@translator/reputation');
    assert.deepEqual(body.changes.map((change) => change.why), ['success', 'reversal']);
    await page.goto(`${CHORUS_URL}/app/work/figures`);
    await page.getByText(/Reputation of .*45\.5/).waitFor();
    assert.equal(await page.locator('.plot svg').count(), 1);
  },

  // What an agent may only do once a person has agreed.
  async approve() {
    const page = await signIn();
    const ops = await channelNamed('ops');
    const asked = await post(ops, 'I would deploy now', 'deploy-1');
    assert.equal(asked.body.error.code, 'APPROVAL_REQUIRED');
    await page.locator('nav.rail a', { hasText: 'Inbox' }).locator('.count').waitFor();
    assert.match(await page.title(), /^\(1\)/);
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByText('I would deploy now').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Nothing waits for you.').waitFor();
    assert.equal(await page.title(), 'Chorus');
    assert.equal((await post(ops, 'I would deploy now', 'deploy-1')).status, 201);
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await page.locator('.message', { hasText: 'I would deploy now' }).waitFor();
    // A key that is held down decides once.
    for (const n of [1, 2]) await post(ops, `Step ${n}`, `step-${n}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByText('Step 2').waitFor();
    await page.keyboard.press('j');
    for (let n = 0; n < 3; n += 1) await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.getByText('Step 2').waitFor({ state: 'detached' });
    await page.getByText('Step 1').waitFor();
    await page.keyboard.press('a');
    await page.getByText('Step 1').waitFor({ state: 'detached' });
    const second = await post(ops, 'And drop the tables', 'drop-1');
    assert.equal(second.body.error.code, 'APPROVAL_REQUIRED');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByText('And drop the tables').waitFor();
    await page.keyboard.press('d');
    await page.getByText('Nothing waits for you.').waitFor();
    const denied = await post(ops, 'And drop the tables', 'drop-1');
    assert.equal(denied.body.error.code, 'FORBIDDEN');
  },

  // One that runs away is stopped, and says nothing more.
  async stop() {
    const page = await signIn();
    const ops = await channelNamed('ops');
    assert.equal((await post(ops, 'more, and more', 'run-1')).status, 201);
    page.on('dialog', (dialog) => dialog.accept());
    // A turn that does not end is ended, without anything else.
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await say(page, '@runaway are you there?');
    await page.locator('.working', { hasText: 'runaway is answering' }).waitFor();
    await page.goto(`${CHORUS_URL}/app/agents/runaway`);
    await page.getByRole('button', { name: /End its work/ }).waitFor();
    await page.keyboard.press('B');
    await page.getByText(/Ended: 1/).waitFor();
    await page.getByText('Nothing waits for it.').waitFor();
    await page.getByRole('link', { name: /^Agents/ }).click();
    await page.getByRole('link', { name: /runaway/ }).click();
    await page.getByRole('button', { name: /^Stop/ }).click();
    await page.getByText('@runaway is stopped.').waitFor();
    await page.getByRole('heading', { name: /^paused 1$/i }).waitFor();
    assert.equal((await post(ops, 'and more', 'run-2')).status, 401);
  },

  // What has the focus is pressed by Enter, dialogs close by Escape, and give the focus back.
  async keyboard() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    const dialog = (name) => page.getByRole('dialog', { name });
    for (const name of ['New channel', 'New direct message']) {
      const button = page.getByRole('button', { name, exact: true });
      await button.focus();
      await page.keyboard.press('Enter');
      await dialog(name).waitFor();
      await page.keyboard.press('Escape');
      await dialog(name).waitFor({ state: 'detached' });
      assert.equal(await button.evaluate((one) => one === document.activeElement), true, name);
    }
    for (const [key, name] of [['/', 'Search'], ['?', 'Keys'], ['m', 'Members'], ['H', 'Hire an agent'], ['Control+k', 'Commands']]) {
      await page.keyboard.press(key);
      await dialog(name).waitFor();
      await page.keyboard.press('Escape');
      await dialog(name).waitFor({ state: 'detached' });
    }
    await page.getByRole('link', { name: /^Agents/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/agents/);
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.locator('.channels a', { hasText: 'ops' }).click();
    // The message that the keys mean has the focus.
    await say(page, 'one');
    await page.locator('.message:not(.pending)', { hasText: 'one' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    await page.waitForFunction(() => document.activeElement?.classList.contains('message'));
    // The newest is the first, also where another was selected elsewhere.
    await say(page, 'two');
    await page.locator('.message:not(.pending)', { hasText: 'two' }).waitFor();
    const focused = (text) => page.waitForFunction((text) => document.activeElement?.matches('.message') && document.activeElement.innerText.includes(text), text);
    await page.reload();
    await page.locator('.message', { hasText: 'two' }).waitFor();
    await page.keyboard.press('k');
    await focused('two');
    await page.keyboard.press('k');
    await focused('one');
    // No line above what one has said oneself.
    assert.equal(await page.locator('.rule.new').count(), 0);
  },

  // Attached, seen under their names, and saved under them.
  async files() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    const text = (name, body) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(body) });
    await page.locator('.uploads input[type=file]').setInputFiles([text('bär (1).txt', 'a'), text('empty.txt', ''), text('plan.html', '<b>x</b>'), text(`${'long_'.repeat(40)}.txt`, 'b')]);
    await page.locator('.uploads .chip.problem', { hasText: 'empty.txt' }).waitFor();
    await page.fill('#composer', 'three files');
    // A long name makes nothing wider than a phone.
    const widest = (what) => page.locator(what).evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().right)));
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await widest('.uploads .chip')) <= 390);
    // What could not be uploaded is not left out silently.
    assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), true);
    await page.getByRole('button', { name: 'Leave out empty.txt' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const said = page.locator('.message:not(.pending)', { hasText: 'three files' });
    await said.locator('.file').nth(2).waitFor();
    assert.ok((await widest('.message .file')) <= 390);
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const name of ['bär (1).txt', 'plan.html']) {
      const saved = page.waitForEvent('download');
      await said.getByRole('button', { name: new RegExp(name.replaceAll(/[().]/g, '\\$&')) }).click();
      assert.equal((await saved).suggestedFilename(), name);
    }
  },

  // Sent while the host is away: kept, and there once.
  async offline() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await say(page, 'before');
    await page.locator('.message:not(.pending)', { hasText: 'before' }).waitFor();
    process.stdout.write('KILL\n');
    await page.getByText('Not connected.').waitFor();
    await say(page, 'meanwhile');
    await page.locator('.message.pending', { hasText: 'meanwhile' }).waitFor();
    process.stdout.write('START\n');
    await page.locator('.message:not(.pending)', { hasText: 'meanwhile' }).waitFor();
    await page.getByText('Not connected.').waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('.message', { hasText: 'meanwhile' }).waitFor();
    assert.equal(await page.locator('.message', { hasText: 'meanwhile' }).count(), 1);
    assert.equal(await page.locator('.message.pending').count(), 0);
  },

  // What an agent writes is text, whatever it looks like.
  async hostile() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    const ops = await channelNamed('ops');
    const texts = [
      '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">',
      '[click](javascript:alert(1)) ![x](https://elsewhere.example/pixel.png) <b>bold</b>',
      `line ${'A'.repeat(90_000)}`,
      Array.from({ length: 5_000 }, (_, n) => `@m${n}`).join(' '),
      '\u202Egnp.exe\u202C and \u200Bzero\u200B',
      `${'> '.repeat(300)}deep`,
      '```\n</code></pre><script>1</script>\n```',
    ];
    for (const [number, text] of texts.entries()) {
      const posted = await post(ops, text, `hostile-${number}`);
      assert.equal(posted.status, 201, JSON.stringify(posted.body));
    }
    await post(ops, 'the end of it', 'hostile-end');
    await page.locator('.message', { hasText: 'the end of it' }).waitFor();
    assert.equal(await page.title(), 'Chorus');
    assert.equal(await page.locator('.message script, .message iframe, .message img[onerror]').count(), 0);
    assert.equal(await page.locator('.message a[href^="javascript"]').count(), 0);
    for (const link of await page.locator('.message a[target=_blank]').all()) {
      assert.match(await link.getAttribute('rel'), /noopener/);
    }
    const begun = Date.now();
    await say(page, 'still quick');
    await page.locator('.message:not(.pending)', { hasText: 'still quick' }).waitFor();
    assert.ok(Date.now() - begun < 5_000);
  },

  // Two browsers: what one says the other shows; unread counts; edits, signals, deletions.
  async together() {
    const page = await signIn();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    const ops = await channelNamed('ops');
    const posted = await post(ops, 'first version', 'together-1');
    const row = page.locator(`[data-event="${posted.body.event_id}"]`);
    await row.getByText('first version').waitFor();
    await asAgent('PATCH', `/v1/messages/${posted.body.message_id}`, { text: 'second version' });
    await row.getByText('second version').waitFor();
    await row.getByText('edited').waitFor();
    await row.hover();
    await row.getByRole('button', { name: 'Signal' }).click();
    await row.getByRole('button', { name: /agree/ }).click();
    await row.locator('.reactions button[aria-pressed=true]', { hasText: 'agree' }).waitFor();
    await asAgent('DELETE', `/v1/messages/${posted.body.message_id}`);
    await row.getByText('Deleted.').waitFor();
    await say(page, 'mine, with a *typo*');
    const mine = page.locator('.message:not(.pending)', { hasText: 'mine, with a typo' });
    await mine.waitFor();
    await page.press('#composer', 'ArrowUp');
    // The text that is edited has the focus, and afterwards its message has.
    await page.waitForFunction(() => document.activeElement?.matches('.message textarea'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('mine, without, @runaway?');
    await page.keyboard.press('Enter');
    const changed = page.locator('.message', { hasText: 'mine, without' });
    await changed.waitFor();
    await page.waitForFunction(() => document.activeElement?.matches('.message.selected'));
    // An edit is decided on anew: that is what is shown, and what there are reasons for.
    await changed.locator('.told', { hasText: 'runaway' }).waitFor();
    await page.reload();
    await changed.locator('.told', { hasText: 'runaway' }).click();
    const why = page.getByRole('complementary', { name: 'Why' });
    await why.locator('.told-one', { hasText: 'runaway' }).getByText('mention').waitFor();
    await why.getByText(/As it was first said, .*it woke nobody/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('textbox', { name: /Words/ }).fill('without');
    await page.locator('.choices .hit', { hasText: 'without' }).waitFor();
    await page.keyboard.press('Escape');
  },

  // A long history: it loads as one scrolls, and what is read does not move.
  async history() {
    const page = await signIn();
    const ops = await channelNamed('ops');
    await page.evaluate(postMany, [ops, 1, 600]);
    await page.reload();
    await page.locator('.channels a', { hasText: 'ops' }).click();
    await page.locator('.message', { hasText: 'line 600' }).waitFor();
    const scroller = page.locator('.scroller');
    for (let tries = 0; tries < 200; tries += 1) {
      if (await page.getByText('line 1', { exact: true }).count()) break;
      await scroller.evaluate((element) => element.scrollBy(0, -900));
      await page.waitForTimeout(25);
    }
    assert.equal(await page.getByText('line 1', { exact: true }).count(), 1);
    await page.keyboard.press('G');
    await page.locator('.message', { hasText: 'line 600' }).waitFor();
    // A link shows its message; whoever reads on from there is not taken back.
    const linked = await page.locator('.message', { hasText: 'line 600' }).getAttribute('data-event');
    await page.goto(`${CHORUS_URL}/app/inbox`);
    await page.goto(`${CHORUS_URL}/app/c/${ops}#${linked}`);
    await page.locator(`.message.selected[data-event="${linked}"]`).waitFor();
    for (let n = 0; n < 12; n += 1) {
      await scroller.evaluate((element) => element.scrollBy(0, -900));
      await page.waitForTimeout(100);
    }
    assert.equal(await page.locator(`[data-event="${linked}"]`).count(), 0);
    // Far back: what lies between is not read, what comes meanwhile is not mixed in, and one comes back.
    await page.evaluate(postMany, [ops, 601, 3_200]);
    const { body } = await asAgent('GET', `/v1/messages?conversation=${ops}&after_seq=0&limit=200`);
    const old = body.messages.find((message) => message.text === 'line 20').event_id;
    await page.goto(`${CHORUS_URL}/app/inbox`);
    let reads = 0;
    page.on('request', (request) => (reads += request.url().includes('/v1/events?') ? 1 : 0));
    await page.goto(`${CHORUS_URL}/app/c/${ops}#${old}`);
    await page.locator(`.message.selected[data-event="${old}"]`).waitFor();
    assert.ok(reads <= 4, `${reads} pages were read`);
    await post(ops, 'said meanwhile', 'meanwhile');
    await page.waitForTimeout(300);
    assert.equal(await page.locator('.message', { hasText: 'said meanwhile' }).count(), 0);
    await page.getByRole('button', { name: /Newest messages/ }).click();
    await page.locator('.message', { hasText: 'said meanwhile' }).waitFor();
    // And by the way in between, with what is far let go of.
    const shown = () => page.locator('.scroller').evaluate((element) => element.scrollHeight);
    for (let tries = 0; tries < 600 && !(await page.getByText('line 20', { exact: true }).count()); tries += 1) {
      await scroller.evaluate((element) => element.scrollBy(0, -3_000));
      await page.waitForTimeout(20);
    }
    assert.equal(await page.getByText('line 20', { exact: true }).count(), 1);
    const most = await shown();
    await say(page, 'written far back');
    await page.locator('.message', { hasText: 'written far back' }).waitFor();
    assert.ok(most < 3_000 * 40, `${most} pixels are kept`);
  },

  // What the demo has played, step by step: what was said, who was told, and what came of it.
  async demo() {
    const page = await signIn();
    const pane = page.locator('section.pane');
    const open = async (title) => {
      await page.locator('.channels a', { hasText: title }).first().click();
      await pane.getByRole('heading', { name: title }).waitFor();
    };
    const message = (text) => pane.locator('.message', { has: page.locator('.markdown', { hasText: text }) });
    const why = page.getByRole('complementary', { name: 'Why' });
    /** Scrolls from the top until a message is drawn: only what is looked at is. */
    const find = async (text) => {
      const scroller = pane.locator('.scroller');
      await scroller.evaluate((element) => element.scrollTo(0, 0));
      for (let tries = 0; tries < 60; tries += 1) {
        await page.waitForTimeout(40);
        if (await message(text).count()) return message(text).first();
        await scroller.evaluate((element) => element.scrollBy(0, 300));
      }
      throw new Error(`${text} is not in the page`);
    };
    /** Who was told of a message, with what each owed and what came of it, as its reasons say. */
    const reasons = async (text) => {
      // While rows are measured the list moves, also between a press and its release.
      for (let tries = 0; tries < 10; tries += 1) {
        await (await find(text)).click();
        if (await message(text).and(page.locator('.selected')).count()) break;
      }
      await page.keyboard.press('w');
      await why.getByText('Who was told').waitFor();
      const told = await why.locator('.told-one').allInnerTexts();
      await page.keyboard.press('Escape');
      return told;
    };
    /** How many messages of a conversation say it. */
    const count = async (title, text) => {
      const { channels } = await page.evaluate(ask, '/v1/channels');
      const { id } = channels.find((channel) => channel.title === title);
      const { messages } = await page.evaluate(ask, `/v1/messages?conversation=${id}&after_seq=0&limit=200`);
      return messages.filter((message) => message.text?.includes(text)).length;
    };
    await open('ops');
    // 1: by @handle, one alone.
    let told = await reasons('@scout what is the deploy status?');
    assert.equal(told.length, 1);
    assert.match(told[0], /scout must respond[^]*mention[^]*responded/);
    assert.equal(await count('ops', 'Deploy 42 is live'), 1);
    // 2: three fragments, one answer.
    told = await reasons('and update the docs?');
    assert.match(told[0], /builder must respond[^]*continuation[^]*responded/);
    assert.match((await reasons('@builder could you please'))[0], /superseded/);
    assert.equal(await count('ops', 'Done: could you please rename the flag to dry_run, and update the docs?'), 1);
    // 3: thanks are met with a signal.
    assert.match((await reasons('Thanks, perfect!'))[0], /ack only[^]*acknowledged/);
    await (await find('Thanks, perfect!')).locator('.reactions', { hasText: '👍' }).waitFor();
    // 5: one of a role, and the other is said not to be.
    told = await reasons('@reviewers could one of you review the parser change?');
    assert.equal(told.length, 2);
    assert.match(told.join('\n'), /builder may respond[^]*critic must not respond/);
    // 6: the edit is what was answered.
    await (await find('@critic please review module B.')).locator('.edited').waitFor();
    assert.equal(await count('ops', 'Reviewed module A'), 0);
    assert.equal(await count('ops', 'Reviewed module B'), 1);
    // 7: killed in the middle of a turn, and answered once.
    assert.match((await reasons('@scout please run the long check.'))[0], /scout must respond[^]*responded/);
    assert.equal(await count('ops', 'The long check is done: 128 of 128 passed.'), 1);
    // 4: ambient talk wakes nobody.
    await open('random');
    assert.deepEqual(await reasons('The soup place round the corner is open again.'), []);
    // 8: a chain of agents ends, and a person is told.
    await open('corner');
    assert.equal(await count('corner', 'what comes after'), 12);
    await page.keyboard.press('G');
    await message('what comes after').last().locator('.told', { hasText: /operator/i }).waitFor();
    // 9: three speak one after the other in a thread, and the last nods.
    await open('design');
    told = await reasons('@scout @builder @critic is the deploy as it should be?');
    assert.equal(told.length, 3);
    await (await find('@scout @builder @critic is the deploy as it should be?')).locator('.thread-link').click();
    const thread = page.locator('aside', { hasText: 'Nothing of mine waits for it.' });
    await thread.locator('.message', { hasText: 'Deploy 42 is live' }).locator('.reactions', { hasText: '👍' }).waitFor();
    await page.keyboard.press('Escape');
    // 10: one thread of a schedule, whose progress replaces itself.
    await page.goto(`${CHORUS_URL}/app/work/threads`);
    const progress = page.locator('tr', { hasText: '128 of 128 passed' });
    await progress.waitFor();
    assert.equal(await page.locator('tr', { hasText: '96 of 128 passed' }).count(), 0);
    // 11: killed and back: both have answered once, in their order.
    await page.goto(`${CHORUS_URL}/app/`);
    await open('design');
    told = await reasons('@builder, what do you think of the plan?');
    assert.equal(told.length, 2);
    for (const one of told) assert.match(one, /must respond[^]*responded/);
  },

  // WCAG 2.2 AA, by axe: every screen in both themes and at phone width.
  async accessible() {
    const found = [];
    // The policy of the page forbids scripts of others, and axe is one.
    for (const colorScheme of ['light', 'dark']) {
      for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
        const page = await signInAgain({ colorScheme, viewport, bypassCSP: true });
        for (const path of ['/app/', `/app/c/${await channelNamed('ops')}`, '/app/agents', '/app/agents/runaway', '/app/inbox', '/app/work', '/app/work/registry', '/app/work/figures']) {
          await page.goto(CHORUS_URL + path);
          await page.waitForSelector('main');
          await page.waitForTimeout(400);
          await page.addScriptTag({ path: axe });
          const { violations } = await page.evaluate(() =>
            globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }),
          );
          for (const violation of violations) {
            found.push(`${path} ${colorScheme} ${viewport.width}: ${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
          }
        }
        await page.context().close();
      }
    }
    assert.deepEqual(found, []);
  },
};

let state;
/** A browser of the same person, with other settings. */
async function signInAgain(options) {
  if (state === undefined) {
    const page = await signIn();
    state = await page.context().storageState();
    await page.context().close();
  }
  return visit({ ...options, storageState: state });
}

try {
  await cases[CASE]();
  assert.deepEqual(foreign, [], 'a request left the host');
  assert.deepEqual(problems, [], 'the page has errors');
  process.stdout.write('DONE\n');
} finally {
  await browser.close();
}
