import assert from "node:assert/strict"
import { describe } from "node:test"
import type { Page } from "playwright"
import { check, ready, send } from "./harness.ts"

const HOSTILE = [
  "<img src=x onerror=\"window.ran = 1\"><script>window.ran = 2</script><svg onload='window.ran = 3'>",
  "[link](javascript:window.ran=4) [data](data:text/html,<script>window.ran=5</script>) [file](./other.html)",
  "![picture](https://tracker.example/pixel.png) <https://example.com/a>",
  '<a href="/x" onclick="window.ran = 6">x</a> <form action=/x><input></form>',
].join("\n\n")

void describe("Markdown", { concurrency: 2 }, () => {
  check("nothing in a message runs, loads or leads to a file of this server; pictures become links", async (open) => {
    const page = await open()
    await say(page, HOSTILE)
    const body = page.locator(".line.user .body").first()
    assert.equal(await page.evaluate(() => (globalThis as { ran?: unknown }).ran), undefined)
    assert.equal(await body.locator("img, script, svg, form, input, iframe, style").count(), 0)
    const links = await body
      .locator("a")
      .evaluateAll((all) =>
        all.map((link) => [link.textContent, link.getAttribute("href"), link.getAttribute("rel")].join(" ")),
      )
    const rel = "noopener noreferrer nofollow"
    assert.deepEqual(links, [
      `image: picture https://tracker.example/pixel.png ${rel}`,
      `https://example.com/a https://example.com/a ${rel}`,
    ])
    const attributes = await body.evaluate((element) =>
      Array.from(element.querySelectorAll("*"), (one) => one.getAttributeNames()).flat(),
    )
    assert.deepEqual(
      attributes.filter((name) => name.startsWith("on")),
      [],
    )
  })

  check("questions and answers have lists, tables, quotes, code and headings below those of the page", async (open) => {
    const page = await open()
    await say(
      page,
      "# A\n\n1. one\n2. two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet x = 1 < 2\n```\nfirst\nsecond",
    )
    const title = "A 1. one 2. two quoted a b 1 2"
    for (const place of ["h1", ".sessions .title", ".tree .text"])
      assert.equal((await page.locator(place).first().textContent())?.slice(0, title.length), title, place)
    const body = page.locator(".line.user .body").first()
    assert.equal(await body.locator("h4").innerText(), "A")
    assert.deepEqual(await body.locator("ol li").allInnerTexts(), ["one", "two"])
    assert.equal(await body.locator("blockquote").innerText(), "quoted")
    assert.deepEqual(await body.locator("td").allInnerTexts(), ["1", "2"])
    assert.equal(await body.locator("pre").textContent(), "let x = 1 < 2")
    assert.equal(await body.locator("p", { hasText: "first" }).innerText(), "first\nsecond")
  })
})

/** Sends a text of several lines, and waits for the end of its turn. */
async function say(page: Page, text: string): Promise<void> {
  await send(page, text)
  await page.locator(".line.assistant:not(.live):not(:has(.call))").first().waitFor()
  await ready(page)
}
