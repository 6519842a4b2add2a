// A person with a browser: opens LINK, types NAME where a name is asked for, presses the button, and then goes to the
// front page, which leads back. Prints what the two say.
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.goto(process.env.LINK);
const name = page.locator("input[name=display_name]");
if (await name.count()) await name.fill(process.env.NAME);
await page.locator("button").click();
await page.waitForSelector("nav.rail");
const answer = await page.locator("body").innerText();
await page.goto(new URL("/", process.env.LINK).href);
await page.waitForSelector("nav.rail");
console.log(JSON.stringify({ answer, front: await page.locator("body").innerText() }));
await browser.close();
