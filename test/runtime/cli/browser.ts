// A Chromium that this machine has, driven over its debugging protocol: no dependency of its own, and none
// needed to be there.

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { WebSocket } from 'ws';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const PLACES = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/usr/lib/chromium/chromium'];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Browsers that Playwright has fetched, the newest first. */
function fetched(): string[] {
  const caches = [
    process.env['PLAYWRIGHT_BROWSERS_PATH'] ?? '',
    join(homedir(), '.cache/ms-playwright'),
    join(homedir(), 'Library/Caches/ms-playwright'),
    '/ms-playwright',
  ];
  const inside = ['chrome-linux/chrome', 'chrome-mac/Chromium.app/Contents/MacOS/Chromium'];
  return caches.flatMap((cache) => {
    try {
      const versions = readdirSync(cache).filter((name) => /^chromium-\d+$/.test(name));
      return versions
        .sort()
        .reverse()
        .flatMap((version) => inside.map((path) => join(cache, version, path)));
    } catch {
      return []; // no such cache
    }
  });
}

/** The path of a browser, or null. CHROME_PATH names one. */
export function findBrowser(): string | null {
  const { CHROME_PATH, PATH } = process.env;
  if (CHROME_PATH) return isProgram(CHROME_PATH) ? CHROME_PATH : null;
  const folders = (PATH ?? '').split(delimiter);
  const found = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...PLACES];
  return [...found, ...fetched()].find(isProgram) ?? null;
}

// biome-ignore lint/suspicious/noExplicitAny: what the protocol answers depends on what it was asked
type Answer = any;

export interface Tab {
  /** What it said on its console, and what was thrown in it. */
  readonly complaints: string[];
  readonly ask: (method: string, params?: object) => Promise<Answer>;
  /** The value of an expression in the page. */
  readonly value: (expression: string) => Promise<Answer>;
  /** Opens a file and waits until it is loaded. */
  readonly open: (path: string) => Promise<void>;
  readonly click: (x: number, y: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The address that a starting browser says it listens at. */
function addressOf(browser: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    browser.once('exit', () => reject(new Error(`the browser ended: ${said}`)));
    browser.stderr?.on('data', (chunk) => {
      said += chunk;
      const address = /listening on (ws:\S+)/.exec(said)?.[1];
      if (address) resolve(address);
    });
  });
}

export async function openTab(program: string, size: { width: number; height: number }): Promise<Tab> {
  const profile = mkdtempSync(join(tmpdir(), 'rehearsal-browser-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-extensions'];
  const args = [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'];
  const browser = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const socket = new WebSocket(await addressOf(browser));
  await new Promise((resolve) => socket.once('open', resolve));
  const waiting = new Map<number, (answer: Answer) => void>();
  const complaints: string[] = [];
  let asked = 0;
  let session: string | undefined;
  let loaded = (): void => undefined;
  socket.on('message', (data) => {
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (id !== undefined) waiting.get(id)?.(error ? { error } : result);
    else if (method === 'Page.loadEventFired') loaded();
    else if (/^(Runtime\.(exceptionThrown|consoleAPICalled)|Log\.entryAdded)$/.test(method))
      complaints.push(JSON.stringify(params));
  });
  const ask: Tab['ask'] = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(++asked, resolve);
      socket.send(JSON.stringify({ id: asked, method, params, ...(session && { sessionId: session }) }));
    });
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
  session = (await ask('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  for (const domain of ['Page', 'Runtime', 'Log']) await ask(`${domain}.enable`);
  await ask('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
  return {
    complaints,
    ask,
    async value(expression) {
      const answer = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      return answer.result?.value;
    },
    async open(path) {
      const done = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await ask('Page.navigate', { url: `file://${path}` });
      await done;
    },
    async click(x, y) {
      for (const type of ['mousePressed', 'mouseReleased'])
        await ask('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    },
    async close() {
      const ended = new Promise((resolve) => browser.once('exit', resolve));
      socket.close();
      browser.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
